//! A field that is never null cannot be found by a key that may be null.

use codegen::Bindings;
use codegen::rows::Row;

const TYPES: &str = "pub use crate::poem::Poem; pub use crate::author::Author;";

const ENTITY: &str = r#"
#[sea_orm(table_name = "poem")]
pub struct Model { pub author_id: i64, pub translator_id: Option<i64> }
"#;

/// The report for a poem with this field, or what is generated.
fn said(field: &str, fields: &str) -> Result<String, String> {
    let types = format!("{TYPES} fields! {{ {fields} }}");
    let mut bindings = Bindings::read("types.rs", &types).expect("the bindings parse");
    bindings.add_row("Poem", Row::read("src/catalogue/entity/poem.rs", ENTITY).expect("an entity"));
    let author = "pub struct Model { pub name: String }";
    bindings.add_row("Author", Row::read("src/catalogue/entity/author.rs", author).expect("an entity"));
    let sdl = format!("type Query {{ poem: Poem }}\ntype Poem {{ {field} }}\ntype Author {{ name: String! }}");
    codegen::generate("schema.graphql", &sdl, &bindings).map_err(|mistakes| mistakes.to_string())
}

#[test]
fn a_key_that_may_be_null_is_refused_for_a_field_that_is_never_null() {
    let expected = "\
schema.graphql:2:13: `Poem.translator` is never null, but its key may be: the column `translator_id` of `poem` in \
src/catalogue/entity/poem.rs
type Poem { translator: Author! }
            ^^^^^^^^^^
help: remove the `!`, or make the column not null; or write the method, and `Poem { row: translator; }` in `fields!` of \
src/catalogue/graphql/types.rs
";
    assert_eq!(said("translator: Author!", ""), Err(expected.to_owned()));
}

#[test]
fn a_key_that_fits_its_field_is_followed() {
    for (field, function) in [
        ("translator: Author", "::to_one::<"),
        ("author: Author", "::to_one::<"),
        ("author: Author!", "::to_its_one::<"),
    ] {
        let code = said(field, "").unwrap_or_else(|mistakes| panic!("{field}: {mistakes}"));
        assert!(code.contains(function), "{field}: {code}");
    }
}

#[test]
fn the_method_of_a_field_that_is_declared_is_written() {
    let code = said("translator: Author!", "Poem { row: translator; }").expect("generated code");
    assert!(!code.contains("to_its_one"), "{code}");
    let signature: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(signature.contains("-> impl __e::Answers<super::types::Author>;"), "{code}");
}

#[test]
fn another_field_of_the_same_name_is_not_the_row() {
    let arguments = said("translator(year: Int): Author!", "").expect("generated code");
    let list = said("translator: [Author!]!", "").expect("generated code");
    assert!(!arguments.contains("::to_") && !list.contains("::to_"), "{arguments}\n{list}");
}
