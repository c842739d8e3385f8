//! Converts SDL names to Rust names: methods and fields in snake case, variants in upper camel case, types unchanged.
//! Names that Rust reserves become valid identifiers. Two SDL names can become the same Rust name; `rules` reports
//! that, nothing here renames around it.

use proc_macro2::{Ident, Span};

/// Reserved words of edition 2024 that are valid as `r#word`.
const RAW: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Reserved words that are not even valid as `r#word`.
const NEVER: &[&str] = &["Self", "_", "crate", "self", "super"];

/// The identifier of a method, struct field, argument or module: `htmlUrl` becomes `html_url`, `type` becomes `r#type`.
pub fn snake(name: &str) -> Ident {
    ident(&snake_case(name))
}

/// The identifier of an enum variant: `IN_PROGRESS` and `inProgress` become `InProgress`, `self` becomes `Self_`.
pub fn variant(name: &str) -> Ident {
    ident(&upper_camel_case(name))
}

/// The identifier of a type, spelled as in the SDL.
pub fn type_name(name: &str) -> Ident {
    ident(name)
}

/// The trait that resolves the fields of an object type: `ServiceResolver`.
pub fn resolver(type_name: &str) -> String {
    format!("{type_name}Resolver")
}

/// The struct of a field's arguments: `ServiceTagsArgs` for `Service.tags`.
pub fn args(type_name: &str, field: &str) -> String {
    format!("{type_name}{}Args", upper_camel_case(field))
}

/// The trait of a query field: `AccountQuery`.
pub fn query(field: &str) -> String {
    format!("{}Query", upper_camel_case(field))
}

/// The trait of a mutation: `ServiceCreateMutation`.
pub fn mutation(field: &str) -> String {
    format!("{}Mutation", upper_camel_case(field))
}

/// Converts `codeIssueProjectUpsert` to `code_issue_project_upsert`, `HTTPUrl` to `http_url`, `ISO8601Date` to
/// `iso8601_date`. In a run of capitals, the last one begins the next word. Underscores are kept.
pub fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 8);
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map_or('_', |i| chars[i]);
        let next_is_lower = chars.get(i + 1).is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_uppercase() && before != '_' && (!before.is_ascii_uppercase() || next_is_lower) {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Capitalises the words of [`snake_case`]: `HTTP_URL`, `httpUrl` and `HTTPUrl` all become `HttpUrl`. Underscores are
/// dropped, except between digits (`V1_2`) or before a leading digit (`_1`).
pub fn upper_camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for word in snake_case(name).split('_').filter(|word| !word.is_empty()) {
        let digit_first = word.starts_with(|c: char| c.is_ascii_digit());
        if digit_first && (camel.is_empty() || camel.ends_with(|c: char| c.is_ascii_digit())) {
            camel.push('_');
        }
        camel.push_str(&word[..1].to_ascii_uppercase());
        camel.push_str(&word[1..]);
    }
    if camel.is_empty() { name.to_owned() } else { camel }
}

/// Converts `name` to an identifier. It must be a GraphQL name, or derived from one.
fn ident(name: &str) -> Ident {
    if NEVER.contains(&name) {
        Ident::new(&format!("{name}_"), Span::call_site())
    } else if RAW.contains(&name) {
        Ident::new_raw(name, Span::call_site())
    } else {
        Ident::new(name, Span::call_site())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case_separates_words_at_capitals() {
        for (name, snake) in [
            ("cves", "cves"),
            ("htmlUrl", "html_url"),
            ("codeIssueProjectUpsert", "code_issue_project_upsert"),
            ("HTTPUrl", "http_url"),
            ("ISO8601DateTime", "iso8601_date_time"),
            ("sha256Sum", "sha256_sum"),
            ("specifiedByURL", "specified_by_url"),
            ("IN_PROGRESS", "in_progress"),
            ("already_snake", "already_snake"),
            ("_id", "_id"),
            ("aB", "a_b"),
            ("X", "x"),
            ("__typename", "__typename"),
        ] {
            assert_eq!(snake_case(name), snake, "{name}");
        }
    }

    #[test]
    fn upper_camel_case_does_not_depend_on_how_words_were_separated() {
        for (name, camel) in [
            ("succeeded", "Succeeded"),
            ("IN_PROGRESS", "InProgress"),
            ("inProgress", "InProgress"),
            ("HTTP_URL", "HttpUrl"),
            ("V1_2", "V1_2"),
            ("V12", "V12"),
            ("_1", "_1"),
            ("ISO8601", "Iso8601"),
            ("_", "_"),
            ("_private", "Private"),
        ] {
            assert_eq!(upper_camel_case(name), camel, "{name}");
        }
    }

    #[test]
    fn every_name_becomes_an_identifier() {
        for name in RAW.iter().chain(NEVER).chain(&["_1", "__x", "union", "a1"]) {
            for ident in [snake(name), variant(name), type_name(name)] {
                let text = ident.to_string();
                assert!(syn::parse_str::<syn::Ident>(&text).is_ok(), "{name}: {text}");
            }
        }
        assert_eq!(snake("type").to_string(), "r#type");
        assert_eq!(snake("gen").to_string(), "r#gen");
        assert_eq!(snake("self").to_string(), "self_");
        assert_eq!(variant("self").to_string(), "Self_");
        assert_eq!(variant("_").to_string(), "__");
    }
}
