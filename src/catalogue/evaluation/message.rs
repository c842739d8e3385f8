//! What the server and the process that evaluates tell each other: the job as one JSON object, and a line for each thing
//! that is found.

use serde::{Deserialize, Serialize};

/// All that a process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job<I, T> {
    /// The input of all expressions, as JSON.
    pub(super) input: I,
    pub(super) tasks: T,
    /// The time for all tasks, in milliseconds.
    pub(super) time: u64,
}

/// A thing to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// Evaluates a check of custom events: which services, whether each passes, and the message for each.
    Event { selector: String, condition: String, message: Option<String> },
    /// Evaluates an expression on each element of the input.
    Each { condition: String },
    /// Only reads a text, to find mistakes.
    Read { language: Language, text: String },
}

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Hash)]
pub enum Language {
    /// jq, as far as jaq knows it.
    Jq,
    /// Liquid.
    Liquid,
}

/// A line of the answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    /// The position of the task.
    pub(super) task: usize,
    pub(super) said: Said,
}

/// What is said of a task. The first is `Names` or `Fault`; as many of `One` follow as there are names.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    /// What the expressions are about.
    Names(Vec<String>),
    /// The next of them.
    One(One),
    /// Why there are none.
    Fault(String),
}

/// What became of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// The services that the expression named, each once, in its order.
    pub names: Vec<String>,
    /// What was found of each.
    pub ones: Vec<One>,
    /// Why the expression named none, or why what is left was not evaluated.
    pub fault: Option<String>,
    /// Whether that is because the process ended, at a limit or not.
    pub was_ended: bool,
}

/// What was found of one service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct One {
    /// Whether it passes.
    pub passed: bool,
    /// The message. `None` if there is no template.
    pub message: Option<String>,
    /// Why the condition could not be evaluated, as the end of a sentence.
    pub fault: Option<String>,
}
