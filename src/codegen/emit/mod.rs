//! Emits Rust for a checked schema: one file here for each kind of output.
//!
//! Every path in the output begins at `super::types` or at `__e`, the engine: GraphQL reserves names with two underscores.
//! The only other names are those of Rust's prelude, which `rules` forbids as SDL types. So no SDL name can shadow a name
//! in the generated code.

mod abstracts;
mod connections;
mod declared;
mod derived;
pub(super) mod docs;
mod enums;
mod inputs;
mod objects;
mod parts;
mod representation;
mod roots;
mod tables;
mod types;

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::bindings::Bindings;
use super::diagnostics::Problem;
use super::model::{Object, Schema, Type};
use representation::Representation;

const HEADER: &str = "// Generated from the SDL by the build. Edit the SDL, never this.\n\n";

/// The context of every emitter.
#[derive(Clone, Copy)]
struct Context<'a> {
    schema: &'a Schema,
    bindings: &'a Bindings,
    representations: &'a HashMap<&'a str, Representation<'a>>,
}

impl<'a> Context<'a> {
    fn representation(&self, object: &Object) -> Representation<'a> {
        self.representations.get(object.name.as_str()).copied().unwrap_or(Representation::Plain)
    }
}

/// The whole output.
pub(super) fn schema(schema: &Schema, bindings: &Bindings) -> String {
    let representations = representation::by_type(schema, bindings);
    let context = Context { schema, bindings, representations: &representations };
    let mut items = vec![prelude()];
    for ty in &schema.types {
        items.push(match ty {
            Type::Scalar(_) => TokenStream::new(),
            Type::Enum(definition) => enums::definition(definition),
            Type::Input(definition) => inputs::definition(context, definition),
            Type::Interface(definition) => {
                abstracts::definition(context, &definition.name, definition.description.as_deref())
            }
            Type::Union(definition) => {
                abstracts::definition(context, &definition.name, definition.description.as_deref())
            }
            Type::Object(object) => match context.representation(object) {
                Representation::Root => roots::definition(context, object),
                Representation::Bound => objects::bound(context, object),
                Representation::Plain => objects::plain(context, object),
                Representation::Connection(node) => connections::connection(context, object, node),
                Representation::Edge(node) => connections::edge(context, object, node),
                Representation::PageInfo => connections::page_info(),
            },
        });
    }
    items.push(tables::module(context));
    format(HEADER, items)
}

/// The mistakes in what `fields!` declares. The schema has no others.
pub(super) fn check_declarations(schema: &Schema, bindings: &Bindings) -> Vec<Problem> {
    declared::check(Context { schema, bindings, representations: &representation::by_type(schema, bindings) })
}

fn prelude() -> TokenStream {
    quote! {
        use ::engine::generated as __e;

        #[doc = " The context of a resolver: the state of its request."]
        pub type Ctx<'a> = __e::Context<'a, super::types::State>;

        #[doc = " The context of a mutation: the state of its request, and its transaction."]
        pub type MutationCtx<'a> = __e::Context<
            'a,
            <super::types::State as __e::State>::Writing,
        >;
    }
}

/// How many columns our code has.
const WIDTH: usize = 120;

/// Formats the items below a header, separated by blank lines. What the engine's macros implement for a type follows it.
pub(super) fn format(header: &str, items: Vec<TokenStream>) -> String {
    let mut text = header.to_owned();
    for tokens in items {
        let file: syn::File = match syn::parse2(tokens.clone()) {
            Ok(file) => file,
            // Unreachable for a checked schema. Otherwise rustc will report the place.
            Err(_) => {
                text.push_str(&tokens.to_string());
                continue;
            }
        };
        for item in file.items {
            if matches!(item, syn::Item::Macro(_)) {
                text.pop();
            }
            let item = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![item] };
            push_joined(&mut text, &prettyplease::unparse(&item));
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Appends code, with the parameters of a function in one line where they fit our 120 columns: prettyplease has 89.
fn push_joined(text: &mut String, code: &str) {
    let lines: Vec<&str> = code.lines().collect();
    let mut rest = &lines[..];
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        if line.ends_with('(')
            && line.trim_start().starts_with("fn ")
            && let Some(end) = after.iter().position(|line| line.trim_start().starts_with(')'))
            && after[end].ends_with([';', '{'])
        {
            let parameters = after[..end].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            let joined = format!("{line}{}{}", parameters.trim_end_matches(','), after[end].trim_start());
            if joined.chars().count() <= WIDTH {
                text.push_str(&joined);
                text.push('\n');
                rest = &after[end + 1..];
                continue;
            }
        }
        text.push_str(line);
        text.push('\n');
    }
}
