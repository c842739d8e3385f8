//! Adds advice to apollo-compiler's messages about operations. The fixtures detect changes of the messages. Unknown
//! messages are shown unchanged.

use std::ops::Range;

use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{ExecutableDocument, Schema};

use super::super::diagnostics::Problem;
use super::File;
use spelling::nearest;

/// The keywords of definitions in these files.
const KEYWORDS: &[&str] = &["query", "mutation", "fragment"];

/// Rewords a syntax error for operations instead of an SDL.
pub(super) fn syntax(problem: Problem) -> Problem {
    let Problem { range, message, help } = problem;
    if message == "the schema is empty" {
        let help = "write an operation or a fragment, or remove the file";
        return Problem { range, message: "the file is empty".to_owned(), help: Some(help.to_owned()) };
    }
    let found = message.strip_prefix("expected a definition, found `").map(|rest| rest.trim_end_matches('`'));
    let keyword = found.and_then(|found| nearest(found, KEYWORDS.iter().copied()));
    let help = keyword.map(|keyword| format!("did you mean `{keyword}`?")).or(help);
    Problem { range, message, help }
}

/// Whether an error removes part of a selection, so that something in it seems unused.
pub(super) fn loses_selections(message: &str) -> bool {
    ["does not have a field", "is not a type defined", "cannot find fragment"].iter().any(|it| message.contains(it))
}

/// Whether a problem may be only a consequence of another one that removed part of a selection. `text` is the text at the
/// problem's location.
pub(super) fn is_consequence(message: &str, text: &str, files: &[File]) -> bool {
    let name = message.split('`').nth(1).unwrap_or_default();
    let occurs_more_than =
        |times: usize, word: &str| files.iter().map(|it| it.text.matches(word).count()).sum::<usize>() > times;
    if message.contains("unused variable") {
        // It occurs once, where it is declared.
        occurs_more_than(1, name)
    } else if message.contains("must be used in an operation") {
        occurs_more_than(0, &format!("...{name}")) || occurs_more_than(0, &format!("... {name}"))
    } else if message.contains("cannot find fragment") {
        // The fragment exists, but its type does not, which is reported instead.
        occurs_more_than(0, &format!("fragment {name} on "))
    } else {
        message.contains("must have a subselection") && text.contains('{')
    }
}

/// Converts an error that is not a syntax error.
pub(super) fn validation(
    message: String,
    range: Range<usize>,
    schema: &Schema,
    document: &ExecutableDocument,
) -> Problem {
    let help = mend(&message, schema, document);
    let message = message.replace(" in this document", "").replace(" in the document", "");
    Problem::new(Some(range), message, help)
}

/// The advice for a message.
fn mend(message: &str, schema: &Schema, document: &ExecutableDocument) -> Option<String> {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let says = |text: &str| message.contains(text);
    let help = match names[..] {
        [of, name] if says("does not have a field") => match nearest(name, fields(schema.types.get(of)?)) {
            Some(field) => format!("did you mean `{field}`?"),
            None => format!("select another field of `{of}`, or add `{name}` to the SDL"),
        },
        [name, field] if says("is not supported by") => {
            let (of, field) = field.split_once('.')?;
            let definition = schema.type_field(of, field.split('(').next()?).ok()?;
            match nearest(name, definition.arguments.iter().map(|argument| argument.name.as_str())) {
                Some(argument) => format!("did you mean `{argument}`?"),
                None => "remove it, or add it to the SDL".to_owned(),
            }
        }
        [name] if says("cannot find fragment") => {
            match nearest(name, document.fragments.keys().map(|it| it.as_str())) {
                Some(fragment) => format!("did you mean `{fragment}`?"),
                None => format!("write `fragment {name} on …` in any of the files"),
            }
        }
        [name] if says("cannot find type") => near_type(name, schema)?,
        [name, ..] if says("is not a type defined") => near_type(name, schema)?,
        [value, of] if says("does not exist on") => {
            let known: Vec<&str> = match schema.types.get(of)? {
                ExtendedType::Enum(it) => it.values.keys().map(|name| name.as_str()).collect(),
                ExtendedType::InputObject(it) => it.fields.keys().map(|name| name.as_str()).collect(),
                _ => return None,
            };
            match nearest(value, known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("it has {}", known.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")),
            }
        }
        [variable, _, _, wanted] if says("cannot be used for argument") => format!("declare `{variable}: {wanted}`"),
        [name] if says("unused variable") => format!("remove `{name}`, or use it"),
        [name] if says("is not defined") => format!("declare `{name}: …` after the operation's name"),
        [name] if says("must be used in an operation") => format!("spread it with `...{name}`, or remove it"),
        [_] if says("defined multiple times") => "rename one of them: all files are one document".to_owned(),
        [_] if says("must not have subselections") => "remove the braces after it".to_owned(),
        [key] if says("operation must not") => format!("give one of them another name: `other: {key}`"),
        [coordinate] if says("the required argument") => {
            let name = coordinate.rsplit('(').next()?.trim_end_matches([':', ')']);
            format!("add the argument: `({name}: …)`")
        }
        [coordinate] if says("the required field") => {
            format!("add the field: `{}: …`", coordinate.rsplit('.').next()?)
        }
        [] if says("must have a subselection") => "select some of its fields: `{ … }`".to_owned(),
        [] if says("executable document must not contain") => "types belong in the SDL".to_owned(),
        _ => return None,
    };
    Some(help)
}

fn near_type(name: &str, schema: &Schema) -> Option<String> {
    let known = schema.types.keys().map(|name| name.as_str()).filter(|name| !name.starts_with("__"));
    nearest(name, known).map(|known| format!("did you mean `{known}`?"))
}

/// The names that can be selected on a type.
fn fields(ty: &ExtendedType) -> impl Iterator<Item = &str> {
    let fields = match ty {
        ExtendedType::Object(object) => Some(&object.fields),
        ExtendedType::Interface(interface) => Some(&interface.fields),
        _ => None,
    };
    fields.into_iter().flat_map(|fields| fields.keys().map(|name| name.as_str()))
}
