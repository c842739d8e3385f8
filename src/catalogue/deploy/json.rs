//! Reads JSON as senders write it: a body's attributes as they stand in the text, so that no digit of a number is lost,
//! and JSON with slips that change no meaning.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

/// An attribute of an object: its name, and the text of its value.
pub(super) type Attribute<'t> = (Cow<'t, str>, &'t str);

/// The attributes of an object, in order. Their values are checked, but not read.
#[derive(Debug, Default)]
pub(super) struct Object<'t>(pub Vec<Attribute<'t>>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Attributes;

        impl<'de> Visitor<'de> for Attributes {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut attributes = Vec::with_capacity(16);
                while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    attributes.push((name, value.get()));
                }
                Ok(Object(attributes))
            }
        }

        deserializer.deserialize_map(Attributes)
    }
}

/// A name, borrowed where it has no escapes.
struct Name<'t>(Cow<'t, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_bytes<E: de::Error>(self, name: &'de [u8]) -> Result<Name<'de>, E> {
                Ok(Name(String::from_utf8_lossy(name)))
            }

            fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Name<'de>, E> {
                Ok(Name(String::from_utf8_lossy(name).into_owned().into()))
            }
        }

        // As bytes, so that half a surrogate pair in a name that nobody knows refuses no object.
        deserializer.deserialize_bytes(Text)
    }
}

/// A JSON value. Numbers are the digits that were sent; lists and objects are not read yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value<'t> {
    Null,
    Bool(bool),
    Number(&'t str),
    /// With whether half a surrogate pair was replaced in it.
    Text(String, bool),
    List(&'t str),
    Object(&'t str),
}

impl<'t> Value<'t> {
    /// Reads the text of a value that is JSON.
    pub(super) fn from_json(text: &'t str) -> Self {
        match text.as_bytes().first() {
            Some(b'"') => Self::from_string(text),
            Some(b'{') => Self::Object(text),
            Some(b'[') => Self::List(text),
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number(text),
        }
    }

    fn from_string(text: &str) -> Self {
        match text.get(1..text.len() - 1) {
            Some(plain) if !plain.contains('\\') => Self::Text(plain.to_owned(), false),
            _ => match serde_json::from_str(text) {
                Ok(text) => Self::Text(text, false),
                Err(_) => Self::Text(unescaped(text), true),
            },
        }
    }

    /// Its type, with an article.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(..) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// The items of a list, if there are at most `most`.
pub(super) fn items(list: &str, most: usize) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    (items.len() <= most).then(|| items.into_iter().map(RawValue::get).collect())
}

/// Reads a text in which an escape stands for half a surrogate pair, which is no character. Such halves are replaced.
fn unescaped(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut letters = text.get(1..text.len().saturating_sub(1)).unwrap_or_default().chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            whole.push(letter);
            continue;
        }
        whole.push(match letters.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
                let (after, first) = (letters.as_str(), unit(letters.as_str()).unwrap_or_default());
                let after = after.get(4..).unwrap_or_default();
                let second = after.strip_prefix("\\u").and_then(unit);
                let decoded = |units: &[u16]| char::decode_utf16(units.iter().copied()).next()?.ok();
                let single = decoded(&[first]);
                let pair = second.filter(|_| single.is_none()).and_then(|second| decoded(&[first, second]));
                letters = if pair.is_some() { &after[6..] } else { after }.chars();
                single.or(pair).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other.unwrap_or('\\'),
        });
    }
    whole
}

/// JSON, without blanks around it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mended<'t> {
    /// The JSON.
    pub text: Cow<'t, str>,
    /// What was mended in it.
    pub notes: Vec<String>,
}

/// Checks that a text is JSON of any kind, or mends it.
///
/// # Errors
/// It is not JSON, and cannot be mended.
pub(super) fn checked(text: &str) -> Result<Mended<'_>, serde_json::Error> {
    let is_json = |text: &str| serde_json::from_str::<&RawValue>(text).map(drop);
    let Err(wrong) = is_json(text) else { return Ok(Mended { text: text.trim().into(), notes: Vec::new() }) };
    match mended(text).filter(|(mended, _)| is_json(mended).is_ok()) {
        Some((mended, notes)) => {
            let notes = notes.iter().map(|note| format!("the body is not JSON as it was sent: {note}")).collect();
            Ok(Mended { text: mended.trim().to_owned().into(), notes })
        }
        None => Err(wrong),
    }
}

/// Whether a text is JSON objects one after the other, as `jq -c` prints them.
pub(super) fn are_several(text: &str) -> bool {
    let mut objects = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut next = || objects.next().is_some_and(|value| value.is_ok_and(|value| value.get().starts_with('{')));
    next() && next()
}

/// Mends what senders get slightly wrong where the meaning is clear, as in JSON that a shell has put together: line breaks
/// and other control characters in texts, escapes that JSON does not have, texts in single quotation marks, numbers with
/// leading zeros and words without quotation marks, a comma after the last item, zeros after the end. `None` if there is
/// nothing of that kind. Takes time in proportion to the text. The result may still not be JSON.
fn mended(text: &str) -> Option<(String, Vec<&'static str>)> {
    let mut mender = Mender { rest: text, whole: String::with_capacity(text.len() + 64), notes: Vec::new() };
    while let Some(letter) = mender.rest.chars().next() {
        match letter {
            '"' => mender.text('"')?,
            '\'' => {
                mender.note("texts in single quotation marks were understood");
                mender.text('\'')?;
            }
            '\0' => mender.skip("null characters beside the values were removed"),
            '\u{feff}' | '\u{a0}' => mender.skip("signs that cannot be seen were removed beside the values"),
            '}' | ']' => {
                let kept = mender.whole.trim_end().len();
                if mender.whole[..kept].ends_with(',') {
                    mender.whole.truncate(kept - 1);
                    mender.note("a comma after the last item was removed");
                }
                mender.keep(letter);
            }
            '{' | '[' | ',' | ':' | ' ' | '\t' | '\r' | '\n' => mender.keep(letter),
            _ => mender.word()?,
        }
    }
    (!mender.notes.is_empty()).then_some((mender.whole, mender.notes))
}

struct Mender<'t> {
    rest: &'t str,
    whole: String,
    notes: Vec<&'static str>,
}

impl Mender<'_> {
    fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Copies the next letter.
    fn keep(&mut self, letter: char) {
        self.whole.push(letter);
        self.rest = &self.rest[letter.len_utf8()..];
    }

    /// Leaves the next letter out.
    fn skip(&mut self, note: &'static str) {
        self.note(note);
        let mut letters = self.rest.chars();
        letters.next();
        self.rest = letters.as_str();
    }

    /// A text between two of these marks. `None` if it does not end.
    fn text(&mut self, mark: char) -> Option<()> {
        self.whole.push('"');
        self.rest = &self.rest[mark.len_utf8()..];
        loop {
            let special = |letter: char| letter == mark || matches!(letter, '"' | '\\' | '\0'..='\u{1f}');
            let (before, rest) = self.rest.split_at(self.rest.find(special)?);
            self.whole.push_str(before);
            self.rest = rest;
            match rest.chars().next()? {
                end if end == mark => {
                    self.whole.push('"');
                    self.rest = &self.rest[mark.len_utf8()..];
                    return Some(());
                }
                '"' => {
                    self.whole.push('\\');
                    self.keep('"');
                }
                '\\' => self.escape()?,
                control => {
                    self.skip("control characters in texts were escaped");
                    self.control(control);
                }
            }
        }
    }

    fn control(&mut self, control: char) {
        // Writing to memory cannot fail.
        let _ = write!(self.whole, "\\u{:04x}", u32::from(control));
    }

    fn escape(&mut self) -> Option<()> {
        let after = &self.rest[1..];
        let next = after.chars().next()?;
        let hex = || after.get(1..5).is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match next {
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                self.keep('\\');
                self.keep(next);
            }
            'u' if hex() => self.keep('\\'),
            // What shells and other languages escape.
            '\'' => {
                self.skip("escapes that JSON does not have were taken literally");
                self.keep(next);
            }
            _ => {
                self.skip("escapes that JSON does not have were taken literally");
                self.whole.push_str("\\\\");
            }
        }
        Some(())
    }

    /// A word without quotation marks. `None` if it has other signs than those of numbers and hashes.
    fn word(&mut self) -> Option<()> {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "+-._".contains(letter);
        let length = self.rest.find(|letter| !is_of_word(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        match word {
            "" => return None,
            "true" | "false" | "null" => self.whole.push_str(word),
            "True" | "False" => {
                self.note("words of other languages than JSON were understood");
                self.whole.push_str(&word.to_ascii_lowercase());
            }
            "None" | "nil" | "NULL" | "Null" | "NaN" | "undefined" => {
                self.note("words of other languages than JSON were understood");
                self.whole.push_str("null");
            }
            word if serde_json::from_str::<&RawValue>(word).is_ok() => self.whole.push_str(word),
            word => {
                self.note("words without quotation marks were taken as texts");
                self.whole.extend(["\"", word, "\""]);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_that_change_no_meaning_are_mended() {
        for (text, expected) in [
            ("{\"a\":\"one\ntwo\tthree\"}", r#"{"a":"one\u000atwo\u0009three"}"#),
            ("{\"a\":\"\u{1b}[32mok\"}", r#"{"a":"\u001b[32mok"}"#),
            (r#"{"a":"it\'s C:\dir\x \$1 \u12"}"#, r#"{"a":"it's C:\\dir\\x \\$1 \\u12"}"#),
            (r#"{"a":1,"b":[2,],}"#, r#"{"a":1,"b":[2]}"#),
            (r#"{"a":007,"b":+5,"c":38d02f1,"d":1.5}"#, r#"{"a":"007","b":"+5","c":"38d02f1","d":1.5}"#),
            (r#"{"a":True,"b":None,"c":NaN}"#, r#"{"a":true,"b":null,"c":null}"#),
            ("{\"a\":1}\0\0", r#"{"a":1}"#),
            ("\u{feff}{\"a\":\u{a0}1}", r#"{"a":1}"#),
            ("{'a': 'b', 'c': [True, None]}", r#"{"a": "b", "c": [true, null]}"#),
            (r#"{'a': 'say "hi"', "it's": "x"}"#, r#"{"a": "say \"hi\"", "it's": "x"}"#),
            (r"{'a': 'it\'s', 'b': 'one\ntwo'}", r#"{"a": "it's", "b": "one\ntwo"}"#),
            (r#"'{"a":1}'"#, r#""{\"a\":1}""#),
            ("{'a':''}", r#"{"a":""}"#),
        ] {
            let mended = checked(text).expect(text);
            assert_eq!(mended.text, expected, "{text}");
            assert!(!mended.notes.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_is_right_is_left_as_it_is_and_what_is_unclear_is_refused() {
        for text in ["{}", r#"{"a":"b\u00e9\n"}"#, "[1e999, null]", r#""\ud83d""#] {
            assert_eq!(checked(text).expect(text), Mended { text: text.into(), notes: Vec::new() });
        }
        for text in [
            "",
            r#"{"a":"say "hi"!"}"#,
            r#"{"a":"say "hi""}"#,
            "service=shop&x=1",
            "{'a':'it's'}",
            "{'a:1}",
            "{\"a\":\"b\n",
            "<a/>",
            "{} {}",
        ] {
            assert!(checked(text).is_err(), "{text}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_a_whole_one_is_not() {
        for (text, expected) in [
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ud83d\ude80""#, "🚀"),
            (r#""\ud83d\ude80\ud83d""#, "🚀\u{fffd}"),
            (r#""\ude80\ud83d\u0041""#, "\u{fffd}\u{fffd}A"),
            (r#""\\ud83d \ud83d""#, "\\ud83d \u{fffd}"),
            (r#""\"\ud83d""#, "\"\u{fffd}"),
        ] {
            match Value::from_json(text) {
                Value::Text(read, _) => assert_eq!(read, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_value_keeps_the_digits_that_were_sent() {
        for digits in ["412", "-0", "1e5", "12345678901234567890123", "1.50", "9007199254740993"] {
            assert_eq!(Value::from_json(digits), Value::Number(digits));
        }
    }
}
