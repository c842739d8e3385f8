//! Reads the attributes of a JSON object one by one. Collects mistakes, which refuse the post, and notes, which say how
//! what was recorded differs from what was sent.

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::json::{Attribute, Object, Value, items};
use super::moment;
use crate::entity::Timestamp;
use crate::entity::text::{self, SHORT};
use crate::error::{quoted, shortened};

/// A mistake in a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// `<Field> Error`.
    pub title: String,
    /// One sentence.
    pub detail: String,
    /// What to send instead, if the sentence does not say it.
    pub hint: Option<Cow<'static, str>>,
}

impl Mistake {
    /// A mistake about the attribute at a path: `commit.committer_name` becomes `Commit committer name Error`.
    pub(super) fn about(path: &str, detail: String) -> Self {
        let mut field = path.replace(['_', '.'], " ");
        if let Some(first) = field.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self { title: format!("{field} Error"), detail, hint: None }
    }
}

/// What is said about a post.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub mistakes: Vec<Mistake>,
    pub notes: Vec<String>,
    /// Whether characters of the body were replaced, because they are none.
    pub is_lossy: bool,
}

/// What to do with a text that cannot be stored as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// It is only shown: it is cut, and other control characters than line breaks and tabs are removed.
    Lines(usize),
    /// The same for a text of one line: line breaks become blanks.
    Line(usize),
    /// It tells things apart, and two different texts must stay different: a long one becomes its beginning and its hash.
    Key,
    /// The same for what nothing may be confused with: if bytes of it were replaced, the post is refused.
    Unique,
    /// It names one thing, and nothing else will do: the text is left out.
    Exact,
    /// It names the service: the post is refused.
    Required,
}

/// Whether an attribute must be there, and whether it is a date and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Optional,
    OptionalMoment,
    Required,
    RequiredMoment,
}

/// An object whose attributes are being read.
pub(super) struct Attributes<'t, 'h> {
    object: Vec<Attribute<'t>>,
    /// The name of the attribute that holds this object.
    within: Option<&'static str>,
    heard: &'h mut Heard,
}

/// What becomes of an attribute's text, in the words of a note.
const LEFT_OUT: &str = "and is left out";

impl<'t, 'h> Attributes<'t, 'h> {
    /// The attributes of an object. A name that is none of those that are `known`, but would be in other letter case or
    /// with other marks between its words, stands for that one, unless that one is there too.
    pub(super) fn new(
        Object(mut object): Object<'t>,
        known: &[&'static str],
        within: Option<&'static str>,
        heard: &'h mut Heard,
    ) -> Self {
        let is_known = |name: &str| known.contains(&name);
        if object.iter().all(|(name, _)| is_known(name)) {
            return Self { object, within, heard };
        }
        let mut is_there: Vec<bool> = known.iter().map(|known| object.iter().any(|(name, _)| name == known)).collect();
        for (name, _) in &mut object {
            if is_known(name) {
                continue;
            }
            let meant =
                known.iter().zip(&mut is_there).find(|(known, is_there)| !**is_there && is_spelt_like(name, known));
            if let Some((meant, is_there)) = meant {
                *is_there = true;
                heard.notes.push(format!("{} is taken as {meant}", shortened(name)));
                *name = (*meant).into();
            }
        }
        Self { object, within, heard }
    }

    /// Reads a text.
    pub(super) fn text(&mut self, name: &str, rule: Rule) -> Option<String> {
        let sent = self.scalar(name, Need::Optional)?;
        self.fitted(name, sent, rule).filter(|text| !trimmed(text).is_empty())
    }

    /// Reads a required text.
    pub(super) fn required_text(&mut self, name: &str, rule: Rule) -> Option<String> {
        let sent = self.scalar(name, Need::Required)?;
        let text = self.fitted(name, sent, rule)?;
        // Nothing may be left when control characters are removed.
        if trimmed(&text).is_empty() {
            self.missing(name, None);
            return None;
        }
        Some(text)
    }

    /// Makes a text fit its rule.
    fn fitted(&mut self, name: &str, sent: String, rule: Rule) -> Option<String> {
        let sent = match rule {
            Rule::Lines(_) => sent,
            _ => self.trimmed(name, sent),
        };
        // Another text could look the same.
        let is_replaced = self.heard.is_lossy && sent.contains(char::REPLACEMENT_CHARACTER);
        if is_replaced && matches!(rule, Rule::Required | Rule::Unique) {
            self.mistake(name, |path| format!("{path} has bytes that are not UTF-8; send the body as UTF-8"));
            return None;
        }
        let length = || sent.chars().count();
        // Each character takes at least a byte.
        let is_longer = |most: usize| sent.len() > most && length() > most;
        let has_control = |kept: &[char]| {
            let may_have = |byte: u8| byte < 0x20 || matches!(byte, 0x7f | 0xc2);
            sent.bytes().any(may_have) && sent.chars().any(|letter| letter.is_control() && !kept.contains(&letter))
        };
        match rule {
            Rule::Lines(most) | Rule::Line(most) => {
                let kept: &[char] = if matches!(rule, Rule::Lines(_)) { &['\n', '\r', '\t'] } else { &[] };
                let text = match has_control(kept) {
                    true => {
                        self.note(name, |path| format!("{path} had control characters, which are removed"));
                        cleaned(&sent, kept)
                    }
                    false => sent,
                };
                Some(self.cut(name, text, most))
            }
            Rule::Key | Rule::Unique if is_longer(SHORT) || has_control(&[]) => {
                let key = self::key(&sent);
                let why = match is_longer(SHORT) {
                    true => format!("has {} characters", length()),
                    false => "has control characters".to_owned(),
                };
                self.note(name, |path| format!("{path} {why}, and is kept as its beginning and its SHA-256"));
                Some(key)
            }
            Rule::Exact if is_longer(SHORT) || has_control(&[]) => {
                self.note(name, |path| {
                    format!("{path} cannot be right: it is long or has control characters, {LEFT_OUT}")
                });
                None
            }
            Rule::Required if is_longer(SHORT) => {
                let length = length();
                self.mistake(name, |path| format!("{path} has {length} characters; at most {SHORT} are allowed"));
                None
            }
            Rule::Required if has_control(&[]) => {
                self.mistake(name, |path| format!("{path} must not contain control characters"));
                None
            }
            Rule::Key | Rule::Unique | Rule::Exact | Rule::Required => Some(sent),
        }
    }

    /// Reads a date and time.
    pub(super) fn moment(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.scalar(name, Need::OptionalMoment)?;
        match self.read_moment(name, &text) {
            Ok(read) => Some(read),
            Err(why) => {
                self.note(name, |path| format!("{path} {} {why}, {LEFT_OUT}", quoted(&text)));
                None
            }
        }
    }

    /// Reads a required date and time.
    pub(super) fn required_moment(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.scalar(name, Need::RequiredMoment)?;
        match self.read_moment(name, &text) {
            Ok(read) => Some(read),
            Err(why) => {
                self.mistake(name, |path| format!("{path} {} {why}", quoted(&text)));
                None
            }
        }
    }

    /// Reads a date and time. Otherwise says why it is none, as the rest of a sentence.
    fn read_moment(&mut self, name: &str, text: &str) -> Result<Timestamp, &'static str> {
        let moment = moment::read(text)?;
        if let Some(assumed) = moment.assumed {
            self.note(name, |path| format!("{path} {assumed}: {}", moment.at));
        }
        Ok(moment.at)
    }

    /// Reads an object with these attributes. An empty one counts as absent. `instead` reads a text in the place of the
    /// object.
    pub(super) fn object<T>(
        &mut self,
        name: &'static str,
        known: &[&'static str],
        read: impl FnOnce(&mut Attributes<'t, '_>) -> T,
        instead: impl FnOnce(String) -> Option<(T, &'static str)>,
    ) -> Result<Option<T>, Value<'t>> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::Object(text)) => {
                let object: Object<'t> = serde_json::from_str(text).unwrap_or_default();
                if object.0.is_empty() {
                    return Ok(None);
                }
                Ok(Some(read(&mut Attributes::new(object, known, Some(name), self.heard))))
            }
            Some(Value::Text(text, _)) => match instead(text.clone()) {
                Some((value, taken)) => {
                    self.note(name, |path| format!("{path} is a text, and is taken as {taken}"));
                    Ok(Some(value))
                }
                None => Err(Value::Text(text, false)),
            },
            Some(other) => Err(other),
        }
    }

    /// Reports a missing attribute, in the words that existing clients of the webhook expect.
    pub(super) fn missing(&mut self, name: &str, hint: Option<&'static str>) {
        let path = self.path(name);
        let mistake = Mistake::about(&path, format!("param is missing or the value is empty: {path}"));
        self.heard.mistakes.push(Mistake { hint: hint.map(Cow::Borrowed), ..mistake });
    }

    /// Reports a value of the wrong type.
    pub(super) fn wrong_type(&mut self, name: &str, expected: &str, found: &Value<'_>) {
        let found = found.kind();
        self.mistake(name, |path| format!("{path} must be {expected}, not {found}"));
    }

    /// Says that an attribute is left out because of its type.
    pub(super) fn left_out(&mut self, name: &str, found: &Value<'_>) {
        let found = found.kind();
        self.note(name, |path| format!("{path} is {found}, {LEFT_OUT}"));
    }

    /// The value of an attribute, unless it counts as absent. The last of several counts. A list of one counts as its item.
    fn given(&mut self, name: &str) -> Option<Value<'t>> {
        let text: &'t str = self.object.iter().rev().find_map(|(given, text)| (given == name).then_some(*text))?;
        let mut value = Value::from_json(text);
        if let Value::List(list) = value {
            match items(list, 1).as_deref() {
                Some([]) => return None,
                Some([only]) => value = Value::from_json(only),
                _ => {}
            }
        }
        match value {
            Value::Null => None,
            Value::Text(text, is_lossy) => {
                self.heard.is_lossy |= is_lossy;
                (!trimmed(&text).is_empty()).then_some(Value::Text(text, is_lossy))
            }
            other => Some(other),
        }
    }

    /// The text of an attribute. A number is taken as its digits.
    fn scalar(&mut self, name: &str, need: Need) -> Option<String> {
        let is_required = matches!(need, Need::Required | Need::RequiredMoment);
        match self.given(name) {
            None => {
                if is_required {
                    self.missing(name, None);
                }
                None
            }
            Some(Value::Text(text, is_lossy)) => {
                if is_lossy {
                    self.note(name, |path| format!("{path} had half a surrogate pair, which is replaced by \u{fffd}"));
                }
                Some(text)
            }
            // Times are often numbers.
            Some(Value::Number(digits)) if matches!(need, Need::RequiredMoment | Need::OptionalMoment) => {
                Some(digits.to_owned())
            }
            Some(Value::Number(digits)) => {
                self.note(name, |path| format!("{path} is a number, and is taken as the text {}", shortened(digits)));
                Some(digits.to_owned())
            }
            Some(Value::Bool(is)) => {
                self.note(name, |path| format!("{path} is a boolean, and is taken as the text {is}"));
                Some(is.to_string())
            }
            Some(found) => {
                match is_required {
                    true => self.wrong_type(name, "a string", &found),
                    false => self.left_out(name, &found),
                }
                None
            }
        }
    }

    fn trimmed(&mut self, name: &str, sent: String) -> String {
        let kept = trimmed(&sent);
        if kept.len() == sent.len() {
            return sent;
        }
        self.note(name, |path| format!("blanks around {path} are removed"));
        kept.to_owned()
    }

    fn cut(&mut self, name: &str, mut text: String, most: usize) -> String {
        if text.len() > most
            && let Some((end, _)) = text.char_indices().nth(most)
        {
            let length = text.chars().count();
            text.truncate(end);
            self.note(name, |path| format!("{path} has {length} characters; the first {most} are kept"));
        }
        text
    }

    fn path(&self, name: &str) -> String {
        self.within.map_or_else(|| name.to_owned(), |object| format!("{object}.{name}"))
    }

    fn note(&mut self, name: &str, note: impl FnOnce(&str) -> String) {
        let path = self.path(name);
        self.heard.notes.push(note(&path));
    }

    fn mistake(&mut self, name: &str, detail: impl FnOnce(&str) -> String) {
        let path = self.path(name);
        self.heard.mistakes.push(Mistake::about(&path, detail(&path)));
    }
}

/// A text without the blanks around it. Zeros, which end the texts of some languages, count as blanks.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|letter| text::is_blank(letter) || letter == '\0')
}

/// A text without control characters but these. Line breaks and tabs become blanks.
fn cleaned(text: &str, kept: &[char]) -> String {
    let clean = |letter: char| match letter {
        _ if !letter.is_control() || kept.contains(&letter) => Some(letter),
        '\n' | '\t' => Some(' '),
        _ => None,
    };
    text.chars().filter_map(clean).collect()
}

/// A key of at most [`SHORT`] characters for any text: its beginning, and its hash, so that different texts have different
/// keys, and one text always has the same.
fn key(text: &str) -> String {
    let hash = HEXLOWER.encode(&Sha256::digest(text));
    let start = text.chars().filter(|letter| !letter.is_control()).take(SHORT - hash.len() - 1);
    start.chain(['…']).chain(hash.chars()).collect()
}

/// Whether two names differ only in letter case, and in the marks between their words.
pub(super) fn is_spelt_like(name: &str, known: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> + '_ {
        text.bytes().filter(|byte| !b"_- .".contains(byte)).map(|byte| byte.to_ascii_lowercase())
    }
    letters(name).eq(letters(known))
}
