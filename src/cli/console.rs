//! What the program says on its two outputs. Results for programs go to standard output, everything else to standard
//! error.

use std::io::{self, Write};

use crate::db;
use crate::entity::text::one_line;
use crate::error::Error;

/// Prints to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output cannot be written: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints a sentence to standard error and ignores errors. Its lines are the program's own: whatever a name in it may
/// contain is escaped by [`one_line`], except for line breaks, which messages about several mistakes have.
pub(crate) fn say(sentence: &str) {
    let lines: Vec<String> = sentence.lines().map(|line| one_line(line).to_string()).collect();
    let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
}

/// Returns an error as a sentence. A database that is full, locked or away is named as such, not in its driver's words.
pub(crate) fn sentence(error: impl Into<Error>) -> String {
    let error = error.into();
    db::Error::cause_of(&error).map_or_else(|| error.to_string(), db::Error::reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::UserError;

    #[test]
    fn an_error_of_the_database_is_a_sentence_if_there_is_one() {
        let away = db::Error::NoConnection;
        assert_eq!(sentence(away), "The database cannot be reached.");
        let other = db::Error::fault("no such table: team");
        assert!(sentence(other).contains("no such table: team"));
        assert_eq!(sentence(UserError::base("the name is taken")), "the name is taken");
    }
}
