//! Works around apollo-parser 0.8 where it differs from the specification's grammar. Runs before the parser.
//!
//! Every character keeps its offset, so that errors point into the original text. The comparison with graphql-js in
//! `tests/graphql-js-validation` finds such differences.

use std::borrow::Cow;
use std::ops::Range;

use apollo_compiler::parser::Parser;

/// A syntax error that the parser would miss: its byte offset and message.
pub(super) type Mistake = (usize, &'static str);

/// Returns the text in a form that the parser reads correctly.
///
/// - Commas between tokens become spaces. The parser's lookahead skips spaces but not commas (`alias ,: field`).
/// - Descriptions of operations, variables and fragments become spaces. The parser does not know them.
/// - An argument or input field name without a colon is refused. The parser would drop it.
/// - A string that contains a line break is refused.
pub(super) fn normal(text: &str) -> Result<Cow<'_, str>, Mistake> {
    let bytes = text.as_bytes();
    let mut normal = Cow::Borrowed(bytes);
    let mut tokens = Tokens::default();
    let mut at = 0;
    let mut blank = |place: Range<usize>| {
        normal.to_mut()[place].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    };
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let length = match byte {
            b',' => {
                blank(at..at + 1);
                1
            }
            b' ' | b'\t' | b'\n' | b'\r' => 1,
            b'#' => while_is(rest, |byte| !matches!(byte, b'\n' | b'\r')),
            b'"' => {
                tokens.see(byte, at)?;
                let length = if rest.starts_with(b"\"\"\"") { block_string(rest) } else { string(rest, at)? };
                tokens.text = at..at + length;
                length
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let length = while_is(rest, |byte| byte == b'_' || byte.is_ascii_alphanumeric());
                if tokens.describes(&rest[..length]) && is_string(text, &tokens.text) {
                    blank(tokens.text.clone());
                }
                tokens.see(NAME, at)?;
                length
            }
            b'$' => {
                if tokens.describes(b"$") && is_string(text, &tokens.text) {
                    blank(tokens.text.clone());
                }
                tokens.see(byte, at)?;
                1
            }
            b'-' | b'0'..=b'9' => {
                tokens.see(byte, at)?;
                while_is(rest, |byte| b"+-._".contains(&byte) || byte.is_ascii_alphanumeric())
            }
            // Punctuation. The parser refuses other bytes itself.
            _ => {
                if byte.is_ascii() {
                    tokens.see(byte, at)?;
                }
                1
            }
        };
        at += length;
    }
    // ASCII bytes replaced ASCII bytes, so the text is still valid UTF-8.
    Ok(match normal {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned),
    })
}

/// The token of a name. Punctuation is represented by its own byte.
const NAME: u8 = b'a';

/// The token of an input object's opening brace. Other brackets are represented by their own byte.
const OBJECT: u8 = b'o';

/// The lexical state that the checks need.
#[derive(Default)]
struct Tokens {
    open: Vec<u8>,
    last: u8,
    /// The token before `last`.
    last_but_one: u8,
    /// The location of the last string.
    text: Range<usize>,
    /// The offset of an argument or input field name, if that was the last token.
    key: Option<usize>,
}

impl Tokens {
    fn see(&mut self, token: u8, at: usize) -> Result<(), Mistake> {
        if let Some(key) = self.key.take()
            && token != b':'
        {
            return Err((key, "syntax error: expected a colon and a value after the name"));
        }
        let inside = self.open.last().copied();
        match token {
            b'(' | b'[' => self.open.push(token),
            // Inside arguments and lists, a brace opens an object and not a selection set.
            b'{' => self.open.push(if matches!(inside, Some(b'(' | b'[' | OBJECT)) { OBJECT } else { b'{' }),
            b')' | b']' | b'}' => drop(self.open.pop()),
            NAME if matches!(inside, Some(b'(' | OBJECT)) && !b":=$@".contains(&self.last) => self.key = Some(at),
            _ => {}
        }
        self.last_but_one = self.last;
        self.last = token;
        Ok(())
    }

    /// Whether the last token is the description of the definition that starts with `token`.
    fn describes(&self, token: &[u8]) -> bool {
        self.last == b'"'
            && match self.open[..] {
                [] => {
                    let begins = [&b"query"[..], b"mutation", b"subscription", b"fragment"].contains(&token);
                    begins && matches!(self.last_but_one, 0 | b'}')
                }
                [b'('] => token == b"$" && !matches!(self.last_but_one, b':' | b'='),
                _ => false,
            }
    }
}

/// Whether the parser accepts a description as a string. Other descriptions stay in the text, and the parser refuses
/// them.
fn is_string(text: &str, place: &Range<usize>) -> bool {
    let string = text.get(place.clone()).unwrap_or_default();
    Parser::new().parse_ast(format!("{{a(b:{string})}}"), "description").is_ok()
}

/// Counts the leading bytes that match `is`.
pub(super) fn while_is(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is(*byte)).unwrap_or(bytes.len())
}

/// Returns the length of a string. An unterminated string extends to the end; the parser refuses it.
fn string(bytes: &[u8], at: usize) -> Result<usize, Mistake> {
    let mut length = 1;
    loop {
        match bytes.get(length) {
            None => return Ok(bytes.len()),
            Some(b'"') => return Ok(length + 1),
            Some(b'\\') => length += 2,
            Some(b'\n' | b'\r') => return Err((at + length, "syntax error: a line ends inside a string")),
            Some(_) => length += 1,
        }
    }
}

fn block_string(bytes: &[u8]) -> usize {
    let mut length = 3;
    while let Some(rest) = bytes.get(length..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(b"\"\"\"") {
            return length + 3;
        }
        length += if rest.starts_with(b"\\\"\"\"") { 4 } else { 1 };
    }
    bytes.len()
}
