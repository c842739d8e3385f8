//! The command line and the settings. Nothing else reads flags or the environment.
//!
//! Every setting is both a flag and an environment variable, and `--help` shows both. The modules below define the
//! settings by topic; the code that receives a setting implements it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::entity::text;

mod addresses;
mod apply;
mod budget;
mod check;
mod command;
mod database;
mod deploy;
mod examples;
mod limits;
mod listen;
mod log;
mod mail;
mod mistakes;
mod openid;
mod reading;
mod remote;
mod scope;
mod secret;
mod serve;
mod systemd;
mod tls;
mod tracing;
mod trimmed;
mod value;

pub use addresses::Addresses;
pub use apply::Apply;
pub use budget::Budget;
pub use check::{Answer, Check, Forge};
pub use command::{Command, DeployEndpointCommand, SchemaCommand, StandardsCommand, TokenCommand};
pub use database::{Database, ReadDatabase};
pub use deploy::{Deploy, Pipeline, SecretUrl};
pub use limits::Edge;
pub use listen::Listen;
pub use log::{Log, LogFormat};
pub use mail::MailArgs;
pub use openid::OpenIdArgs;
pub use reading::{
    ContextCommand, Delivery, Deploys, History, Impact, List, Listed, Login, Named, Outcome, Query, Reading, Revert,
    Shown,
};
pub use remote::{Asking, Output, Remote};
pub use secret::Secret;
pub use serve::Serve;
pub use systemd::Passed;
pub use tls::TlsFiles;
pub use tracing::Tracing;

/// Parses the command line of this process. Exits with status 2 after wrong usage, and with 0 after `--help` and
/// `--version`.
pub fn read() -> Command {
    parse(env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Parses `arguments`, whose first element is the program's name.
///
/// # Errors
/// Wrong usage, and the texts of `--help` and `--version`.
pub fn parse<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> Result<Command, clap::Error> {
    let (program, arguments) = (program(), command_first(arguments.into_iter().map(Into::into)));
    let matches = program.clone().try_get_matches_from(&arguments);
    let read = matches.and_then(|matches| CommandLine::from_arg_matches(&matches).map(CommandLine::command));
    read.map_err(|error| mistakes::explained(error, &program, &arguments, |name| env::var_os(name).is_some()))
}

/// The definition of every command and setting. Does not read the variables of secrets that are blank: CI systems set
/// such a variable if a secret is missing. Secrets with a default are read anyway: a blank database URL must be an error,
/// and not the default, which is a new file.
pub fn program() -> clap::Command {
    fn without_blank_secrets(program: clap::Command) -> clap::Command {
        let is_blank = |name: &OsStr| env::var(name).is_ok_and(|value| text::is_nothing(&value));
        let program = program.mut_args(|argument| {
            let is_secret = argument.is_hide_env_values_set() && argument.get_default_values().is_empty();
            let is_missing = is_secret && argument.get_env().is_some_and(is_blank);
            if is_missing { argument.env(None::<&'static str>) } else { argument }
        });
        program.mut_subcommands(without_blank_secrets)
    }
    without_blank_secrets(with_short_help(<CommandLine as CommandFactory>::command()))
}

/// Leaves the settings of the server to the help of its own command, although the program takes them without a command too.
fn with_short_help(program: clap::Command) -> clap::Command {
    let is_own = |argument: &clap::Arg| ["help", "version"].contains(&argument.get_id().as_str());
    let program = program.mut_args(|argument| if is_own(&argument) { argument } else { argument.hide(true) });
    program.after_help(EXAMPLES)
}

/// Moves flags behind the command: `rollcall --database-url URL token list` becomes `rollcall token list --database-url
/// URL`. The parser then checks whether the command has such a flag.
fn command_first(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let program = <CommandLine as CommandFactory>::command();
    // Find the end of the leading flags.
    let mut end = 1;
    while let Some(flag) = arguments.get(end).and_then(|argument| argument.to_str()) {
        match flag.split_once('=') {
            Some((flag, _)) if takes_value(&program, flag) == Some(true) => end += 1,
            None if takes_value(&program, flag) == Some(true) => end += 2,
            None if takes_value(&program, flag) == Some(false) => end += 1,
            _ => break,
        }
    }
    // Find the end of the command, which can be two words.
    let place = end + mistakes::command(&program, &arguments[end.min(arguments.len())..]).0;
    if end < place {
        arguments[1..place].rotate_left(end - 1);
    }
    arguments
}

/// Whether a flag of any command takes a value. `None` if no command has the flag.
fn takes_value(command: &clap::Command, flag: &str) -> Option<bool> {
    let name = flag.strip_prefix("--")?;
    let own = command.get_arguments().find(|argument| argument.get_long() == Some(name));
    let own = own.map(|argument| argument.get_action().takes_values());
    own.or_else(|| command.get_subcommands().find_map(|inner| takes_value(inner, flag)))
}

/// The file of this program. On Linux it is what runs, even if another file has taken its place since.
pub fn own_program() -> Option<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Some(running) } else { env::current_exe().ok() }
}

/// Takes the socket that systemd passes to this process, if it does. Call this before any thread starts: it removes the
/// variables, so that no other process takes the socket for its own.
///
/// # Errors
/// Why what is passed cannot be used, in one sentence.
pub fn passed_socket() -> Result<Option<Passed>, String> {
    // Without the process's id the variables could be meant for a parent of this process.
    if env::var_os("LISTEN_PID").is_none() { Ok(None) } else { systemd::take_socket() }
}

/// The socket at which systemd waits to hear that this process is ready (`sd_notify(3)`).
pub fn notify_socket() -> Option<OsString> {
    env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty())
}

/// The file of the contexts: what `ROLLCALL_CONTEXTS` names, or `rollcall/contexts.json` in the user's folder for settings.
/// `None` if there is no such folder.
pub fn contexts_file() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("ROLLCALL_CONTEXTS").or_else(|| {
        let folder = named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")));
        Some(folder?.join("rollcall").join("contexts.json"))
    })
}

/// The variables of this process that look like settings and are none, each with the one that is probably meant.
pub fn unknown_variables() -> Vec<(String, Option<String>)> {
    mistakes::unknown(env::vars_os())
}

/// Whether output is wanted without colours and bold letters (<https://no-color.org>).
pub fn wants_no_styles() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The number of columns that `COLUMNS` says the terminal has. `None` if it says none.
pub fn columns() -> Option<usize> {
    named("COLUMNS")?.parse().ok()
}

/// A variable of the environment that is not blank, without the blanks around it.
fn named(name: &str) -> Option<String> {
    let value = env::var(name).ok()?;
    Some(text::trim(&value)).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// Reads the variables of the CI pipeline that this process runs in.
pub fn pipeline() -> Pipeline {
    Pipeline::from_variables(named)
}

/// Reads where the forge's API is that the pipeline of this process may ask. `None` if it says none.
pub fn forge() -> Option<Forge> {
    Forge::from_variables(named)
}

/// Examples of use, below the list of commands.
const EXAMPLES: &str = "\
Without a command it serves, with the settings of rollcall serve --help.

Examples:
  rollcall                                       serve on 127.0.0.1:8080, from ./rollcall.db
  rollcall token create --description laptop     make a token
  rollcall login --server https://example.com    keep a server and a token for the commands below
  rollcall show cart                             who owns it, who is on call, where its runbook is
  rollcall list services --filter tier=1         all of tier 1
  rollcall deploys --since 1d -o json            what was deployed since yesterday
  rollcall who-owns src/payments                 the owner of a folder of this checkout
  rollcall impact cart                           what breaks if it is down
  rollcall apply rollcall.yml                    update the catalogue from a service file";

/// A self-hosted service catalogue: a GraphQL API and a deploy webhook
#[derive(Debug, Parser)]
#[command(name = "rollcall", version, args_conflicts_with_subcommands = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

impl CommandLine {
    fn command(self) -> Command {
        self.command.unwrap_or_else(|| Command::Serve(Box::new(self.serve)))
    }
}
