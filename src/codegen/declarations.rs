//! What the hand-written code says about fields: the macro `fields!` of the module `types`.
//!
//! ```text
//! fields! {
//!     Team {
//!         computed: htmlUrl;
//!         key owner_id: services;
//!         through team_membership: members;
//!     }
//! }
//! ```
//!
//! Each declaration keeps its place in the text, where mistakes are reported. Here it is only read; [`emit`](super::emit)
//! checks it against the SDL and the entities.

use std::collections::BTreeMap;
use std::ops::Range;

use super::diagnostics::Problem;
use super::source::LineStarts;

/// The macro's name.
pub(super) const FIELDS: &str = "fields";

/// The words that say how a field is found. No group of columns may have one as its name.
pub(super) const WORDS: &[&str] = &["core", "row", COMPUTED, KEY, THROUGH];

const COMPUTED: &str = "computed";
const KEY: &str = "key";
const THROUGH: &str = "through";

const FORM: &str = "write `Type { part: field, field; computed: field; key column: field; through table: field; }`";

/// All declarations, by the name of the type.
pub(super) type Declarations = BTreeMap<String, Vec<Declaration>>;

/// What is said about one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) object: Word,
    pub(super) field: Word,
    pub(super) how: How,
    /// The place of what precedes the colon.
    pub(super) place: Range<usize>,
}

/// A name, with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) place: Range<usize>,
}

/// How a field is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum How {
    /// By a hand-written method, which gets this part of the row.
    Part(String),
    /// For all parents at once, although it is a scalar without arguments.
    Computed,
    /// As the rows with this column, which refers to the parent.
    Key(String),
    /// As the rows that this table of links connects with the parent.
    Through(String),
}

impl How {
    /// Whether a field can have both: a method that gets a part of each row, for all rows at once.
    fn goes_with(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Part(_), Self::Computed) | (Self::Computed, Self::Part(_)))
    }
}

/// Reads every `fields! { … }` of a Rust source. `count` is how many there are.
///
/// # Errors
/// The first declaration that is not one, or that says something about a field twice.
pub(super) fn read(source: &str, count: usize) -> Result<Declarations, Problem> {
    let tokens = tokens(source);
    let mut reader = Reader { source, tokens: &tokens, read: BTreeMap::new() };
    let mut found = 0;
    while !reader.tokens.is_empty() {
        if [FIELDS, "!", "{"].iter().enumerate().all(|(at, text)| reader.text(at) == *text) {
            reader.tokens = &reader.tokens[3..];
            reader.body()?;
            found += 1;
        } else {
            reader.tokens = &reader.tokens[1..];
        }
    }
    if found != count {
        let message = format!("only {found} of {count} `{FIELDS}!` can be read");
        return Err(Problem::new(None, message, Some(format!("write `{FIELDS}! {{ … }}`, with braces"))));
    }
    Ok(reader.read)
}

struct Reader<'a> {
    source: &'a str,
    /// The places of the tokens that are left.
    tokens: &'a [Range<usize>],
    read: Declarations,
}

impl<'a> Reader<'a> {
    /// The text of a token that is left. Empty after the last.
    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |place| &self.source[place.clone()])
    }

    /// The types with their declarations, up to the closing brace.
    fn body(&mut self) -> Result<(), Problem> {
        while !self.takes("}") {
            let object = self.word("the name of a type")?;
            self.expect("{")?;
            if self.text(0) == "}" {
                let message = format!("nothing is declared for `{}`", object.text);
                return Err(Problem::new(Some(object.place), message, Some("remove it".to_owned())));
            }
            while !self.takes("}") {
                self.fields(&object)?;
            }
        }
        Ok(())
    }

    /// `how: field, field;`
    fn fields(&mut self, object: &Word) -> Result<(), Problem> {
        let word = self.word("how fields are found")?;
        let mut place = word.place.clone();
        let mut argument = |reader: &mut Self, what| {
            let name = reader.word(what)?;
            place.end = name.place.end;
            Ok(name.text)
        };
        let how = match word.text.as_str() {
            COMPUTED => How::Computed,
            KEY => How::Key(argument(self, "the name of a column")?),
            THROUGH => How::Through(argument(self, "the name of a table")?),
            _ => How::Part(word.text),
        };
        self.expect(":")?;
        loop {
            let field = self.word("the name of a field")?;
            self.add(Declaration { object: object.clone(), field, how: how.clone(), place: place.clone() })?;
            if self.takes(";") {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    fn add(&mut self, new: Declaration) -> Result<(), Problem> {
        let all = self.read.entry(new.object.text.clone()).or_default();
        if let Some(old) = all.iter().find(|old| old.field.text == new.field.text && !old.how.goes_with(&new.how)) {
            let message = format!("`{}.{}` is declared twice", new.object.text, new.field.text);
            let line = LineStarts::new(self.source).number(old.field.place.start);
            return Err(Problem::new(
                Some(new.field.place),
                message,
                Some(format!("keep one; line {line} has it too")),
            ));
        }
        all.push(new);
        Ok(())
    }

    fn word(&mut self, what: &str) -> Result<Word, Problem> {
        let text = self.text(0);
        if !text.starts_with(is_in_word) {
            return Err(self.unexpected(what));
        }
        let place = self.tokens[0].clone();
        self.tokens = &self.tokens[1..];
        Ok(Word { text: text.to_owned(), place })
    }

    fn expect(&mut self, text: &str) -> Result<(), Problem> {
        if self.takes(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    /// Takes the next token if it is this one.
    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.text(0) == text;
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let end = self.source.trim_end().len();
        let place = self.tokens.first().cloned().unwrap_or(end..end);
        let found = if self.tokens.is_empty() { "the end".to_owned() } else { format!("`{}`", self.text(0)) };
        Problem::new(Some(place), format!("expected {wanted}, found {found}"), Some(FORM.to_owned()))
    }
}

fn is_in_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The places of words and signs in a Rust source, without comments and texts.
fn tokens(source: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => quoted(rest, '"'),
            '\'' if rest.chars().nth(1) == Some('\\') || rest.chars().nth(2) == Some('\'') => quoted(rest, '\''),
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let is_word = is_in_word(first);
                let word = rest.find(|c| !is_in_word(c)).unwrap_or(rest.len());
                let length = if is_word { word } else { first.len_utf8() };
                tokens.push(at..at + length);
                length
            }
        };
        at += length;
    }
    tokens
}

/// The length of a text in quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::super::bindings::Bindings;

    /// The report for a module `types` of this content.
    fn said(source: &str) -> String {
        Bindings::read("types.rs", source).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
    }

    #[test]
    fn declarations_are_found_wherever_they_are() {
        let source = "macro_rules! fields { ($($all:tt)*) => {}; }
            // fields! { not this }
            pub const NO: &str = \"fields! { nor this \\\" \"; pub const QUOTE: char = '\"';
            fields! { Poem { core: id, motto; /* both */ computed: motto; } }
            fields! { Poet { key poet_id: poems; through fondness: liked, type; } Poem { row: type; } }";
        assert_eq!(said(source), "");
        let bindings = Bindings::read("types.rs", source).expect("declarations");
        let all: Vec<_> = bindings.declarations().map(|it| format!("{} {:?}", it.field.text, it.how)).collect();
        let poem = ["id Part(\"core\")", "motto Part(\"core\")", "motto Computed", "type Part(\"row\")"];
        let poet = ["poems Key(\"poet_id\")", "liked Through(\"fondness\")", "type Through(\"fondness\")"];
        assert_eq!(all, [poem.as_slice(), poet.as_slice()].concat());
    }

    #[test]
    fn what_is_no_declaration_is_reported_at_its_line() {
        for (body, place, message) in [
            ("Poem { core: id, id; }", "2:18", "`Poem.id` is declared twice"),
            ("Poem { core: id; key x: id; }", "2:25", "`Poem.id` is declared twice"),
            ("Poem { computed: id; through x: id; }", "2:33", "`Poem.id` is declared twice"),
            ("Poem {}", "2:1", "nothing is declared for `Poem`"),
            ("Poem { core id; }", "2:13", "expected `:`, found `id`"),
            ("Poem { core: id }", "2:17", "expected `,`, found `}`"),
            ("Poem { core: ; }", "2:14", "expected the name of a field, found `;`"),
            ("Poem { key: id; }", "2:11", "expected the name of a column, found `:`"),
            ("Poem { through: id; }", "2:15", "expected the name of a table, found `:`"),
            ("Poem core: id;", "2:6", "expected `{`, found `core`"),
        ] {
            let said = said(&format!("fields! {{\n{body}\n}}"));
            assert!(said.starts_with(&format!("types.rs:{place}: {message}\n{body}\n")), "{body}: {said}");
        }
    }

    #[test]
    fn the_other_declaration_of_a_field_is_named() {
        let twice = said("fields! {\n  Poem { core: id; }\n}\nfields! { Poem { row: id; } }");
        assert!(twice.contains("types.rs:4:23: ") && twice.contains("help: keep one; line 2 has it too"), "{twice}");
        let unread = said("fields!(Poem { core: id; });");
        assert!(unread.contains("only 0 of 1 `fields!` can be read"), "{unread}");
    }
}
