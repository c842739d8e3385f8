//! The process: the command line's commands, and the server from start to drain.
//!
//! Invariants: nothing outside imports this folder. A command opens the database, does one thing, closes the database and
//! prints the result. Results for programs go to standard output, everything else to standard error. A failure is one
//! sentence.
//!
//! [`serve`] is the server. [`apply`], [`check`], [`doctor`](mod@doctor), [`healthcheck`], [`sender`] (`rollcall
//! deploy`), [`standards`] and [`reading`] are commands, and [`long`] has those that take long. [`remote`] is the
//! server that a command asks, [`contexts`] where its token is kept, [`ourselves`] the way to the server on this
//! machine, [`opened`] the database of a command. [`console`] has the two outputs, [`progress`] says how far a command
//! is, and [`sd_notify`] tells systemd.

mod apply;
pub mod check;
mod console;
mod contexts;
pub mod doctor;
pub mod healthcheck;
mod long;
mod opened;
mod ourselves;
mod progress;
pub mod reading;
mod remote;
mod sd_notify;
pub mod sender;
pub mod serve;
mod standards;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sea_orm::ActiveEnum;
use serde_json::{Value as Json, json};
use spelling::nearest;
use tokio::runtime::Runtime;

use self::console::{print, say, sentence};
use self::opened::{existing, with_database, with_new_database};
use crate::config::{
    self, Addresses, Command, Database, DeployEndpointCommand, Listen, Passed, SchemaCommand, Serve, TokenCommand,
};
use crate::db::{self, Before, Db, RowOf, Secret, Transaction};
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::change;
use crate::entity::field_rule::FieldRules;
use crate::entity::integration::{self, Kind};
use crate::entity::text::one_line;
use crate::entity::token::Expiry;
use crate::entity::user;
use crate::entity::{Timestamp, remembered, sign_in_link as link, token};
use crate::error::{Error, UserError};
use crate::graphql::SDL;
use crate::schema_diff::{self, Class, Report};
use crate::{demo, evaluation, service_file};

/// How long the process waits at its end for work that blocks a thread.
const ENDING: Duration = Duration::from_secs(1);

/// The most addresses among which the nearest to a misspelt one is looked for.
pub const MOST_ADDRESSES: u64 = 10_000;

/// Runs a command and prints why it failed.
///
/// The runtime is started here and not in `main.rs`: the crate that starts a future compiles all of the future's code
/// again.
pub fn run(command: Command) -> ExitCode {
    if matches!(command, Command::Evaluate) {
        return evaluation::worker::run();
    }
    if let Some(program) = config::own_program() {
        evaluation::use_program(program);
    }
    // Before any thread starts: this changes the environment.
    let passed = if matches!(command, Command::Serve(_)) { config::passed_socket() } else { Ok(None) };
    let done = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the program cannot start: {error}"))
        .and_then(|runtime| run_on(runtime, carry_out(command, passed?)));
    done.unwrap_or_else(|refusal| {
        say(&format!("rollcall: {refusal}"));
        ExitCode::FAILURE
    })
}

/// Runs a future to its end, and then waits only [`ENDING`] for work that still blocks. No answer depends on that work:
/// a write is answered after its flush.
fn run_on<T>(runtime: Runtime, work: impl Future<Output = T>) -> T {
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(ENDING);
    done
}

/// Runs a command. The error is one sentence.
async fn carry_out(command: Command, passed: Option<Passed>) -> Result<ExitCode, String> {
    match command {
        Command::Serve(settings) => Box::pin(serve::run(*settings, passed)).await?,
        Command::Token(command) => token_command(command).await?,
        Command::DeployEndpoint(command) => deploy_endpoint_command(command).await?,
        Command::SignInLink { email, name, addresses, database } => {
            sign_in_link(&database, &addresses, &email, name.as_deref()).await?;
        }
        Command::Doctor(settings) => return Box::pin(doctor(&settings)).await,
        Command::Healthcheck { live, addresses } => {
            print(&tokio::task::block_in_place(|| healthcheck::run(&addresses, live))?)?;
        }
        Command::Migrate(database) => long::migrate(&database).await?,
        Command::Backup { file, database } => {
            tokio::task::block_in_place(|| long::backup(&database, file))?;
        }
        Command::Export { output, replace, database } => long::export(&database, output.as_deref(), replace).await?,
        Command::Import { file, database } => long::import(&database, &file).await?,
        Command::Schema(SchemaCommand::Print) => print(SDL)?,
        Command::Schema(SchemaCommand::Diff { old, new }) => return schema_diff(&old, &new),
        Command::Apply(settings) => {
            if !settings.has_server() {
                existing(&settings.database)?;
            }
            return Box::pin(apply::run(&settings)).await;
        }
        Command::Release { alias, database } => release(&database, &alias).await?,
        Command::Deploy(settings) => {
            print(&format!("{}\n", tokio::task::block_in_place(|| sender::send(&settings))?))?;
        }
        Command::Check(settings) => return tokio::task::block_in_place(|| check::run(&settings)),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut config::program(), "rollcall", &mut text);
            print(&String::from_utf8_lossy(&text))?;
        }
        Command::Manual { folder } => {
            clap_mangen::generate_to(config::program(), &folder)
                .map_err(|error| format!("manual pages cannot be written to {}: {error}", folder.display()))?;
        }
        Command::Standards(command) => tokio::task::block_in_place(|| standards::run(&command))?,
        Command::Reading(command) => return tokio::task::block_in_place(|| reading::run(command)),
        // It needs no runtime, and has ended before.
        Command::Evaluate => {}
        Command::Demo(database) => demo(&database).await?,
        Command::Generate { services, deploys, database } => long::generate(&database, services, deploys).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn token_command(command: TokenCommand) -> Result<(), String> {
    let actor = Actor::command_line();
    match command {
        TokenCommand::Create { description, scope, expires, database } => {
            let (now, expiry) = (Timestamp::now(), expires.unwrap_or_default());
            let made = with_database(&database, async |db| {
                let lifetimes = remembered::token_lifetimes(db.read()).await.map_err(sentence)?;
                let end = lifetimes.end(expiry, now)?;
                let made = db.write(async |db| token::create(db, &actor, &description, scope.into(), end, now).await);
                Ok::<_, String>((made.await.map_err(sentence)?, end))
            });
            let (secret, end) = made.await?;
            if let (Expiry::Default, Some(end)) = (expiry, end) {
                let day: String = end.to_string().chars().take(10).collect();
                say(&format!("the token expires on {day}, as the server is set"));
            }
            print(&format!("{}\n", secret.reveal()))
        }
        TokenCommand::List(database) => {
            let tokens = with_database(&database, async |db| token::all(db.read()).await.map_err(sentence)).await?;
            let lines = tokens.iter().map(|token| {
                let moment = |moment: Option<Timestamp>| moment.map_or("-".to_owned(), |moment| moment.to_string());
                let scope = token.scope.to_value();
                let (id, made, description) = (token.id, token.created_at, one_line(&token.description));
                let (used, expires) = (moment(token.last_used_at), moment(token.expires_at));
                format!("{id}\t{scope}\t{made}\t{used}\t{expires}\t{description}\n")
            });
            print(&lines.collect::<String>())
        }
        TokenCommand::Rotate { id, overlap, database } => {
            let now = Timestamp::now();
            let overlap = i64::try_from(overlap.as_micros()).unwrap_or(i64::MAX);
            let end = Timestamp::from_micros(now.as_micros().saturating_add(overlap));
            let made = with_database(&database, async |db| {
                db.write(async |db| token::rotate(db, &actor, id, end, now).await).await.map_err(sentence)
            });
            let secret = made.await?.ok_or_else(|| format!("no token has the id {id}"))?;
            print(&format!("{}\n", secret.reveal()))?;
            match end > now {
                true => say(&format!("the old token is valid until {} at most", minute(end))),
                false => say("the old token is not valid any more"),
            }
            Ok(())
        }
        TokenCommand::Delete { id, database } => {
            let deleted = with_database(&database, async |db| {
                db.write(async |db| token::delete(db, &actor, id).await).await.map_err(sentence)
            });
            if deleted.await? { Ok(()) } else { Err(format!("no token has the id {id}")) }
        }
    }
}

/// A time to the minute.
fn minute(time: Timestamp) -> String {
    let exact: String = time.to_string().chars().take(16).collect();
    exact.replace('T', " ") + " UTC"
}

async fn deploy_endpoint_command(command: DeployEndpointCommand) -> Result<(), String> {
    let url = |app_url: &str, endpoint: &integration::Model| {
        let path = integration::webhook_path(Kind::Deploy, endpoint.webhook_id.as_ref().map_or("", Secret::reveal));
        format!("{app_url}{path}")
    };
    match command {
        DeployEndpointCommand::Create { name, addresses, database } => {
            let name = integration::Entity::rule(integration::Column::Name).required_text(&name);
            let name = name.map_err(|error| error.message.into_owned())?;
            let made = with_database(&database, async |db| {
                let made = db.write(async |db| {
                    let made = integration::create(db, Kind::Deploy, name, Timestamp::now()).await?;
                    note_endpoint(db, "eventIntegrationCreate", &made, change::between(None, Some(&made))).await?;
                    Ok::<_, Error>(made)
                });
                let made = made.await.map_err(sentence)?;
                Ok((app_url(db, &addresses).await?, made))
            });
            let (app_url, made) = made.await?;
            print(&format!("{}\n", url(&app_url, &made)))
        }
        DeployEndpointCommand::List { addresses, database } => {
            let endpoints = with_database(&database, async |db| {
                let endpoints = integration::deploy_endpoints(db.read()).await.map_err(sentence)?;
                Ok((app_url(db, &addresses).await?, endpoints))
            });
            let (app_url, endpoints) = endpoints.await?;
            let line = |endpoint: &integration::Model| {
                format!("{}\t{}\t{}\n", endpoint.id, url(&app_url, endpoint), one_line(&endpoint.name))
            };
            print(&endpoints.iter().map(line).collect::<String>())
        }
        DeployEndpointCommand::Delete { id, database } => {
            let deleted = with_database(&database, async |db| {
                // So that a server beside this command can write.
                if integration::deploy_endpoint(db.read(), id).await.map_err(sentence)?.is_some() {
                    db.shed("integration", id).await.map_err(sentence)?;
                }
                let deleted = db.write(async |db| {
                    let deleted = integration::delete_deploy_endpoint(db, id).await?;
                    if let Some(endpoint) = &deleted {
                        note_endpoint(db, "integrationDelete", endpoint, change::between(Some(endpoint), None)).await?;
                    }
                    Ok::<_, db::Error>(deleted)
                });
                deleted.await.map_err(sentence)
            });
            deleted.await?.map(drop).ok_or_else(|| format!("no deploy endpoint has the id {id}"))
        }
    }
}

/// Records a change to a deploy endpoint in the audit, in the API's terms.
async fn note_endpoint(
    db: &dyn db::WriteHandle,
    action: &str,
    endpoint: &integration::Model,
    changed: Json,
) -> Result<(), db::Error> {
    let subject = Subject::new("Integration", Some(endpoint.id), &endpoint.name);
    let detail = json!({ "changed": changed });
    audit::record(db, &Actor::command_line(), action, subject, &detail).await
}

async fn sign_in_link(
    database: &Database,
    addresses: &Addresses,
    email: &str,
    name: Option<&str>,
) -> Result<(), String> {
    let (now, actor) = (Timestamp::now(), Actor::command_line());
    let made = async |db: &Db, tx: &Transaction| {
        let first = !user::any_administrator(tx).await?;
        let user = match user::by_email(tx, email).await? {
            Some(user) if !first => user,
            None if !first => {
                let near = near(email, &user::emails(tx, MOST_ADDRESSES).await?);
                let near = near.map(|near| format!("; the nearest is \"{near}\"")).unwrap_or_default();
                let unknown =
                    format!("no user has the email address \"{email}\"{near}; an administrator can invite one");
                return Err(UserError::new("email", unknown).into());
            }
            _ => {
                let user = user::first_administrator(tx, email, name, now).await?;
                let row = RowOf::new::<user::Entity>(user.id);
                let changed = change::diff(Before::Committed(db.committed()), tx, row).await?;
                let detail = json!({ "changed": changed });
                audit::record(tx, &actor, "firstAdministrator", user.subject(), &detail).await?;
                user
            }
        };
        audit::record(tx, &actor, "signInLinkCreate", user.subject(), &json!({})).await?;
        link::create(tx, Some(user.id), now).await
    };
    let link = with_database(database, async |db| {
        let key = db.write(async |tx| made(db, tx).await).await.map_err(sentence)?;
        Ok(app_url(db, addresses).await? + &link::path(&key))
    });
    print(&format!("{}\n", link.await?))
}

/// The address that a misspelt one probably means: another name at its host, or its name at another host.
fn near(email: &str, known: &[String]) -> Option<String> {
    let (name, host) = email.rsplit_once('@')?;
    let known = || known.iter().filter_map(|address| address.rsplit_once('@'));
    let names = known().filter(|(_, other)| other.eq_ignore_ascii_case(host)).map(|(name, _)| name);
    let hosts = known().filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, host)| host);
    match nearest(name, names) {
        Some(name) => Some(format!("{name}@{host}")),
        None => nearest(host, hosts).map(|host| format!("{name}@{host}")),
    }
}

/// The address of the application: the one that `--app-url` or `--listen` names, or else the `--app-url` that a server
/// last started with, or where it listened, or else where a server listens by default.
async fn app_url(db: &Db, addresses: &Addresses) -> Result<String, String> {
    if let Some(named) = addresses.named_app_url() {
        return Ok(named);
    }
    let remembered = remembered::app_url(db.read()).await.map_err(sentence)?;
    if remembered.is_none() && matches!(addresses.listen, Listen::Unix(_)) {
        say("a socket has no address that others reach: name the server's with --app-url, or start the server with it");
    }
    Ok(remembered.unwrap_or_else(|| addresses.app_url(&addresses.listen)))
}

async fn doctor(settings: &Serve) -> Result<ExitCode, String> {
    let findings = doctor::examine(settings).await;
    print(&findings.iter().map(ToString::to_string).collect::<String>())?;
    Ok(if findings.iter().any(doctor::Finding::is_problem) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn release(database: &Database, alias: &str) -> Result<(), String> {
    let released = with_database(database, async |db| service_file::release(db, alias).await.map_err(sentence));
    match released.await? {
        (slug, true) => print(&format!("released service {}\n", one_line(&slug))),
        (slug, false) => {
            say(&format!("the service {slug} was not locked"));
            Ok(())
        }
    }
}

async fn demo(database: &Database) -> Result<(), String> {
    let fill = async |db: &Db| Box::pin(demo::fill(db, Timestamp::now())).await.map_err(sentence);
    let (services, deploys) = with_new_database(database, fill).await?;
    print(&format!(
        "An example company: {services} services of 6 teams, and {deploys} deploys.\n\
         Start the server with rollcall{}, sign in, and look at:\n\
         /                          what fails, who is on call, what changed\n\
         /services/cart             a service that is failing\n\
         /teams                     the teams as a tree\n\
         /delivery?team=payments    how a team delivers\n\
         /standards                 which services meet what is asked of them\n\
         /suggestions               names that no service has\n",
        database.flag()
    ))
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_misspelt_address_is_near_to_another_name_or_another_host_but_not_to_a_stranger() {
        let known = ["ada@example.com", "grace.hopper@example.com", "ada@example.org"].map(str::to_owned);
        for (email, expected) in [
            ("grace.hoper@example.com", Some("grace.hopper@example.com")),
            ("Grace.Hopper@exmaple.com", Some("Grace.Hopper@example.com")),
            ("eve@example.com", None),
            ("eve@other.net", None),
            ("ada", None),
            ("", None),
        ] {
            assert_eq!(near(email, &known).as_deref(), expected, "{email}");
        }
    }

    #[test]
    fn blocking_work_does_not_keep_the_process_from_ending() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let (hold, held) = mpsc::channel::<()>();
        let began = Instant::now();
        run_on(runtime, async {
            let (begun, has_begun) = tokio::sync::oneshot::channel();
            tokio::task::spawn_blocking(move || {
                let _ = begun.send(());
                let _ = held.recv_timeout(Duration::from_secs(60));
            });
            has_begun.await.expect("the work has begun");
        });
        assert!(began.elapsed() < Duration::from_secs(30));
        drop(hold);
    }
}
