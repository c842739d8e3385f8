//! The limits of a request, and which of them it has exceeded.

use std::fmt;
use std::time::Duration;

/// The limits of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Objects in the response.
    pub objects: u64,
    /// Bytes of the response.
    pub answer: u64,
    /// Bytes of the rows read.
    pub rows: u64,
    /// Processor time.
    pub processor: Duration,
    /// Elapsed time, including waits.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            objects: 100_000,
            answer: 8 << 20,
            rows: 16 << 20,
            processor: Duration::from_millis(900),
            time: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// No limits, for internal work.
    pub const NONE: Self = Self {
        objects: u64::MAX,
        answer: u64::MAX,
        rows: u64::MAX,
        processor: Duration::MAX,
        time: Duration::from_secs(365 * 86_400),
    };
}

/// A limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Excess {
    /// [`Limits::objects`].
    Objects = 1,
    /// [`Limits::answer`].
    Answer,
    /// [`Limits::rows`].
    Rows,
    /// [`Limits::processor`].
    Processor,
    /// [`Limits::time`].
    Time,
    /// `budget::QUICK`: the request must restart in the slow queue.
    Quick,
    /// The one statement outside of a transaction: the request must restart in one (`Db::read_once`).
    Statement,
}

impl Excess {
    /// The message for the client: a full sentence, and what to do.
    pub fn sentence(self, limits: &Limits) -> String {
        let Limits { objects, answer, rows, processor, time } = limits;
        match self {
            Self::Objects => format!("The answer would hold more than {objects} objects. Ask for fewer with `first`."),
            Self::Answer => {
                format!(
                    "The answer would be longer than {answer} bytes. Ask for fewer objects, or leave out long texts."
                )
            }
            Self::Rows => {
                format!("The answer needs rows of more than {rows} bytes. Ask for fewer objects with `first`.")
            }
            Self::Processor | Self::Quick | Self::Statement => {
                format!(
                    "The query was stopped because it took more than {processor:?} of processor time. Ask for less at \
                     once."
                )
            }
            Self::Time => {
                format!("The query was stopped because it took longer than {time:?}. Ask for less at once.")
            }
        }
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Objects => "too many objects",
            Self::Answer => "too long an answer",
            Self::Rows => "too many bytes of rows",
            Self::Processor => "too much processor time",
            Self::Time => "too much time",
            Self::Quick => "too much work for a quick request",
            Self::Statement => "more than one statement",
        })
    }
}

impl std::error::Error for Excess {}
