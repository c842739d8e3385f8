//! What is said about mistaken flags and variables.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use spelling::nearest;

/// Words that other programs have for a setting.
const SYNONYMS: [(&str, &str); 9] = [
    ("--port", "--listen"),
    ("--host", "--listen"),
    ("--bind", "--listen"),
    ("--address", "--listen"),
    ("--addr", "--listen"),
    ("--db", "--database-url"),
    ("--database", "--database-url"),
    ("--verbose", "--log"),
    ("--log-level", "--log"),
];

/// What every variable of a setting begins with.
const PREFIX: &str = "ROLLCALL_";

/// The variables that are no flag's.
const OTHERS: [&str; 1] = ["ROLLCALL_CONTEXTS"];

/// Says what clap's error about a command line leaves out, or guesses wrongly.
/// `is_set` tells whether this process has a variable.
pub(super) fn explained(
    mut error: clap::Error,
    program: &Command,
    arguments: &[OsString],
    is_set: impl Fn(&OsStr) -> bool,
) -> clap::Error {
    with_variables(&mut error, program, arguments, is_set);
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg)
    {
        let given = given.split(['=', ' ']).next().unwrap_or_default().to_owned();
        let guess = match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(guess)) => nearest(&given, [guess.as_str()].into_iter()),
            _ => None,
        };
        let (_, named) = command(program, arguments.get(1..).unwrap_or_default());
        let synonym = SYNONYMS.iter().find(|(word, flag)| *word == given && has(named, flag));
        let meant = guess.or(synonym.map(|(_, flag)| *flag)).map(|flag| ContextValue::String(flag.to_owned()));
        // Clap's guess can be far off, and its usage follows from it.
        match meant {
            Some(meant) => drop(error.insert(ContextKind::SuggestedArg, meant)),
            // With nothing behind it, the word "tip:" would stay.
            None => drop(error.remove(ContextKind::SuggestedArg)),
        }
        error.insert(ContextKind::Usage, ContextValue::None);
    }
    error
}

/// The variables among `all` that look like settings and are none, each with the one that is probably meant. In the order
/// of their names.
pub(super) fn unknown(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(String, Option<String>)> {
    let mut known = OTHERS.map(str::to_owned).to_vec();
    collect(&<super::CommandLine as CommandFactory>::command(), &mut |argument| {
        known.extend(argument.get_env().and_then(OsStr::to_str).map(str::to_owned));
    });
    let given = all.filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().unwrap_or_default());
        let is_unknown = name.starts_with(PREFIX) && !known.contains(&name) && !is_of_kubernetes(&name, &value);
        is_unknown.then_some(name)
    });
    let mut unknown: Vec<String> = given.collect();
    unknown.sort_unstable();
    let meant = |name: &String| nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    unknown.iter().map(|name| (name.clone(), meant(name))).collect()
}

/// Whether Kubernetes sets a variable for a service of the name `rollcall`, in every container of its namespace.
fn is_of_kubernetes(name: &str, value: &str) -> bool {
    let rest = name.strip_prefix(PREFIX).unwrap_or_default();
    let is_port = rest.starts_with("PORT") && (value.contains("://") || rest.contains("_TCP") || rest.contains("_UDP"));
    is_port || rest.starts_with("SERVICE_HOST") || rest.starts_with("SERVICE_PORT")
}

/// The command that the first words name, and how many of them do: `token list` is two.
pub(super) fn command<'c>(program: &'c Command, words: &[OsString]) -> (usize, &'c Command) {
    let (mut place, mut command) = (0, program);
    while let Some(inner) = words.get(place).and_then(|word| command.find_subcommand(word)) {
        (place, command) = (place + 1, inner);
    }
    (place, command)
}

fn has(command: &Command, flag: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == flag.strip_prefix("--"))
}

fn collect(command: &Command, each: &mut impl FnMut(&clap::Arg)) {
    command.get_arguments().for_each(&mut *each);
    for inner in command.get_subcommands() {
        collect(inner, each);
    }
}

/// Names the environment variable instead of the flag in an error about a value that comes from the variable.
fn with_variables(error: &mut clap::Error, program: &Command, arguments: &[OsString], is_set: impl Fn(&OsStr) -> bool) {
    let is_given = |flag: &str| {
        let is_flag =
            |argument: &str| argument == flag || argument.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='));
        arguments.iter().any(|argument| argument.to_str().is_some_and(is_flag))
    };
    let said = |shown: &str| -> String {
        let flag = shown.split(' ').next().unwrap_or_default();
        let variable = variable(program, flag).filter(|name| is_set(name) && !is_given(flag));
        variable.map_or_else(|| shown.to_owned(), |name| name.display().to_string())
    };
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
        let named = match error.get(kind) {
            Some(ContextValue::String(shown)) => ContextValue::String(said(shown)),
            Some(ContextValue::Strings(shown)) => {
                ContextValue::Strings(shown.iter().map(|shown| said(shown)).collect())
            }
            _ => continue,
        };
        error.insert(kind, named);
    }
}

/// The environment variable of a flag of any command.
fn variable(command: &Command, flag: &str) -> Option<OsString> {
    let name = flag.strip_prefix("--")?;
    let own = command.get_arguments().find(|argument| argument.get_long() == Some(name));
    let own = own.and_then(|argument| argument.get_env()).map(OsStr::to_owned);
    own.or_else(|| command.get_subcommands().find_map(|inner| variable(inner, flag)))
}
