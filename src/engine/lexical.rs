//! Where apollo-parser 0.8 departs from the specification's grammar, put right before it reads a text.
//!
//! Every character keeps its place, so that errors point into the text as it was sent. The comparison with graphql-js
//! in `tests/graphql-js-validation` is what found these places, and finds the next.

use std::borrow::Cow;
use std::ops::Range;

use apollo_compiler::parser::Parser;

/// A mistake that the parser would let pass: the byte at which it is, and what it is.
pub(super) type Mistake = (usize, &'static str);

/// The text as the parser should read it.
///
/// Commas between tokens become blanks: when the parser looks ahead it looks past blanks, but not past commas
/// (`alias ,: field`). So do descriptions of operations, variables and fragments, which it does not know. A name of an argument or an input field that no colon follows is refused, where the parser would
/// leave it out, and so is a string that begins with the end of a line.
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
            // The marks; in other bytes the parser finds the mistake, if there is one.
            _ => {
                if byte.is_ascii() {
                    tokens.see(byte, at)?;
                }
                1
            }
        };
        at += length;
    }
    // Only ASCII was put in the place of ASCII.
    Ok(match normal {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned),
    })
}

/// Stands for a name among the bytes that stand for themselves.
const NAME: u8 = b'a';

/// Stands for the brace of an input object, as the other brackets stand for themselves.
const OBJECT: u8 = b'o';

/// What must be known of the tokens so far.
#[derive(Default)]
struct Tokens {
    open: Vec<u8>,
    last: u8,
    /// Before that.
    last_but_one: u8,
    /// Where the last string is.
    text: Range<usize>,
    /// The name of an argument or of an input field, if that was last.
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
            // Arguments and lists hold values alone, and no selections.
            b'{' => self.open.push(if matches!(inside, Some(b'(' | b'[' | OBJECT)) { OBJECT } else { b'{' }),
            b')' | b']' | b'}' => drop(self.open.pop()),
            NAME if matches!(inside, Some(b'(' | OBJECT)) && !b":=$@".contains(&self.last) => self.key = Some(at),
            _ => {}
        }
        self.last_but_one = self.last;
        self.last = token;
        Ok(())
    }

    /// Whether the last token is a description of what begins with this one.
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

/// Whether the parser takes a description for a string; one that it does not is left for it to refuse.
fn is_string(text: &str, place: &Range<usize>) -> bool {
    let string = text.get(place.clone()).unwrap_or_default();
    Parser::new().parse_ast(format!("{{a(b:{string})}}"), "description").is_ok()
}

/// How many bytes at the start are such ones.
pub(super) fn while_is(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is(*byte)).unwrap_or(bytes.len())
}

/// The length of a string; of one without an end, which the parser refuses, all that is left.
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
