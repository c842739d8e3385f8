//! The tables: the module of each, what ids and messages call its rows, and which of its columns are texts. They become
//! `tables.rs`, three macros that call another one with them, so that nobody lists them by hand.
//!
//! A file of the entities has a table if it declares its `Model`, or calls a macro that does with the name of the table.
//! Rows have ids if an SDL type stands for them that has one, or if the file says their class:
//!
//! - `called!(class "Change", noun "change")` says what ids call a row instead of its type in the SDL, and what messages
//!   call it instead of the name of the table. Either word may be alone.
//! - `by_alias!`, `alias_table!` and `impl ByAlias for Entity` say that its rows have aliases.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenTree};
use syn::parse::ParseStream;
use syn::{Ident, Item, ItemImpl, ItemMacro, LitStr, Token, Type};

use super::bindings::Bindings;
use super::model::Schema;
use super::rows::calls;

const HEADER: &str = "// Generated from the entities and the SDL by the build. Edit these, never this.\n";

/// The number of tables in a line.
const IN_A_LINE: usize = 6;

/// All tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entities {
    /// The tables by their modules, and what their files say of the words for their rows.
    tables: BTreeMap<String, Words>,
    /// The modules of those whose rows have aliases.
    with_alias: BTreeSet<String>,
}

/// The words for a row, as `called!` says them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Words {
    class: Option<String>,
    noun: Option<String>,
}

impl Entities {
    /// Reads the file of an entity.
    ///
    /// # Errors
    /// `table!` has another name than the file, or `called!` has another word.
    pub(super) fn add(&mut self, file: &str, items: &[Item]) -> Result<(), syn::Error> {
        let module = file.rsplit('/').next().and_then(|name| name.strip_suffix(".rs")).unwrap_or(file);
        let (mut is_table, mut words) = (false, Words::default());
        for item in items {
            match item {
                Item::Struct(item) if item.ident == "Model" => is_table = true,
                Item::Macro(item) if calls(item, "called") => words = item.mac.parse_body_with(read_words)?,
                Item::Macro(item) if calls(item, "by_alias") => drop(self.with_alias.insert(module.to_owned())),
                Item::Macro(item) if begins_with(item, module) => {
                    is_table = true;
                    if calls(item, "alias_table") {
                        self.with_alias.extend(owner(item));
                    }
                }
                Item::Macro(item) if calls(item, "table") => {
                    let message = format!("the name of a table is that of its file: expected \"{module}\"");
                    let name = item.mac.tokens.clone().into_iter().next();
                    return Err(syn::Error::new(name.map_or_else(Span::call_site, |name| name.span()), message));
                }
                Item::Impl(item) if is_found_by_alias(item) => drop(self.with_alias.insert(module.to_owned())),
                _ => {}
            }
        }
        if is_table {
            self.tables.insert(module.to_owned(), words);
        }
        Ok(())
    }

    /// The text of `tables.rs`.
    pub(super) fn lists(&self, schema: &Schema, bindings: &Bindings) -> String {
        let modules: Vec<&str> = self.tables.keys().map(String::as_str).collect();
        let tables = modules.chunks(IN_A_LINE).map(|some| some.join(" "));
        let types = types(schema, bindings);
        let ids = self.tables.iter().filter_map(|(module, words)| {
            let class = words.class.as_deref().or(types.get(module.as_str()).copied())?;
            let noun = words.noun.clone().unwrap_or_else(|| module.replace('_', " "));
            let alias = if self.with_alias.contains(module) { ", alias" } else { "" };
            Some(format!("{module} => {class:?}, {noun:?}{alias};"))
        });
        let texts = self.tables.keys().filter_map(|module| {
            let texts = |nullable| {
                let row = bindings.table(module)?;
                let texts = row.columns().filter(|(_, column)| column.ty == "String" && column.nullable == nullable);
                Some(texts.map(|(name, _)| name).collect::<Vec<_>>().join(" "))
            };
            Some(format!("{module} => {}; {};", texts(false)?, texts(true)?))
        });
        let texts = list(
            "texts",
            "The tables, with their columns of text: those of every row, and those that may be null.",
            texts,
        );
        let tables = list("tables", "The modules of all tables.", tables);
        let ids = list("ids", "The tables whose rows have ids: the class of the ids, and the noun for a row.", ids);
        format!("{HEADER}\n{tables}\n{ids}\n{texts}")
    }
}

/// The SDL types with an `id` that rows stand for, by the modules of these.
fn types<'s>(schema: &'s Schema, bindings: &'s Bindings) -> BTreeMap<&'s str, &'s str> {
    let with_id = schema
        .objects()
        .filter(|object| object.fields.iter().any(|field| field.name == "id" && field.ty.to_string() == "ID!"));
    with_id.filter_map(|object| Some((bindings.entity(&object.name)?, object.name.as_str()))).collect()
}

/// A macro that calls another one with a list.
fn list(name: &str, says: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("            {line}\n")).collect();
    let calls = format!("    ($each:ident) => {{\n        $each! {{\n{lines}        }}\n    }};\n");
    format!(
        "/// Calls a macro with a list. {says}\n#[macro_export]\nmacro_rules! {name} {{\n{calls}}}\npub use {name};\n"
    )
}

/// Whether a macro is called with this text as its first argument.
fn begins_with(item: &ItemMacro, text: &str) -> bool {
    let first = item.mac.tokens.clone().into_iter().next();
    matches!(first, Some(TokenTree::Literal(literal)) if literal.to_string() == format!("{text:?}"))
}

/// The owner in `alias_table!("name", owner, …)`.
fn owner(item: &ItemMacro) -> Option<String> {
    match item.mac.tokens.clone().into_iter().nth(2)? {
        TokenTree::Ident(owner) => Some(owner.to_string()),
        _ => None,
    }
}

/// Whether this is `impl ByAlias for Entity`.
fn is_found_by_alias(item: &ItemImpl) -> bool {
    let of_trait = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
    of_trait.is_some_and(|last| last.ident == "ByAlias")
        && matches!(&*item.self_ty, Type::Path(own) if own.path.is_ident("Entity"))
}

/// `class "…", noun "…"`
fn read_words(input: ParseStream<'_>) -> syn::Result<Words> {
    let mut words = Words::default();
    while !input.is_empty() {
        let word: Ident = input.parse()?;
        let text = Some(input.parse::<LitStr>()?.value());
        match word.to_string().as_str() {
            "class" => words.class = text,
            "noun" => words.noun = text,
            _ => return Err(syn::Error::new(word.span(), "expected `class` or `noun`")),
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SDL: &str = "type Query { poems: [Poem!]! }
        type Poem { id: ID! verses: [Verse!]! critic: Critic! }
        type Verse { text: String! }
        type Critic { id: ID! }";

    const TYPES: &str = "pub struct ID; pub use crate::entity::poem::Model as Poem;
        pub use crate::entity::verse::Model as Verse; pub use crate::entity::book_critic::Model as Critic;";

    /// What is generated for these files of entities, or why not.
    fn lists(files: &[(&str, &str)]) -> Result<String, String> {
        let mut bindings = Bindings::read("types.rs", TYPES).expect("Rust");
        for (module, source) in files {
            bindings.add_entity(&format!("src/catalogue/entity/{module}.rs"), source)?;
        }
        Ok(crate::check("schema.graphql", SDL, &bindings).map_err(|mistakes| mistakes.to_string())?.tables(&bindings))
    }

    #[test]
    fn tables_are_listed_in_the_order_of_their_names_with_what_ids_and_messages_call_them() {
        let files = [
            ("verse", "super::table! { \"verse\"; pub text: String, }"),
            ("poem", "super::table! { \"poem\", unrecorded, exported; pub title: String, pub rhyme: Option<String>, }"),
            ("poem_alias", "super::alias::alias_table!(\"poem_alias\", poem, \"poem\");"),
            ("book_critic", "super::table! { \"book_critic\"; } super::by_alias!(Alias);"),
            ("editor", "super::table! { \"editor\"; } super::called!(class \"Author\", noun \"who edits\");"),
            ("text", "pub const SHORT: usize = 9; macro_rules! table { () => {}; }"),
            (
                "reader",
                "#[sea_orm(table_name = \"reader\")] pub struct Model { pub id: i64 } impl ByAlias for Entity {}",
            ),
        ];
        let expected = "\
// Generated from the entities and the SDL by the build. Edit these, never this.

/// Calls a macro with a list. The modules of all tables.
#[macro_export]
macro_rules! tables {
    ($each:ident) => {
        $each! {
            book_critic editor poem poem_alias reader verse
        }
    };
}
pub use tables;

/// Calls a macro with a list. The tables whose rows have ids: the class of the ids, and the noun for a row.
#[macro_export]
macro_rules! ids {
    ($each:ident) => {
        $each! {
            book_critic => \"Critic\", \"book critic\", alias;
            editor => \"Author\", \"who edits\";
            poem => \"Poem\", \"poem\", alias;
        }
    };
}
pub use ids;

/// Calls a macro with a list. The tables, with their columns of text: those of every row, and those that may be null.
#[macro_export]
macro_rules! texts {
    ($each:ident) => {
        $each! {
            book_critic => ; ;
            editor => ; ;
            poem => title; rhyme;
            reader => ; ;
            verse => text; ;
        }
    };
}
pub use texts;
";
        assert_eq!(lists(&files).as_deref(), Ok(expected));
    }

    #[test]
    fn the_words_of_a_file_precede_those_of_the_sdl() {
        let poem = |called: &str| {
            let file = format!("super::table! {{ \"poem\"; }} super::called!({called});");
            let lists = lists(&[("poem", &file)]).unwrap_or_else(|mistake| panic!("{called}: {mistake}"));
            lists.lines().find_map(|line| line.trim().strip_prefix("poem => ")).unwrap_or_default().to_owned()
        };
        assert_eq!(poem("class \"Song\""), "\"Song\", \"poem\";");
        assert_eq!(poem("noun \"work\""), "\"Poem\", \"work\";");
        assert_eq!(poem("class \"Song\", noun \"work\""), "\"Song\", \"work\";");
    }

    #[test]
    fn a_mistake_is_reported_with_its_file_and_its_place() {
        for (file, expected) in [
            (
                "super::table! {\n    \"poems\", unrecorded, exported;\n}",
                "src/catalogue/entity/poem.rs:2:5: the name of a table is that of its file: expected \"poem\"",
            ),
            (
                "super::table! { \"poem\"; }\nsuper::called!(noun \"work\", kind \"Song\");",
                "src/catalogue/entity/poem.rs:2:29: expected `class` or `noun`",
            ),
            (
                "super::table! { \"poem\"; }\nsuper::called!(noun work);",
                "src/catalogue/entity/poem.rs:2:21: expected string literal",
            ),
        ] {
            assert_eq!(lists(&[("poem", file)]), Err(expected.to_owned()), "{file}");
        }
    }
}
