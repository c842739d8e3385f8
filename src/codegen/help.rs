//! Rewords apollo-compiler's messages for authors of the SDL, and adds advice. The messages are all that
//! apollo-compiler exposes; the fixtures detect changes. Unknown messages are shown unchanged.

use std::ops::Range;

use apollo_compiler::{Schema as Checked, parser::SourceSpan, schema::ExtendedType};
use spelling::{expected_token, nearest};

use super::{
    diagnostics::Problem,
    source::{KEYWORDS, Source},
};

/// Converts a syntax error.
pub(super) fn syntax(message: &str, source: &Source<'_>, range: Range<usize>) -> Problem {
    let message = message.trim_start_matches("syntax error: ");
    let found = source.text(&range).split_whitespace().next().unwrap_or_default();
    let here = if found.is_empty() { "the end of the file".to_owned() } else { format!("`{found}`") };
    let (message, help) = match message {
        "expected a type" | "expected a Type" | "expected R_CURLY, got {" => {
            if let Some(problem) = unclosed(source, &range) {
                return problem;
            }
            let help = "a field is written `name: Type`, an argument `(name: Type)`";
            (format!("expected a type, found {here}"), Some(help.to_owned()))
        }
        "Unexpected <EOF>." => ("the schema is empty".to_owned(), Some("define at least a `type Query`".to_owned())),
        "parser recursion limit reached" => ("brackets are nested too deeply here".to_owned(), None),
        "expected definition" | "expected a StringValue, Name or OperationDefinition" => {
            let help = match nearest(found, KEYWORDS.iter().copied()) {
                Some(keyword) => Some(format!("did you mean `{keyword}`?")),
                None if found.starts_with('}') => Some("remove it, or look for a `}` too many above".to_owned()),
                None => None,
            };
            (format!("expected a definition, found {here}"), help)
        }
        "expected an Argument Definition" => (
            format!("expected an argument, found {here}"),
            Some("a field without arguments has no parentheses".to_owned()),
        ),
        "invalid Enum Value" => (format!("an enum value cannot be called {here}"), None),
        "unterminated string value" | "unexpected line terminator" => {
            let help = "end it with `\"` on its line, or write `\"\"\"` around a text of many lines";
            ("this string is not closed".to_owned(), Some(help.to_owned()))
        }
        _ => match expected_token(message) {
            Some(token) => (format!("expected `{token}`, found {here}"), None),
            None if message.starts_with("exp") => {
                (format!("{}, found {here}", message.to_ascii_lowercase().replace("exptected", "expected")), None)
            }
            None => (message.to_owned(), None),
        },
    };
    Problem::new(Some(range), message, help)
}

/// Detects a definition that begins inside another: the parser took its keyword for a field name, and failed at what
/// follows.
fn unclosed(source: &Source<'_>, range: &Range<usize>) -> Option<Problem> {
    let (start, line) = source.lines().line(source.lines().number(range.start))?;
    let keyword = line.split_whitespace().next().filter(|word| KEYWORDS.contains(word))?;
    let first = start + line.find(keyword)?;
    let between = source.text(&(first + keyword.len()..range.start)).trim();
    let follows = between.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    follows.then(|| {
        let help = "close the definition above with `}`".to_owned();
        Problem::new(
            Some(first..first + keyword.len()),
            format!("`{keyword}` begins inside another definition"),
            Some(help),
        )
    })
}

/// Converts an error that is not a syntax error.
pub(super) fn validation(
    message: String,
    range: Option<Range<usize>>,
    schema: &Checked,
    source: &Source<'_>,
) -> Problem {
    let help = mend(&message, schema, source);
    let message = match message.split_once("declares that it implements") {
        // It may also be an object type.
        Some((subject, via)) => format!("{}declares that it implements{via}", subject.trim_start_matches("interface ")),
        None => message,
    };
    Problem::new(range, message, help)
}

/// The advice for a message, by the number of names it quotes.
fn mend(message: &str, schema: &Checked, source: &Source<'_>) -> Option<String> {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match names[..] {
        [] => mend_schema(message, schema),
        [name] => mend_definition(message, name, schema, source),
        _ => mend_relation(message, &names, schema, source),
    }
}

/// The advice for a message that names nothing.
fn mend_schema(message: &str, schema: &Checked) -> Option<String> {
    let says = |text: &str| message.contains(text);
    Some(match () {
        _ if says("interface") && says("cannot implement itself") => "remove it from its own `implements`".to_owned(),
        _ if says("built-in scalar definitions must be omitted") => {
            "remove it; `Int`, `Float`, `String`, `Boolean` and `ID` are always there".to_owned()
        }
        _ if says("missing query root") => "define `type Query`, or name another in `schema { query: … }`".to_owned(),
        _ if says("schema extension without") => "write `schema { … }` instead of `extend schema { … }`".to_owned(),
        _ if says("a schema document must not contain") => {
            "queries and fragments belong to clients; remove it from the schema".to_owned()
        }
        _ if says("can only be used once per location") => "remove the second".to_owned(),
        _ if says("directive is not supported for") => {
            let name = message.split(' ').next()?;
            let places = &schema.directive_definitions.get(name)?.locations;
            let places: Vec<String> = places.iter().map(|place| place.to_string()).collect();
            format!("`@{name}` is for {}", places.join(", "))
        }
        _ => return None,
    })
}

/// The advice for a message that names one thing.
fn mend_definition(message: &str, name: &str, schema: &Checked, source: &Source<'_>) -> Option<String> {
    let says = |text: &str| message.contains(text);
    Some(match name {
        _ if says("cannot find type") || says("extension for undefined type") => similar_type(name, schema),
        _ if says("cannot find directive") => {
            let name = name.trim_start_matches('@');
            match nearest(name, schema.directive_definitions.keys().map(|name| name.as_str())) {
                Some(other) => format!("did you mean `@{other}`?"),
                None => format!("define it: `directive @{name} on …`"),
            }
        }
        _ if says("the type") && says("defined multiple times") => {
            let line = source.line_of(schema.types.get(name)?.name().location());
            format!("it is first defined on line {line}; remove one, or make this one an `extend`")
        }
        _ if says("the directive") && says("defined multiple times") => {
            let definition = schema.directive_definitions.get(name.trim_start_matches('@'))?;
            format!("it is first defined on line {}; remove one", source.line_of(definition.name.location()))
        }
        _ if says("the argument `") && says("provided multiple") => "remove the second".to_owned(),
        _ if says("is defined multiple times") => "remove or rename one of them".to_owned(),
        _ if says("root operation type") => "a schema has one root of each kind; remove one".to_owned(),
        _ if says("must not be used for multiple root") => "define a separate type for each root".to_owned(),
        "schema" => "remove one, or make it `extend schema`".to_owned(),
        _ if says("must return an output type") => {
            "an input object cannot be returned; define a `type` for the answer".to_owned()
        }
        _ if says("must be of an input type") => {
            "an argument or input field must be a scalar, enum or input object; define an `input` for it".to_owned()
        }
        _ if says("must return an object type") => {
            format!("the roots of a schema are object types; make `{name}` a `type`")
        }
        _ if says("union member") => "a union consists of object types; name each of them".to_owned(),
        _ if says("input object cannot reference itself") => {
            format!("every value of `{name}` would be infinite; make one of the fields on the way nullable, or a list")
        }
        _ if says("directive definition cannot reference itself") => {
            "remove the directive from its own arguments".to_owned()
        }
        _ if says("has no fields") || says("has no input values") => {
            format!("give `{name}` a field in braces, or remove it")
        }
        _ if says("has no enum values") => format!("give `{name}` a value in braces, or remove it"),
        _ if says("has no member types") => format!("name the types: `union {name} = A | B`"),
        _ if says("two underscores are reserved") => format!("call it `{}`", name.trim_start_matches('_')),
        _ if says("required argument") => {
            let name = name.rsplit('(').next()?.trim_end_matches([':', ')']);
            format!("add the argument: `({name}: …)`")
        }
        _ if says("adding a") => format!("write `extend {} {name}`", keyword(schema.types.get(name)?)),
        _ => return None,
    })
}

/// Suggests a type for an unknown type name.
fn similar_type(name: &str, schema: &Checked) -> String {
    let types = schema.types.keys().map(|name| name.as_str()).chain(["Int", "Float", "String", "Boolean", "ID"]);
    match nearest(name, types.filter(|name| !name.starts_with("__"))) {
        Some(other) => format!("did you mean `{other}`?"),
        None => format!("define `{name}`, or use a type that is defined"),
    }
}

/// The advice for a message that names several things.
fn mend_relation(message: &str, names: &[&str], schema: &Checked, source: &Source<'_>) -> Option<String> {
    let says = |text: &str| message.contains(text);
    Some(match *names {
        [name, of] if says("duplicate definitions for the") => {
            let first = schema.types.get(of).and_then(|ty| member_location(ty, name))?;
            format!("it is first defined on line {}; remove one", source.line_of(Some(first)))
        }
        [_, _] if says("more than once") => "remove the second".to_owned(),
        [name, interface, field] if says("missing field") => {
            let field = schema.get_interface(interface)?.fields.get(field)?;
            let mut bare = field.node.as_ref().clone();
            bare.description = None;
            bare.directives.clear();
            bare.arguments.iter_mut().for_each(|argument| argument.make_mut().description = None);
            format!("add `{}` to `{name}`", bare.serialize().no_indent())
        }
        [_, wanted, ..] if says("is not a proper subtype") => format!("make its type `{wanted}`, or a narrower one"),
        [_, argument, field] if says("does not provide it") => {
            let (interface, name) = names[0].split_once('.')?;
            let definition = schema.get_interface(interface)?.fields.get(name)?.argument_by_name(argument)?;
            format!("add the argument `{argument}: {}` to `{field}`", definition.ty)
        }
        [_, _, wanted, _, _] if says("expects argument") => format!("make its type `{wanted}`"),
        [_, argument, _] if says("has extra required argument") => {
            format!("make `{argument}` nullable, or give it a default")
        }
        [name, via, missing] if says("must also implement") => format!("write `{name} implements {missing} & {via}`"),
        [argument, directive] if says("is not supported by") => {
            let definition = schema.directive_definitions.get(directive.trim_start_matches('@'))?;
            let known = nearest(argument, definition.arguments.iter().map(|argument| argument.name.as_str()))?;
            format!("did you mean `{known}`?")
        }
        _ => return None,
    })
}

/// The keyword that defines a type.
fn keyword(ty: &ExtendedType) -> &'static str {
    match ty {
        ExtendedType::Scalar(_) => "scalar",
        ExtendedType::Object(_) => "type",
        ExtendedType::Interface(_) => "interface",
        ExtendedType::Union(_) => "union",
        ExtendedType::Enum(_) => "enum",
        ExtendedType::InputObject(_) => "input",
    }
}

/// The first definition of a field, a value or a member of a type.
fn member_location(ty: &ExtendedType, name: &str) -> Option<SourceSpan> {
    match ty {
        ExtendedType::Object(object) => object.fields.get(name)?.name.location(),
        ExtendedType::Interface(interface) => interface.fields.get(name)?.name.location(),
        ExtendedType::InputObject(input) => input.fields.get(name)?.name.location(),
        ExtendedType::Enum(values) => values.values.get(name)?.value.location(),
        ExtendedType::Union(union) => union.members.iter().find(|member| member.name == name)?.name.location(),
        ExtendedType::Scalar(_) => None,
    }
}
