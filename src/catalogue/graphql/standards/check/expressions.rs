//! Reads the expressions of checks of custom events before their transaction begins: a process of its own reads them, and
//! nobody has to wait for it. The mutation asks what was found: it has nothing read itself.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};

use crate::entity::text::DESCRIPTION;
use crate::error::{Error, Result};
use crate::evaluation::{self, Language};

/// The time that reading the expressions of a request may take.
pub const TIME: Duration = Duration::from_secs(10);

/// The fields with expressions.
const FIELDS: [(&str, Language); 3] =
    [("serviceSelector", Language::Jq), ("successCondition", Language::Jq), ("resultMessage", Language::Liquid)];

/// What was found of the expressions of a request: what is wrong with each, or that nothing is.
#[derive(Debug, Default)]
pub(in crate::graphql) struct Found(Mutex<HashMap<(Language, String), Option<String>>>);

impl Found {
    fn all(&self) -> MutexGuard<'_, HashMap<(Language, String), Option<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no expression was looked at.
    pub(in crate::graphql) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// What is wrong with an expression. One that was not looked at is refused, too: reading it would keep others waiting.
    pub(in crate::graphql) fn mistake(&self, language: Language, text: &str) -> Option<String> {
        self.all().get(&(language, text.to_owned())).cloned().unwrap_or_else(|| Some(unread()))
    }
}

/// The mistake of an expression for which no time was left.
fn unread() -> String {
    format!("reading it, and those before it, takes more than {TIME:?}")
}

/// A mistake in an expression.
pub(in crate::graphql) struct Mistake {
    /// The place of the input.
    pub(in crate::graphql) input: usize,
    pub(in crate::graphql) field: &'static str,
    pub(in crate::graphql) message: String,
}

/// Whether a mutation takes expressions.
pub(in crate::graphql) fn are_in(mutation: &str) -> bool {
    matches!(mutation, "checkCustomEventCreate" | "checkCustomEventUpdate")
}

/// Reads the expressions of inputs, and notes what it has found. Returns the mistakes in them. Those that there was no time to
/// read are mistakes, too.
pub(in crate::graphql) async fn read_first(
    inputs: impl Iterator<Item = &Map<String, Json>>,
    known: &Found,
) -> Result<Vec<Mistake>> {
    const AT_ONCE: usize = 50;
    let mut texts = Vec::new();
    for (input, fields) in inputs.enumerate() {
        for (field, language) in FIELDS {
            // A longer text is refused in any case.
            let text = fields.get(field).and_then(Json::as_str).filter(|text| text.chars().count() <= DESCRIPTION);
            texts.extend(text.map(|text| (input, field, language, text)));
        }
    }
    let (mut mistakes, end) = (Vec::new(), Instant::now() + TIME);
    for some in texts.chunks(AT_ONCE) {
        let read = match Instant::now() < end {
            true => {
                let texts = some.iter().map(|(.., language, text)| (*language, (*text).to_owned())).collect();
                evaluation::mistakes(texts, end).await.map_err(|why| Error::Internal(why.into()))?
            }
            false => vec![Some(unread()); some.len()],
        };
        let texts = some.iter().map(|(.., language, text)| (*language, (*text).to_owned()));
        known.all().extend(texts.zip(read.iter().cloned()));
        let found = some.iter().zip(read).filter_map(|(&(input, field, ..), mistake)| Some((input, field, mistake?)));
        mistakes.extend(found.map(|(input, field, message)| Mistake { input, field, message }));
    }
    Ok(mistakes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_that_was_not_read_first_is_refused() {
        let found = Found::default();
        assert!(found.is_empty());
        let read = [(".a", None), (".[", Some("it is not jq".to_owned()))];
        found.all().extend(read.map(|(text, mistake)| ((Language::Jq, text.to_owned()), mistake)));
        assert!(!found.is_empty());
        assert_eq!(found.mistake(Language::Jq, ".a"), None);
        assert_eq!(found.mistake(Language::Jq, ".[").as_deref(), Some("it is not jq"));
        for (language, text) in [(Language::Jq, ".b"), (Language::Liquid, ".a")] {
            let mistake = found.mistake(language, text);
            assert_eq!(mistake.as_deref(), Some("reading it, and those before it, takes more than 10s"));
        }
    }
}
