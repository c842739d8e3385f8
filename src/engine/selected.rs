//! Reads the answers to the program's own operations into the structs that the build generates from their selections.
//!
//! What does not depend on a struct is here, and compiled once: there are hundreds of them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// The keys of a struct's fields, in the order of the selection. Answers have them in this order, so each is looked for
/// first behind the one before it.
pub struct Keys {
    keys: &'static [&'static str],
    next: usize,
}

impl Keys {
    /// The keys of a struct, before the first is read.
    pub fn new(keys: &'static [&'static str]) -> Self {
        Self { keys, next: 0 }
    }

    /// The place of a key. A place that there is not for any other.
    fn place(&mut self, key: &str) -> usize {
        if self.keys.get(self.next) != Some(&key) {
            self.next = self.keys.iter().position(|own| *own == key).unwrap_or(usize::MAX - 1);
        }
        let place = self.next;
        self.next += 1;
        place
    }
}

/// Reads a key as its place.
impl<'de> DeserializeSeed<'de> for &mut Keys {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for &mut Keys {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key of a field")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<usize, E> {
        Ok(self.place(key))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value};

    #[derive(Debug, PartialEq)]
    struct Service {
        name: String,
        owner: Option<String>,
        is_open: bool,
    }

    crate::__selected!(Service { 0 name!, 1 owner?, 2 is_open! "isOpen" });

    #[test]
    fn fields_are_read_by_their_keys_in_any_order() {
        let read = |text: &str| {
            let service: Service = from_str(text).expect("the struct's shape");
            assert_eq!(from_value::<Service>(from_str(text).expect("JSON")).expect("the same"), service);
            service
        };
        let service = |owner: Option<&str>| Service { name: "a".into(), owner: owner.map(Into::into), is_open: true };
        for (text, owner) in [
            (r#"{"name":"a","owner":"b","isOpen":true}"#, Some("b")),
            (r#"{"isOpen":true,"owner":"b","name":"a"}"#, Some("b")),
            (r#"{"other":[{"name":1}],"name":"a","more":null,"isOpen":true,"owner":"b","last":{}}"#, Some("b")),
            (r#"{"name":"a","owner":null,"isOpen":true}"#, None),
            (r#"{"name":"a","isOpen":true}"#, None),
            (r#"{"name":"a","\u006fwner":"b","isOpen":true}"#, Some("b")),
        ] {
            assert_eq!(read(text), service(owner), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, said) in [
            (r#"{"owner":null,"isOpen":true}"#, "missing field `name`"),
            (r#"{"name":"a"}"#, "missing field `isOpen`"),
            (r#"{"name":null,"isOpen":true}"#, "invalid type: null, expected a string"),
            (r#"["a","b",true]"#, "expected struct Service"),
            ("null", "expected struct Service"),
        ] {
            let error = from_str::<Service>(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
