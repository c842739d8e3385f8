//! Lists of rows that need no method: `@relation` on a field says how to find them.
//!
//! `@relation(key: "owner_id")` lists the rows whose column refers to the parent. `@relation(through:
//! "service_repository")` lists the rows that a join table links to the parent, by its columns `PARENT_id` and
//! `NODE_id`, named after the two types. Both are checked against the entities.

use apollo_compiler::Schema as Checked;

use super::bindings::Bindings;
use super::diagnostics::Problem;
use super::model::{Field, Object, Schema, Value};
use super::names::snake_case;
use super::rows::Row;
use super::source::Source;
use spelling::nearest;

/// The directive's name.
const DIRECTIVE: &str = "relation";

/// How to find the rows of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Relation<'a> {
    /// By this column, which refers to the parent.
    Key(&'a str),
    /// By a join table, and its columns that refer to the parent and the row.
    Through { table: &'a str, parent: String, target: String },
}

/// Checks every `@relation` against the entities.
pub(super) fn check(model: &Schema, bindings: &Bindings, schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for object in model.objects() {
        for field in &object.fields {
            if let Err(Mistake { message, help }) = of(model, bindings, object, field) {
                let definition = schema.get_object(&object.name).and_then(|it| it.fields.get(field.name.as_str()));
                let range = source.range(definition.and_then(|field| field.name.location()));
                problems.push(Problem::new(range, format!("`{}.{}`: {message}", object.name, field.name), Some(help)));
            }
        }
    }
    problems
}

/// Why a relation is not valid.
#[derive(Debug)]
pub(super) struct Mistake {
    message: String,
    help: String,
}

impl Mistake {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// Returns how to find the rows of `field`. `None` if it has no `@relation`.
pub(super) fn of<'a>(
    model: &'a Schema,
    bindings: &'a Bindings,
    object: &Object,
    field: &'a Field,
) -> Result<Option<Relation<'a>>, Mistake> {
    if !field.directives.iter().any(|directive| directive.name == DIRECTIVE) {
        return Ok(None);
    }
    let node = model.object(field.ty.name()).and_then(|connection| model.connection(connection));
    let node = node.filter(|_| field.is_page());
    let rows = node.and_then(|node| bindings.row(node)).zip(bindings.row(&object.name));
    let (Some(node), Some((row, _))) = (node, rows) else {
        return Err(Mistake::new(
            format!("`@{DIRECTIVE}` only works on a field that pages through rows of a table, on the row of a table"),
            format!("remove `@{DIRECTIVE}`, and write the method"),
        ));
    };
    let text = |argument| match field.directive(DIRECTIVE, argument) {
        Some(Value::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match (text("key"), text("through")) {
        (Some(key), None) => {
            has_key(row, key)?;
            Ok(Some(Relation::Key(key)))
        }
        (None, Some(table)) => {
            let Some(links) = bindings.table(table) else {
                let near = nearest(table, bindings.tables());
                let help =
                    near.map_or("make its entity in src/entity".to_owned(), |near| format!("did you mean `{near}`?"));
                return Err(Mistake::new(format!("no entity has the table `{table}`"), help));
            };
            let [parent, target] = [&object.name, node].map(|name| format!("{}_id", snake_case(name)));
            for column in ["id", &parent, &target] {
                has_key(links, column)?;
            }
            Ok(Some(Relation::Through { table, parent, target }))
        }
        _ => Err(Mistake::new(
            format!("`@{DIRECTIVE}` must have either `key` or `through`"),
            "`key` is a column of the listed row, `through` a join table",
        )),
    }
}

fn has_key(row: &Row, column: &str) -> Result<(), Mistake> {
    if row.has_key(column) {
        return Ok(());
    }
    let keys: Vec<String> = row.keys().map(|key| format!("`{key}`")).collect();
    Err(Mistake::new(
        format!("the table `{}` has no column `{column}` of type i64 in {}", row.table, row.file),
        format!("its columns of that type are {}", keys.join(", ")),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::check::check as check_text;
    use super::*;

    /// The report for a field `all` of `Author` with this text.
    fn said(field: &str) -> String {
        let sdl = format!(
            "directive @relation(key: String, through: String) on FIELD_DEFINITION
            type Query {{ author: Author }}
            type Author {{ id: ID! {field} }}
            type Poem {{ id: ID! }}
            type PoemConnection {{ nodes: [Poem!]! edges: [PoemEdge!]! pageInfo: PageInfo! totalCount: Int! }}
            type PoemEdge {{ node: Poem! cursor: String! }}
            type PageInfo {{ hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }}"
        );
        let types = "pub use super::id::Id as ID; pub use crate::entity::author::Model as Author; pub use crate::entity::poem::Model as Poem;";
        let mut bindings = Bindings::read(types, &[]).expect("Rust");
        let row = |table: &str, columns: &str| {
            let source = format!("#[sea_orm(table_name = \"{table}\")] pub struct Model {{ {columns} }}");
            Row::read(&format!("src/entity/{table}.rs"), &source).expect("Rust")
        };
        bindings.add_row("Author", row("author", "pub id: i64"));
        bindings.add_row("Poem", row("poem", "pub id: i64, pub author_id: i64, pub title: String"));
        bindings.add_table(row("fondness", "pub id: i64, pub author_id: i64, pub poem_id: i64"));
        bindings.add_table(row("quarrel", "pub id: i64, pub author_id: i64"));
        check_text("s.graphql", &sdl, &bindings).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
    }

    #[test]
    fn relations_that_match_the_entities_are_accepted() {
        for relation in ["", "@relation(key: \"author_id\")", "@relation(through: \"fondness\")"] {
            assert_eq!(said(&format!("all(first: Int, after: String): PoemConnection! {relation}")), "");
        }
    }

    #[test]
    fn a_mistake_is_reported_at_its_field_with_the_available_columns() {
        let pages = "all(first: Int, after: String): PoemConnection!";
        let mistakes = [
            (
                format!("{pages} @relation(key: \"title\")"),
                "the table `poem` has no column `title` of type i64 in src/entity/poem.rs",
                "its columns of that type are `author_id`, `id`",
            ),
            (
                format!("{pages} @relation(through: \"fondnes\")"),
                "no entity has the table `fondnes`",
                "did you mean `fondness`?",
            ),
            (
                format!("{pages} @relation(through: \"quarrel\")"),
                "the table `quarrel` has no column `poem_id` of type i64 in src/entity/quarrel.rs",
                "its columns of that type are `author_id`, `id`",
            ),
            (
                format!("{pages} @relation"),
                "`@relation` must have either `key` or `through`",
                "`key` is a column of the listed row, `through` a join table",
            ),
            (
                "all(year: Int): PoemConnection! @relation(key: \"author_id\")".to_owned(),
                "`@relation` only works on a field that pages through rows of a table, on the row of a table",
                "remove `@relation`, and write the method",
            ),
        ];
        for (field, message, help) in mistakes {
            let line = format!("            type Author {{ id: ID! {field} }}");
            let caret = format!("{}^^^", " ".repeat(line.find("all").expect("the field")));
            let column = caret.len() - 2;
            let whole = format!("s.graphql:3:{column}: `Author.all`: {message}\n{line}\n{caret}\nhelp: {help}\n");
            assert_eq!(said(&field), whole);
        }
    }
}
