//! How the value of every setting is read: from a flag, an environment variable or a file.
//!
//! The blanks around a value are removed ([`text::trim`]), so that a variable or file made by `echo` works. A control
//! character that is left is refused, and the error names the setting. No error repeats a secret.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::builder::{
    BoolishValueParser, EnumValueParser, PathBufValueParser, PossibleValue, StringValueParser, TypedValueParser,
};
use clap::error::ErrorKind;
use clap::{Arg, Command, ValueEnum};

use crate::entity::text;

/// The maximum size of a file with a secret, in bytes.
const LONGEST_FILE: u64 = 64 * 1024;

/// Trims a value, or each entry of a list, before another parser reads it.
#[derive(Clone)]
pub(super) struct Trimmed<P>(P);

/// Trims a value before `parser` reads it.
pub(super) fn trimmed<P: TypedValueParser>(parser: P) -> Trimmed<P> {
    Trimmed(parser)
}

/// Parses a word of a list.
pub(super) fn word<T: ValueEnum + Clone + Send + Sync + 'static>() -> Trimmed<EnumValueParser<T>> {
    Trimmed(EnumValueParser::new())
}

/// Parses a path.
pub(super) fn path() -> Trimmed<PathBufValueParser> {
    Trimmed(PathBufValueParser::new())
}

/// Parses a switch: true or false, yes or no, on or off, 1 or 0.
pub(super) fn switch() -> Trimmed<impl TypedValueParser<Value = bool>> {
    let read = BoolishValueParser::new();
    Trimmed(StringValueParser::new().try_map(move |given| {
        let read = read.parse_ref(&Command::default(), None, OsStr::new(&given));
        read.map_err(|_| "write true or false (or yes or no, on or off, 1 or 0)")
    }))
}

impl<P: TypedValueParser> TypedValueParser for Trimmed<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, clap::Error> {
        // A path may hold any bytes.
        let Some(text) = value.to_str().map(text::trim) else { return self.0.parse_ref(command, arg, value) };
        match text::short_fault(text) {
            None => self.0.parse_ref(command, arg, OsStr::new(text)),
            Some(fault) => Err(refused(command, arg, &format!("it {fault}"))),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The error about a value that it does not repeat.
pub(super) fn refused(command: &Command, arg: Option<&Arg>, why: &str) -> clap::Error {
    let name = arg.map(|arg| {
        let variable = arg.get_env().map(|name| format!(" or {}", name.display())).unwrap_or_default();
        format!(" for {}{variable}", arg.get_long().map_or_else(|| arg.to_string(), |long| format!("--{long}")))
    });
    let sentence = format!("invalid value{}: {why}\n", name.unwrap_or_default());
    clap::Error::raw(ErrorKind::ValueValidation, sentence).with_cmd(command)
}

/// Reads a secret from a file that `setting` names.
///
/// # Errors
/// The file cannot be read or is too large, or does not hold one line of text.
pub(super) fn read_file(what: &str, setting: &str, file: &Path) -> Result<String, String> {
    let place = format!("{} (from {setting})", file.display());
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(LONGEST_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("{what} cannot be read from {place}: {error}"))?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(format!("{what} cannot be read from {place}: the file has more than 64 KiB"));
    }
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text::trim(text),
        Err(_) if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) => {
            return Err(format!("{what} cannot be read from {place}: the file is UTF-16; save it as UTF-8"));
        }
        Err(_) => return Err(format!("{what} cannot be read from {place}: the file is not UTF-8 text")),
    };
    if text.is_empty() {
        return Err(format!("{what} cannot be read from {place}: the file is blank"));
    }
    match text::short_fault(text) {
        Some(fault) => Err(format!("{what} cannot be read from {place}: the file {fault}")),
        None => Ok(text.to_owned()),
    }
}
