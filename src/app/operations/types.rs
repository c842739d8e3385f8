//! Maps the SDL's scalars to Rust types, for the pages' operations.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use catalogue::entity::Timestamp;

pub use Moment as ISO8601DateTime;
pub use String as JsonString;
pub use serde_json::Value as JSON;
pub use serde_json::Value as JSONSchema;

/// A point in time from the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub Timestamp);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Timestamp::parse(&text).map(Self).map_err(|_| D::Error::custom("not a moment"))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
