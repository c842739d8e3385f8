//! Reads the expressions of checks of custom events before their transaction begins: a process of its own reads them, and
//! nobody has to wait for it. What was read is remembered, so the mutation does not have it read again.

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

/// Reads the expressions of inputs. Returns the mistakes in them. Those that there was no time to read are mistakes, too.
pub(in crate::graphql) async fn read_first(inputs: impl Iterator<Item = &Map<String, Json>>) -> Result<Vec<Mistake>> {
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
                evaluation::mistakes(texts).await.map_err(|why| Error::Internal(why.into()))?
            }
            false => vec![Some(format!("reading it, and those before it, takes more than {TIME:?}")); some.len()],
        };
        let found = some.iter().zip(read).filter_map(|(&(input, field, ..), mistake)| Some((input, field, mistake?)));
        mistakes.extend(found.map(|(input, field, message)| Mistake { input, field, message }));
    }
    Ok(mistakes)
}
