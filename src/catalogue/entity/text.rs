//! The rules for all texts from outside: how long they may be, which blanks are trimmed, and which characters they must
//! not contain.
//!
//! There are three kinds of text:
//! - A **short text** is one line: a name, an alias, a URL, the value of a tag. Blanks at its edges are removed
//!   ([`trim`]), and [control characters](is_control) are refused.
//! - A **long text** has paragraphs: a description, a note. It is stored exactly as it is given, because clients compare
//!   what they read with what they wrote. Control characters other than line breaks and tabs are refused.
//! - A **verbatim** text is compared, and not shown as a name: the argument of a filter. It is kept exactly.

use std::fmt;

use crate::error::UserError;

/// The maximum length of a name, alias or other short text, in characters.
pub const SHORT: usize = 255;
/// The maximum length of a description.
pub const DESCRIPTION: usize = 5_000;
/// The maximum length of a note.
pub const NOTE: usize = 50_000;
/// The maximum length of a URL. A field that may hold more is a long text.
pub const URL: usize = 2_000;
/// The maximum length of the name of a branch.
pub const BRANCH: usize = 2_000;
/// The maximum length of a tag's key.
pub const TAG_KEY: usize = 64;
/// The maximum length of a tag's value.
pub const TAG_VALUE: usize = 1_000;
/// The maximum length of a commit message, and of the description of a deploy, which usually is a commit message.
/// Storing a long one is better than truncating it or refusing the deploy.
pub const MESSAGE: usize = 50_000;

/// The maximum number of items of a list in an input.
pub const ENTRIES: usize = 1_000;

/// The maximum number of rows of a short list: contacts of one owner, component types, levels, categories. Also the
/// maximum number of objects that are assigned to another at once.
pub const FEW: usize = 100;

/// Whether a spreadsheet would run a cell of this text as a formula. CSV has an apostrophe before it, so that it is a text.
pub fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Removes the [blanks](is_blank) at both ends. The one way in which names, settings and the like are trimmed.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Whether nothing is left of a text after [`trim`].
pub fn is_nothing(text: &str) -> bool {
    text.chars().all(is_blank)
}

/// Whether a character at the edge of a text is invisible and means nothing there: Unicode's `White_Space`, and the
/// characters without width that programs leave behind (byte order mark, zero width space, joiner and non-joiner, word
/// joiner, direction marks, Mongolian vowel separator). Inside of a text they may have a meaning, and stay.
pub fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Whether a character moves or hides the text around it: a control character (Unicode's `Cc`), a line or paragraph
/// separator, or one that overrides, embeds or isolates the direction of what follows. One of them in a name forges a
/// line of a log or a row of a list, or shows another name than the stored one. Direction marks (U+200E, U+200F) affect
/// only their neighbours, and are no such characters.
pub fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a long text must not contain a character. Line breaks and tabs are part of it, and so are the characters that
/// set a direction: texts in right-to-left scripts need them, and their effect ends with the paragraph.
pub fn is_control_of_long(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')
}

/// Checks a short text that must not be blank, and [trims](trim) it.
pub fn required(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    let text = line(field, text, most)?;
    if text.is_empty() { Err(UserError::new(field, format!("{field} must not be empty"))) } else { Ok(text) }
}

/// Checks a short text of at most `most` characters, and [trims](trim) it.
pub fn line(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    let text = trim(text);
    let fault = length_fault(text, most).or_else(|| control_fault(text, is_control));
    refuse(field, text, fault)
}

/// Checks a short text like [`line()`]. A blank one becomes `None`.
pub fn optional(field: &'static str, text: &str, most: usize) -> Result<Option<String>, UserError> {
    line(field, text, most).map(|text| Some(text).filter(|text| !text.is_empty()))
}

/// Checks a long text of at most `most` characters. It keeps its blanks.
pub fn long(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    let fault = length_fault(text, most).or_else(|| control_fault(text, is_control_of_long));
    refuse(field, text, fault)
}

/// Checks that a verbatim text has at most `most` characters and no NUL, which PostgreSQL cannot store.
pub fn at_most(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    refuse(field, text, fault(text, most))
}

/// Says what is wrong with a verbatim text, as the rest of a sentence about it. Returns `None` if the text has at most
/// `most` characters and no NUL.
pub fn fault(text: &str, most: usize) -> Option<String> {
    length_fault(text, most).or_else(|| control_fault(text, |letter| letter == '\0'))
}

/// Says which [control character](is_control) a short text contains, as the rest of a sentence about it.
pub fn short_fault(text: &str) -> Option<String> {
    control_fault(text, is_control)
}

fn refuse(field: &'static str, text: &str, fault: Option<String>) -> Result<String, UserError> {
    match fault {
        None => Ok(text.to_owned()),
        Some(fault) => Err(UserError::new(field, format!("{field} {fault}"))),
    }
}

fn length_fault(text: &str, most: usize) -> Option<String> {
    // A text has no more characters than bytes.
    let length = if text.len() > most { text.chars().count() } else { 0 };
    (length > most).then(|| format!("has {length} characters; at most {most} are allowed"))
}

fn control_fault(text: &str, is_refused: impl Fn(char) -> bool) -> Option<String> {
    let letter = text.chars().find(|letter| is_refused(*letter))?;
    if letter == '\0' {
        return Some("must not contain the null character".to_owned());
    }
    Some(format!("must not contain the character U+{:04X} ({})", u32::from(letter), name(letter)))
}

/// What people call a control character.
fn name(letter: char) -> &'static str {
    match letter {
        '\t' => "a tab",
        '\n' | '\r' | '\u{85}' => "a line break",
        '\u{1b}' => "escape",
        '\u{2028}' => "a line separator",
        '\u{2029}' => "a paragraph separator",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "which changes the direction of the text",
        _ => "a control character",
    }
}

/// Replaces every [control character](is_control) of a short text by a blank, and [trims](trim) it. For texts that are
/// only shown, and come from programs that nobody can ask to correct them.
pub fn cleaned(text: &str, most: usize) -> String {
    let plain: String = text.chars().map(|letter| if is_control(letter) { ' ' } else { letter }).collect();
    let cut: String = trim(&plain).chars().take(most).collect();
    trim(&cut).to_owned()
}

/// Shows a text on one line, with every [control character](is_control) escaped: a name of an older version, a file or
/// another program must not forge a row of a list or a line of a log, and no terminal may obey it.
pub fn one_line(text: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        let mut rest = text;
        while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| is_control(*letter)) {
            write!(f, "{}{}", &rest[..at], letter.escape_default())?;
            rest = &rest[at + letter.len_utf8()..];
        }
        f.write_str(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_the_edges_are_removed_and_those_inside_stay() {
        for (given, expected) in [
            ("cart", "cart"),
            (" \t\r\ncart\n", "cart"),
            ("\u{feff}cart", "cart"),
            ("cart\u{a0}\u{3000}\u{2003}", "cart"),
            ("\u{200b}\u{2060}cart\u{200e}\u{180e}", "cart"),
            (" shopping \u{200d} cart ", "shopping \u{200d} cart"),
            ("\u{2028}cart\u{85}", "cart"),
            (" \u{feff}\n", ""),
        ] {
            assert_eq!(trim(given), expected, "{given:?}");
            assert_eq!(is_nothing(given), expected.is_empty(), "{given:?}");
        }
    }

    #[test]
    fn a_short_text_names_the_control_character_that_it_must_not_contain() {
        for (given, said) in [
            ("a\nb", "name must not contain the character U+000A (a line break)"),
            ("a\tb", "name must not contain the character U+0009 (a tab)"),
            ("a\0b", "name must not contain the null character"),
            ("a\u{1b}[31mb", "name must not contain the character U+001B (escape)"),
            ("a\u{9b}b", "name must not contain the character U+009B (a control character)"),
            ("a\u{2029}b", "name must not contain the character U+2029 (a paragraph separator)"),
            ("a\u{202e}b", "name must not contain the character U+202E (which changes the direction of the text)"),
            ("\u{2066}b", "name must not contain the character U+2066 (which changes the direction of the text)"),
        ] {
            assert_eq!(required("name", given, SHORT).expect_err(given).message, said);
        }
        for given in ["Größe", "👩\u{200d}🚀", "שלום\u{200f}!x", "a\u{a0}b", "می\u{200c}خواهم"] {
            assert_eq!(required("name", given, SHORT).expect(given), given);
        }
    }

    #[test]
    fn a_long_text_keeps_its_blanks_line_breaks_and_tabs() {
        for given in ["", "  indented\n\tcode\r\n", "\n", "\u{2067}שלום\u{2069} and more\u{2028}", "\u{feff}# Title\n"]
        {
            assert_eq!(long("note", given, NOTE).expect(given), given);
        }
        for given in ["a\0", "a\u{1b}[2Jb", "\u{7}", "a\u{8}b", "\u{9b}1m"] {
            let said = long("note", given, NOTE).expect_err(given).message;
            assert!(said.starts_with("note must not contain the "), "{said}");
        }
    }

    #[test]
    fn a_length_counts_characters_without_the_blanks_around_them() {
        assert!(required("name", &format!(" {} ", "ä".repeat(SHORT)), SHORT).is_ok());
        let said = required("name", &"ä".repeat(SHORT + 1), SHORT).expect_err("too long").message;
        assert_eq!(said, "name has 256 characters; at most 255 are allowed");
    }

    #[test]
    fn one_line_escapes_what_a_terminal_or_a_list_would_obey() {
        for (given, expected) in [
            ("plain é", "plain é"),
            ("a\tb\nc\rd", r"a\tb\nc\rd"),
            ("\u{1b}[31mred\u{1b}[0m", r"\u{1b}[31mred\u{1b}[0m"),
            ("a\u{202e}b\u{2028}c", r"a\u{202e}b\u{2028}c"),
            ("\u{9b}2J\0", r"\u{9b}2J\u{0}"),
        ] {
            assert_eq!(one_line(given).to_string(), expected);
        }
    }

    #[test]
    fn a_cleaned_text_is_one_line_of_at_most_the_given_length() {
        assert_eq!(cleaned("\n Ada\u{1b}\tLovelace \0", SHORT), "Ada  Lovelace");
        assert_eq!(cleaned("Ada Lovelace", 4), "Ada");
        assert_eq!(cleaned("\n", SHORT), "");
    }
}
