//! Finds declarations in `fields!` that the SDL or the entities do not support, and those that would change nothing.

use super::super::declarations::{Declaration, How, Word};
use super::super::diagnostics::Problem;
use super::super::model::{Field, Object, TypeShape};
use super::super::parts::{self, Part};
use super::super::relations;
use super::{Context, Representation, derived};
use spelling::nearest;

/// Why a declaration is not valid: the place, and what to do.
type Mistake = (DeclarationPart, String, String);

/// A place in a declaration.
enum DeclarationPart {
    Object,
    Field,
    /// What precedes the colon.
    How,
}

/// All mistakes, with their places in the file of the bindings.
pub(super) fn check(context: Context<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for declaration in context.bindings.declarations() {
        if let Err((place, message, help)) = mistake(context, declaration) {
            let place = match place {
                DeclarationPart::Object => &declaration.object.place,
                DeclarationPart::Field => &declaration.field.place,
                DeclarationPart::How => &declaration.place,
            };
            problems.push(Problem::new(Some(place.clone()), message, Some(help)));
        }
    }
    problems
}

fn mistake(context: Context<'_>, declaration: &Declaration) -> Result<(), Mistake> {
    let Some(object) = context.schema.object(&declaration.object.text) else {
        let help = meant(&declaration.object, context.schema.objects().map(|object| &*object.name));
        return Err((
            DeclarationPart::Object,
            format!("the SDL has no object type `{}`", declaration.object.text),
            help,
        ));
    };
    let Some(field) = object.field(&declaration.field.text) else {
        let help = meant(&declaration.field, object.fields.iter().map(|field| &*field.name));
        return Err((
            DeclarationPart::Field,
            format!("`{}` has no field `{}`", object.name, declaration.field.text),
            help,
        ));
    };
    match &declaration.how {
        How::Part(part) => check_part(context, object, field, part),
        How::Computed => check_computed(context, object, field),
        How::Key(_) | How::Through(_) => match relations::of_field(context.schema, context.bindings, object, field) {
            Ok(_) => Ok(()),
            Err(wrong) => Err((
                if wrong.is_of_types { DeclarationPart::Field } else { DeclarationPart::How },
                wrong.message,
                wrong.help,
            )),
        },
    }
}

fn meant<'a>(word: &Word, all: impl Iterator<Item = &'a str>) -> String {
    nearest(&word.text, all).map_or("remove it".to_owned(), |near| format!("did you mean `{near}`?"))
}

fn check_part(context: Context<'_>, object: &Object, field: &Field, part: &str) -> Result<(), Mistake> {
    let name = &object.name;
    let Some(row) = context.row(object) else {
        let help = "remove it; a method of any other type gets the object".to_owned();
        return Err((DeclarationPart::Object, format!("`{name}` is not bound to the row of a table"), help));
    };
    match Part::named(row, part) {
        Some(Part::Row) if derived::follows(context, object, field) => Ok(()),
        Some(Part::Row) => {
            let message = format!("`{name}.{}` does not follow from a column", field.name);
            Err((
                DeclarationPart::Field,
                message,
                "remove it; its method is written anyway, and gets the row".to_owned(),
            ))
        }
        Some(_) if parts::row(context.bindings, name).is_some() => Ok(()),
        None if parts::row(context.bindings, name).is_some() => {
            let groups: Vec<&str> = row.groups().iter().map(|group| &*group.name).collect();
            let help = format!("its parts are core, {} and row", groups.join(", "));
            Err((DeclarationPart::How, format!("the row of `{name}` has no part `{part}`"), help))
        }
        _ => {
            let help = "remove it, or add GROUPS to its entity".to_owned();
            Err((DeclarationPart::How, format!("no list leaves columns of `{name}` out"), help))
        }
    }
}

/// Reports a field that is resolved for all parents at once whether or not it is declared.
fn check_computed(context: Context<'_>, object: &Object, field: &Field) -> Result<(), Mistake> {
    let why = if context.representation(object) == Representation::Root {
        "a root field has no parents"
    } else if !field.args.is_empty() {
        "it has arguments"
    } else if !context.schema.is_leaf(field.ty.name()) {
        "it is no scalar"
    } else if matches!(field.ty.shape, TypeShape::List(_)) {
        "it is a list"
    } else {
        return Ok(());
    };
    let message = format!("`{}.{}` is not read from the row anyway: {why}", object.name, field.name);
    Err((DeclarationPart::Field, message, "remove it".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::super::bindings::Bindings;
    use super::super::super::check::check as check_text;
    use super::super::super::rows::Row;

    const SDL: &str = "
        type Query { author: Author }
        type Author {
          id: ID!
          name: String!
          lines: Int
          all(first: Int, after: String): PoemConnection!
          of(year: Int): PoemConnection!
          best: Poem
          words: [String!]!
          rating: Float
        }
        type Poem { id: ID! motto: String author: Author }
        type PoemConnection { nodes: [Poem!]! edges: [PoemEdge!]! pageInfo: PageInfo! totalCount: Int! }
        type PoemEdge { node: Poem! cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Reader { name: String! all(first: Int, after: String): PoemConnection! }";

    /// The report for `fields!` of this content.
    fn said(fields: &str) -> String {
        let types = format!(
            "pub use super::id::Id as ID; pub use crate::entity::author::Model as Author; pub struct Reader;
            pub use crate::entity::poem::Model as Poem;\nfields! {{\n{fields}\n}}"
        );
        let mut bindings = Bindings::read("types.rs", &types).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let row = |table: &str, columns: &str, more: &str| {
            let source = format!("#[sea_orm(table_name = \"{table}\")] pub struct Model {{ {columns} }} {more}");
            Row::read(&format!("src/catalogue/entity/{table}.rs"), &source).expect("Rust")
        };
        let groups = "impl Table for Entity { const GROUPS: X = column_groups! { texts: Motto; }; }";
        bindings.add_row("Author", row("author", "pub id: i64, pub name: String, pub lines: Option<i64>", ""));
        let poem = "pub id: i64, pub author_id: i64, pub title: String, pub motto: Option<String>";
        bindings.add_row("Poem", row("poem", poem, groups));
        bindings.add_table(row("fondness", "pub id: i64, pub author_id: i64, pub poem_id: i64", ""));
        bindings.add_table(row("quarrel", "pub id: i64, pub author_id: i64", ""));
        check_text("s.graphql", SDL, &bindings).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
    }

    #[test]
    fn what_the_sdl_and_the_entities_support_is_accepted() {
        for fields in [
            "",
            "Author { key author_id: all; }",
            "Author { through fondness: all; computed: rating, name; }",
            "Poem { core: id; }",
            "Poem { texts: motto, id; row: author; computed: motto; }",
            "Author { row: name, id; }",
        ] {
            assert_eq!(said(fields), "", "{fields}");
        }
    }

    #[test]
    fn a_mistake_is_reported_at_its_line_with_what_there_is() {
        let written =
            "it must page through rows of a table (`first: Int, after: String`); remove this, and write the method";
        for (fields, place, message, help) in [
            ("Authr { row: id; }", "Authr", "the SDL has no object type `Authr`", "did you mean `Author`?"),
            ("Author { computed: ratng; }", "ratng", "`Author` has no field `ratng`", "did you mean `rating`?"),
            (
                "Author { key title: all; }",
                "key title",
                "the table `poem` has no column `title` of type i64 in src/catalogue/entity/poem.rs",
                "its columns of that type are `author_id`, `id`",
            ),
            (
                "Author { through fondnes: all; }",
                "through fondnes",
                "no entity has the table `fondnes`",
                "did you mean `fondness`?",
            ),
            (
                "Author { through quarrel: all; }",
                "through quarrel",
                "the table `quarrel` has no column `poem_id` of type i64 in src/catalogue/entity/quarrel.rs",
                "its columns of that type are `author_id`, `id`",
            ),
            ("Author { key id: of; }", "of", "`Author.of` of the type `PoemConnection!` is no list of rows", written),
            ("Author { key id: best; }", "best", "`Author.best` of the type `Poem` is no list of rows", written),
            ("Reader { key id: all; }", "all", "`Reader` is not bound to the row of a table", written),
            (
                "Author { computed: all; }",
                "all",
                "`Author.all` is not read from the row anyway: it has arguments",
                "remove it",
            ),
            (
                "Author { computed: best; }",
                "best",
                "`Author.best` is not read from the row anyway: it is no scalar",
                "remove it",
            ),
            (
                "Author { computed: words; }",
                "words",
                "`Author.words` is not read from the row anyway: it is a list",
                "remove it",
            ),
            (
                "Query { computed: author; }",
                "author",
                "`Query.author` is not read from the row anyway: a root field has no parents",
                "remove it",
            ),
            (
                "Poem { keys: motto; }",
                "keys",
                "the row of `Poem` has no part `keys`",
                "its parts are core, texts and row",
            ),
            (
                "Author { core: id; }",
                "core",
                "no list leaves columns of `Author` out",
                "remove it, or add GROUPS to its entity",
            ),
            (
                "Author { row: rating; }",
                "rating",
                "`Author.rating` does not follow from a column",
                "remove it; its method is written anyway, and gets the row",
            ),
            (
                "Reader { row: name; }",
                "Reader",
                "`Reader` is not bound to the row of a table",
                "remove it; a method of any other type gets the object",
            ),
        ] {
            let column = fields.rfind(place).expect("the place") + 1;
            let carets = format!("{}{}", " ".repeat(column - 1), "^".repeat(place.len()));
            let whole = format!("types.rs:4:{column}: {message}\n{fields}\n{carets}\nhelp: {help}\n");
            assert_eq!(said(fields), whole);
        }
    }
}
