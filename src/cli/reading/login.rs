//! `rollcall login` and `rollcall context`.

use std::io::{self, IsTerminal, Read as _};
use std::time::Duration;

use serde_json::json;

use crate::cli::console::{print, say};
use crate::cli::contexts::{Context, Contexts};
use crate::cli::remote::Server;
use crate::config::{ContextCommand, Login, Secret};
use crate::entity::text::{self, one_line};
use crate::outgoing;

/// How long the check of a new token may take.
const CHECK: Duration = Duration::from_secs(10);

/// The maximum length of a token that is read, in bytes.
const LONGEST_TOKEN: u64 = 4096;

/// The maximum number of contexts.
const MOST: usize = 100;

pub(super) fn run(settings: &Login) -> Result<(), String> {
    let mut contexts = Contexts::read()?;
    let url = settings.remote.server.clone().ok_or("which server? give it with --server https://…")?;
    let name = settings.name.clone().or_else(|| settings.remote.context.clone());
    let name = name.unwrap_or_else(|| outgoing::authority(&url).to_owned());
    let token = match settings.remote.token()? {
        Some(token) => token,
        None => Secret::from(&*asked(&url)?),
    };
    let server = Server::new(url.clone(), token.clone(), CHECK);
    let said = server.ask("{ account { name } }", &json!({}))?;
    let account = said["account"]["name"].as_str().unwrap_or_default().to_owned();
    if !contexts.contexts.contains_key(&name) && contexts.contexts.len() >= MOST {
        return Err(format!("there are {MOST} contexts already: delete one with rollcall context delete"));
    }
    contexts.contexts.insert(name.clone(), Context { server: url.clone(), token: token.reveal().to_owned() });
    contexts.current = Some(name.clone());
    let file = contexts.write()?;
    say(&format!("the context {name} asks {account} at {url}; its token is in {}", file.display()));
    Ok(())
}

/// Asks for a token, without showing it, or reads it from standard input.
fn asked(url: &str) -> Result<String, String> {
    let read = if io::stdin().is_terminal() {
        rpassword::prompt_password(format!("Token of {url} (rollcall token create makes one): "))
    } else {
        let mut text = String::new();
        io::stdin().take(LONGEST_TOKEN).read_to_string(&mut text).map(|_| text)
    };
    let token = read.map_err(|error| format!("the token cannot be read: {error}"))?;
    match text::trim(&token) {
        "" => Err("there is no token: give it on standard input, or with --token-file".to_owned()),
        token => Ok(token.to_owned()),
    }
}

pub(super) fn contexts(command: ContextCommand) -> Result<(), String> {
    let mut contexts = Contexts::read()?;
    match command {
        ContextCommand::List => {
            let lines = contexts.contexts.iter().map(|(name, context)| {
                let mark = if contexts.current.as_ref() == Some(name) { "*" } else { "" };
                format!("{mark}\t{}\t{}\n", one_line(name), one_line(&context.server))
            });
            return print(&lines.collect::<String>());
        }
        ContextCommand::Use { name } => {
            if !contexts.contexts.contains_key(&name) {
                return Err(contexts.unknown(&name));
            }
            contexts.current = Some(name);
        }
        ContextCommand::Delete { name } => {
            if contexts.contexts.remove(&name).is_none() {
                return Err(contexts.unknown(&name));
            }
            if contexts.current.as_ref() == Some(&name) {
                contexts.current = None;
            }
        }
    }
    contexts.write().map(drop)
}
