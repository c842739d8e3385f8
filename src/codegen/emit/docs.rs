//! Descriptions as doc comments: one attribute per line, escaped for rustdoc.

use proc_macro2::TokenStream;
use quote::quote;

/// The doc attributes of a description, with a note if it is deprecated.
pub(in super::super) fn docs(description: Option<&str>, deprecated: Option<&str>) -> TokenStream {
    let mut lines = Vec::new();
    if let Some(description) = description {
        let looks_like_code = description.lines().any(|line| line.starts_with("    ") || line.contains("```"));
        if looks_like_code {
            lines.push("```text".to_owned());
            lines.extend(description.lines().map(|line| line.replace("```", "'''")));
            lines.push("```".to_owned());
        } else {
            lines.extend(description.lines().map(escape));
        }
    }
    if let Some(reason) = deprecated {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("Deprecated: {}", escape(&reason.replace('\n', " "))));
    }
    let lines = lines.iter().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote! { #(#[doc = #lines])* }
}

/// Escapes brackets, which rustdoc reads as links, and angle brackets, which it reads as HTML. Turns bare URLs into links.
fn escape(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    for (i, word) in line.split(' ').enumerate() {
        if i > 0 {
            escaped.push(' ');
        }
        if word.starts_with("http://") || word.starts_with("https://") {
            let end = word.trim_end_matches(['.', ',', ';', ')', ':']).len();
            escaped.push_str(&format!("<{}>{}", &word[..end], &word[end..]));
            continue;
        }
        for character in word.chars() {
            if matches!(character, '[' | ']' | '<' | '>') {
                escaped.push('\\');
            }
            escaped.push(character);
        }
    }
    escaped
}
