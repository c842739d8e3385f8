//! What the commands do, beside serving: each opens the database, does one thing and prints what came of it.
//!
//! What a program may want to read goes to standard output, everything else to standard error. A refusal is one
//! sentence.

use std::fmt::Display;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sea_orm::{ActiveEnum, ConnectionTrait, DbErr};

use crate::config::{Addresses, Command, Database, DeployEndpointCommand, SchemaCommand, TokenCommand};
use crate::db::{self, Db};
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::integration::{self, Kind};
use crate::entity::user;
use crate::entity::{Timestamp, sign_in_link as link, token};
use crate::error::{Error, UserError};
use crate::graphql::SDL;
use crate::schema_diff::{self, Class, Report};
use crate::{generate, sender, serve, service_file, transfer};

/// Carries out a command.
///
/// # Errors
/// Why it was refused, in one sentence.
pub async fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Serve(settings) => serve::run(*settings).await?,
        Command::Token(command) => token_command(command).await?,
        Command::DeployEndpoint(command) => deploy_endpoint_command(command).await?,
        Command::SignInLink { email, name, addresses, database } => {
            sign_in_link(&database, &addresses, &email, name.as_deref()).await?;
        }
        Command::Migrate(database) => migrate(&database).await?,
        Command::Backup { file, database } => {
            let bytes = tokio::task::block_in_place(|| db::backup(&database.url()?, &file))?;
            say(&format!("{} is a copy of the database: {bytes} bytes", file.display()));
        }
        Command::Export(database) => export(&database).await?,
        Command::Import { file, database } => import(&database, &file).await?,
        Command::Schema(SchemaCommand::Print) => print(SDL)?,
        Command::Schema(SchemaCommand::Diff { old, new }) => return schema_diff(&old, &new),
        Command::Apply { files, database } => return apply(&database, &files).await,
        Command::Release { alias, database } => release(&database, &alias).await?,
        Command::Deploy(settings) => {
            print(&format!("{}\n", tokio::task::block_in_place(|| sender::send(&settings))?))?;
        }
        Command::Generate { services, deploys, database } => generate(&database, services, deploys).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn token_command(command: TokenCommand) -> Result<(), String> {
    let actor = Actor::command_line();
    match command {
        TokenCommand::Create { description, scope, expires, database } => {
            let db = open(&database).await?;
            let now = Timestamp::now();
            let end = |duration: std::time::Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
            let expires = expires.map(|rest| Timestamp::from_micros(now.as_micros().saturating_add(end(rest))));
            let made = db.write(async |db| token::create(db, &actor, &description, scope, expires, now).await).await;
            print(&format!("{}\n", made.map_err(sentence)?.reveal()))
        }
        TokenCommand::List(database) => {
            let tokens = token::all(open(&database).await?.read()).await.map_err(sentence)?;
            let lines = tokens.iter().map(|token| {
                let moment = |moment: Option<Timestamp>| moment.map_or("-".to_owned(), |moment| moment.to_string());
                let scope = token.scope.to_value();
                let (id, made, description) = (token.id, token.created_at, &token.description);
                let (used, expires) = (moment(token.last_used_at), moment(token.expires_at));
                format!("{id}\t{scope}\t{made}\t{used}\t{expires}\t{description}\n")
            });
            print(&lines.collect::<String>())
        }
        TokenCommand::Delete { id, database } => {
            let db = open(&database).await?;
            let deleted = db.write(async |db| token::delete(db, &actor, id).await).await.map_err(sentence)?;
            if deleted { Ok(()) } else { Err(format!("no token has the id {id}")) }
        }
    }
}

async fn deploy_endpoint_command(command: DeployEndpointCommand) -> Result<(), String> {
    let url = |addresses: &Addresses, endpoint: &integration::Model| {
        let path = integration::webhook_path(endpoint.webhook_id.as_deref().unwrap_or_default());
        addresses.app_url(addresses.listen) + &path
    };
    match command {
        DeployEndpointCommand::Create { name, addresses, database } => {
            let name = name.trim().to_owned();
            if name.is_empty() || name.contains(char::is_control) {
                return Err("a deploy endpoint needs a name of one line".to_owned());
            }
            let db = open(&database).await?;
            let made = db.write(async |db| {
                let made = integration::create(db, Kind::Deploy, name, Timestamp::now()).await?;
                note_endpoint(db, "eventIntegrationCreate", &made).await?;
                Ok::<_, Error>(made)
            });
            let made = made.await;
            print(&format!("{}\n", url(&addresses, &made.map_err(sentence)?)))
        }
        DeployEndpointCommand::List { addresses, database } => {
            let endpoints = integration::deploy_endpoints(open(&database).await?.read()).await.map_err(sentence)?;
            let line = |endpoint: &integration::Model| {
                format!("{}\t{}\t{}\n", endpoint.id, url(&addresses, endpoint), endpoint.name)
            };
            print(&endpoints.iter().map(line).collect::<String>())
        }
        DeployEndpointCommand::Delete { id, database } => {
            let db = open(&database).await?;
            let deleted = db.write(async |db| {
                let deleted = integration::delete_deploy_endpoint(db, id).await?;
                if let Some(endpoint) = &deleted {
                    note_endpoint(db, "integrationDelete", endpoint).await?;
                }
                Ok::<_, DbErr>(deleted)
            });
            let deleted = deleted.await.map_err(sentence)?;
            deleted.map(drop).ok_or_else(|| format!("no deploy endpoint has the id {id}"))
        }
    }
}

/// Notes what was done to a deploy endpoint, in the API's words.
async fn note_endpoint(db: &impl ConnectionTrait, action: &str, endpoint: &integration::Model) -> Result<(), DbErr> {
    let subject = Subject::new("Integration", Some(endpoint.id), &endpoint.name);
    let detail = serde_json::json!({ "name": endpoint.name }).to_string();
    audit::record(db, &Actor::command_line(), action, subject, detail).await
}

async fn sign_in_link(
    database: &Database,
    addresses: &Addresses,
    email: &str,
    name: Option<&str>,
) -> Result<(), String> {
    let (db, now, actor) = (open(database).await?, Timestamp::now(), Actor::command_line());
    let made = db.write(async |db| {
        let first = !user::any_administrator(db).await?;
        let user = match user::by_email(db, email).await? {
            Some(user) if !first => user,
            None if !first => {
                let unknown = format!("no user has the email address \"{email}\"; an administrator can invite one");
                return Err(UserError::new("email", unknown).into());
            }
            _ => {
                let user = user::first_administrator(db, email, name, now).await?;
                audit::record(db, &actor, "firstAdministrator", user.subject(), "{}".to_owned()).await?;
                user
            }
        };
        audit::record(db, &actor, "signInLinkCreate", user.subject(), "{}".to_owned()).await?;
        link::create(db, Some(user.id), now).await
    });
    let path = link::path(&made.await.map_err(sentence)?);
    print(&format!("{}{path}\n", addresses.app_url(addresses.listen)))
}

async fn migrate(database: &Database) -> Result<(), String> {
    let db = db::connect(&database.url()?).await.map_err(sentence)?;
    match db::migrate(&db).await.map_err(sentence)? {
        0 => say("the database was up to date"),
        1 => say("the database is up to date: 1 step"),
        steps => say(&format!("the database is up to date: {steps} steps")),
    }
    Ok(())
}

async fn apply(database: &Database, files: &[PathBuf]) -> Result<ExitCode, String> {
    match service_file::apply(&open(database).await?, files).await {
        Ok(done) => {
            print(&done.iter().map(|line| format!("{line}\n")).collect::<String>())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(service_file::Refused::Problems(problems)) => {
            problems.iter().for_each(|problem| say(problem));
            Ok(ExitCode::FAILURE)
        }
        Err(service_file::Refused::Failed(error)) => Err(sentence(error)),
    }
}

async fn release(database: &Database, alias: &str) -> Result<(), String> {
    match service_file::release(&open(database).await?, alias).await.map_err(sentence)? {
        (slug, true) => print(&format!("released service {slug}\n")),
        (slug, false) => {
            say(&format!("the service {slug} was not locked"));
            Ok(())
        }
    }
}

async fn generate(database: &Database, services: u64, deploys: u64) -> Result<(), String> {
    let db = open(database).await?;
    generate::catalogue(&db, services, |done| show_progress(done, services, "services")).await.map_err(sentence)?;
    if deploys > 0 {
        let progress = |done| show_progress(done, deploys, "deploys");
        generate::deploys(&db, deploys, Timestamp::now(), progress).await.map_err(sentence)?;
    }
    Ok(())
}

async fn export(database: &Database) -> Result<(), String> {
    let db = open(database).await?;
    transfer::export(&db, &mut BufWriter::new(io::stdout().lock())).await.map(drop)
}

async fn import(database: &Database, file: &Path) -> Result<(), String> {
    let is_standard_input = file == Path::new("-");
    let mut input: Box<dyn BufRead> = match is_standard_input {
        true => Box::new(BufReader::new(io::stdin())),
        false => {
            let opened = fs::File::open(file);
            Box::new(BufReader::new(opened.map_err(|error| format!("{} cannot be read: {error}", file.display()))?))
        }
    };
    let name = if is_standard_input { "standard input".to_owned() } else { file.display().to_string() };
    let mut shown = 0;
    let progress = |rows: u64| {
        if rows - shown >= 10_000 && io::stderr().is_terminal() {
            shown = rows;
            let _ = write!(io::stderr(), "\r{rows} rows");
        }
    };
    let rows = transfer::import(&open(database).await?, &name, &mut input, progress).await?;
    say(&format!("{}{rows} rows are imported", if io::stderr().is_terminal() { "\r" } else { "" }));
    Ok(())
}

/// Tells a person who waits how far it is.
fn show_progress(done: u64, all: u64, what: &str) {
    if io::stderr().is_terminal() {
        let end = if done < all { "" } else { "\n" };
        // Progress that cannot be shown is no reason to stop.
        let _ = write!(io::stderr(), "\r{done} of {all} {what}{end}");
    }
}

fn schema_diff(old: &Path, new: &Path) -> Result<ExitCode, String> {
    let read =
        |path: &Path| fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()));
    let (old_name, new_name) = (old.display().to_string(), new.display().to_string());
    let changes = schema_diff::diff((&old_name, &read(old)?), (&new_name, &read(new)?))?;
    print(&Report(&changes).to_string())?;
    let breaks = changes.iter().any(|change| change.class == Class::Breaking);
    Ok(if breaks { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Opens the database and brings it up to date, so that every command can be the first.
pub(crate) async fn open(database: &Database) -> Result<Db, String> {
    let db = db::connect(&database.url()?).await.map_err(sentence)?;
    db::migrate(&db).await.map_err(sentence)?;
    Ok(db)
}

/// Prints to standard output. A reader who has seen enough is no error.
fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("nothing can be printed: {error}")),
        _ => Ok(()),
    }
}

/// Prints a line to standard error, where it does not matter whether anybody reads it.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

pub(crate) fn sentence(error: impl Display) -> String {
    error.to_string()
}
