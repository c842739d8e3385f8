//! Filters (RFC 7644, section 3.4.2.2), and the paths of operations (section 3.5.2), which contain them.

use serde_json::Value;

use super::attributes::without_urn;
use super::error::{Refusal, ScimType};

/// The longest filter, in bytes.
pub const LONGEST: usize = 2_000;
/// The most comparisons of a filter.
pub const MOST_TERMS: usize = 20;
/// How deep parentheses and brackets may be nested.
pub const DEEPEST: usize = 10;

/// A filter.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// An attribute compares so with a value.
    Compare(Attribute, Op, Value),
    /// An attribute has a value.
    Present(Attribute),
    /// Of an attribute with several values, one is so.
    Within(Attribute, Box<Self>),
    /// Both.
    And(Box<Self>, Box<Self>),
    /// One of them, or both.
    Or(Box<Self>, Box<Self>),
    /// Not this one.
    Not(Box<Self>),
}

/// An attribute, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The part of it that is meant.
    pub sub: Option<String>,
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It equals.
    Eq,
    /// It does not.
    Ne,
    /// It contains.
    Co,
    /// It begins with.
    Sw,
    /// It ends with.
    Ew,
    /// It is greater, or later.
    Gt,
    /// It is not less.
    Ge,
    /// It is less, or earlier.
    Lt,
    /// It is not greater.
    Le,
}

const OPS: [(&str, Op); 9] = [
    ("eq", Op::Eq),
    ("ne", Op::Ne),
    ("co", Op::Co),
    ("sw", Op::Sw),
    ("ew", Op::Ew),
    ("gt", Op::Gt),
    ("ge", Op::Ge),
    ("lt", Op::Lt),
    ("le", Op::Le),
];

/// The path of an operation: an attribute, which of its values, and which part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The attribute, in lower case.
    pub attribute: Attribute,
    /// Which of its values.
    pub filter: Option<Filter>,
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// It is none: `invalidPath`.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        Self::parse(text).map_err(|refusal| refusal.of_kind(ScimType::InvalidPath))
    }

    fn parse(text: &str) -> Result<Self, Refusal> {
        let mut parser = Parser::new(text)?;
        let mut attribute = parser.attribute()?;
        let mut filter = None;
        if parser.takes('[') {
            filter = Some(parser.nested(']')?);
            if parser.takes('.') {
                attribute.sub = parser.attribute().map(|sub| Some(sub.name))?;
            }
        }
        parser.end()?;
        Ok(Self { attribute, filter })
    }
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// It is none, or exceeds a limit: `invalidFilter`.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let mut parser = Parser::new(text)?;
        let filter = parser.disjunction()?;
        parser.end()?;
        Ok(filter)
    }

    /// Whether one of the values of an attribute is so.
    pub fn matches(&self, value: &Value) -> bool {
        match self {
            Self::Compare(attribute, op, wanted) => compares(&value[&attribute.name], *op, wanted),
            Self::Present(attribute) => !value[&attribute.name].is_null(),
            Self::Within(..) => false,
            Self::And(one, other) => one.matches(value) && other.matches(value),
            Self::Or(one, other) => one.matches(value) || other.matches(value),
            Self::Not(one) => !one.matches(value),
        }
    }
}

/// Compares two values. Texts are compared in any case of ASCII letters, and a truth value equals its word.
fn compares(value: &Value, op: Op, wanted: &Value) -> bool {
    let word = |value: &Value| match value {
        Value::String(text) => text.to_ascii_lowercase(),
        value => value.to_string(),
    };
    let (value, wanted) = (word(value), word(wanted));
    match op {
        Op::Eq => value == wanted,
        Op::Ne => value != wanted,
        Op::Co => value.contains(&wanted),
        Op::Sw => value.starts_with(&wanted),
        Op::Ew => value.ends_with(&wanted),
        Op::Gt => value > wanted,
        Op::Ge => value >= wanted,
        Op::Lt => value < wanted,
        Op::Le => value <= wanted,
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
    terms: usize,
}

fn wrong(detail: impl Into<String>) -> Refusal {
    Refusal::new(ScimType::InvalidFilter, detail)
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self, Refusal> {
        if text.len() > LONGEST {
            return Err(wrong(format!("A filter or a path has at most {LONGEST} bytes.")));
        }
        Ok(Self { rest: text.trim(), depth: 0, terms: 0 })
    }

    /// The text that comes next, for people.
    fn next(&self) -> String {
        match self.rest.trim_start() {
            "" => "its end".to_owned(),
            rest => format!("\"{}\"", rest.chars().take(30).collect::<String>()),
        }
    }

    fn expected(&self, what: &str) -> Refusal {
        wrong(format!("The filter or path must have {what} at {}.", self.next()))
    }

    fn end(&self) -> Result<(), Refusal> {
        if self.rest.trim().is_empty() { Ok(()) } else { Err(self.expected("its end")) }
    }

    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Whether a word comes next, in any case, before a blank or a parenthesis.
    fn takes_word(&mut self, word: &str) -> bool {
        let Some((found, rest)) = self.rest.trim_start().split_at_checked(word.len()) else { return false };
        let ends = rest.is_empty() || rest.starts_with(|sign: char| sign.is_whitespace() || "()]".contains(sign));
        let is_it = found.eq_ignore_ascii_case(word) && ends;
        if is_it {
            self.rest = rest;
        }
        is_it
    }

    fn disjunction(&mut self) -> Result<Filter, Refusal> {
        let mut all = self.conjunction()?;
        while self.takes_word("or") {
            all = Filter::Or(Box::new(all), Box::new(self.conjunction()?));
        }
        Ok(all)
    }

    fn conjunction(&mut self) -> Result<Filter, Refusal> {
        let mut one = self.term()?;
        while self.takes_word("and") {
            one = Filter::And(Box::new(one), Box::new(self.term()?));
        }
        Ok(one)
    }

    fn term(&mut self) -> Result<Filter, Refusal> {
        if self.takes_word("not") {
            if !self.takes('(') {
                return Err(self.expected("a parenthesis behind not"));
            }
            return Ok(Filter::Not(Box::new(self.nested(')')?)));
        }
        if self.takes('(') {
            return self.nested(')');
        }
        let attribute = self.attribute()?;
        if self.takes('[') {
            return Ok(Filter::Within(attribute, Box::new(self.nested(']')?)));
        }
        self.terms += 1;
        if self.terms > MOST_TERMS {
            return Err(wrong(format!("A filter has at most {MOST_TERMS} comparisons.")));
        }
        if self.takes_word("pr") {
            return Ok(Filter::Present(attribute));
        }
        let op = OPS.iter().find(|(word, _)| self.takes_word(word)).map(|(_, op)| *op);
        let op = op.ok_or_else(|| self.expected("one of eq, ne, co, sw, ew, pr, gt, ge, lt and le"))?;
        Ok(Filter::Compare(attribute, op, self.value()?))
    }

    /// What stands in parentheses or brackets, up to the one that closes them.
    fn nested(&mut self, end: char) -> Result<Filter, Refusal> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(wrong(format!("Parentheses are nested at most {DEEPEST} deep.")));
        }
        let filter = self.disjunction()?;
        self.depth -= 1;
        if self.takes(end) { Ok(filter) } else { Err(self.expected(&format!("{end}"))) }
    }

    fn attribute(&mut self) -> Result<Attribute, Refusal> {
        let text = self.rest.trim_start();
        let end = text.find(|sign: char| sign.is_whitespace() || "()[]\"".contains(sign)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '$')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:$".contains(&byte))
        };
        if !is_name(name) {
            return Err(self.expected("the name of an attribute"));
        }
        self.rest = rest;
        let name = without_urn(name).to_ascii_lowercase();
        // The URN of another schema has points of its own.
        let split = name.split_once('.').filter(|_| !name.starts_with("urn:"));
        let split = split.map(|(name, sub)| (name.to_owned(), sub.to_owned()));
        Ok(match split {
            Some((name, sub)) => Attribute { name, sub: Some(sub) },
            None => Attribute { name, sub: None },
        })
    }

    fn value(&mut self) -> Result<Value, Refusal> {
        let text = self.rest.trim_start();
        let end = match text.strip_prefix('"') {
            Some(inside) => end_of_text(inside).map(|end| end + 2),
            None => Some(text.find(|sign: char| sign.is_whitespace() || "()]".contains(sign)).unwrap_or(text.len())),
        };
        let (value, rest) = text.split_at(end.ok_or_else(|| wrong("A text in the filter or path has no end."))?);
        let read = match value.starts_with('"') {
            true => serde_json::from_str(value).ok(),
            // True and False, as some clients write them.
            false => serde_json::from_str(&value.to_ascii_lowercase()).ok(),
        };
        match read {
            Some(read @ (Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Null)) => {
                self.rest = rest;
                Ok(read)
            }
            _ => Err(self.expected("a value in JSON, such as a text in quotation marks,")),
        }
    }
}

/// The place of the quotation mark that ends a text.
fn end_of_text(inside: &str) -> Option<usize> {
    let mut is_escaped = false;
    inside.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn attribute(name: &str, sub: Option<&str>) -> Attribute {
        Attribute { name: name.to_owned(), sub: sub.map(str::to_owned) }
    }

    fn equals(name: &str, value: Value) -> Filter {
        Filter::Compare(attribute(name, None), Op::Eq, value)
    }

    #[test]
    fn filters_are_read_as_the_standard_writes_them() {
        let and = |one, other| Filter::And(Box::new(one), Box::new(other));
        let or = |one, other| Filter::Or(Box::new(one), Box::new(other));
        for (text, filter) in [
            (r#"userName Eq "b\"j\\""#, equals("username", json!("b\"j\\"))),
            ("active eq True", equals("active", json!(true))),
            ("a eq 1.5", equals("a", json!(1.5))),
            ("name.familyName pr", Filter::Present(attribute("name", Some("familyname")))),
            (
                r#"urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J""#,
                Filter::Compare(attribute("username", None), Op::Sw, json!("J")),
            ),
            (
                r#"a eq 1 or b eq 2 AND c eq 3"#,
                or(equals("a", json!(1)), and(equals("b", json!(2)), equals("c", json!(3)))),
            ),
            (
                r#"(a eq 1 or b eq 2)and not(c eq null)"#,
                and(or(equals("a", json!(1)), equals("b", json!(2))), Filter::Not(Box::new(equals("c", json!(null))))),
            ),
            (
                r#"emails[type eq "work" and value eq "x"]"#,
                Filter::Within(
                    attribute("emails", None),
                    Box::new(and(equals("type", json!("work")), equals("value", json!("x")))),
                ),
            ),
        ] {
            assert_eq!(Filter::read(text), Ok(filter), "{text}");
        }
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        let deep = format!("{}a pr{}", "(".repeat(DEEPEST + 1), ")".repeat(DEEPEST + 1));
        let long = format!("a eq \"{}\"", "x".repeat(LONGEST));
        let many = vec!["a pr"; MOST_TERMS + 1].join(" or ");
        for text in [
            "",
            "a",
            "a eq",
            "eq 1",
            "a is 1",
            "a eq \"x",
            "a eq x",
            "a eq [1]",
            "a eq {}",
            "a eq 1 b eq 2",
            "(a pr",
            "a pr)",
            "not a pr",
            "a[b pr",
            "a eq 1 and",
            "or a pr",
            "\"a\" eq 1",
            "a eq \"\\x\"",
            "ä pr",
            &deep,
            &long,
            &many,
        ] {
            let refused = Filter::read(text).expect_err(text);
            assert_eq!(refused.kind, Some(ScimType::InvalidFilter), "{text}");
        }
    }

    #[test]
    fn paths_name_an_attribute_some_of_its_values_and_a_part() {
        let path = Path::read(r#"emails[type eq "work"].value"#).expect("a path");
        assert_eq!(path.attribute, attribute("emails", Some("value")));
        let filter = path.filter.expect("a filter");
        assert!(filter.matches(&json!({ "type": "Work" })) && !filter.matches(&json!({ "type": "home" })));
        assert_eq!(Path::read("name.familyName").expect("a path").attribute, attribute("name", Some("familyname")));
        let foreign = Path::read("urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department");
        assert!(foreign.expect("a path").attribute.name.starts_with("urn:"));
        for text in ["", "emails[", "emails[type eq \"work\"]x", "a b", "[a pr]", "members[value eq \"1\"]]"] {
            assert_eq!(Path::read(text).expect_err(text).kind, Some(ScimType::InvalidPath), "{text}");
        }
    }
}
