//! `rollcall serve`: starts the service from the settings, and stops it.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join;
use sea_orm::EntityTrait;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::{error, info, warn};

use super::console::{say, sentence};
use super::opened::{close, created_sentence, open};
use super::sd_notify::{self, READY, STOPPING};
use crate::api_document::{self, hosts::Hosts};
use crate::app::openid::{self, Provider};
use crate::app::openid_settings::OpenId;
use crate::background::spawn_again;
use crate::config::{Addresses, Listen, LogFormat, Passed, Serve, unknown_variables};
use crate::db::{self, Db, OpenError, Read, Version};
use crate::deploy;
use crate::entity::deploy::Environments;
use crate::entity::token::Lifetimes;
use crate::entity::{Timestamp, remembered, sign_in_link, token, user};
use crate::error::{Error, shortened};
use crate::events::Wanted;
use crate::events::mail::Mailer;
use crate::graphql::{self, Catalogue, Settings};
use crate::http::tls::Tls;
use crate::http::{self, App, Drained, Listener};
use crate::{log, outgoing, retention, spans};

/// Migrates the database and serves until SIGTERM or SIGINT. A second signal stops without waiting. SIGHUP reloads the
/// certificate. A socket that was `passed` takes the place of `--listen`.
///
/// # Errors
/// Why it cannot, in one sentence.
pub async fn run(settings: Serve, passed: Option<Passed>) -> Result<(), String> {
    log::start(&settings.log)?;
    for unknown in unknown_variables() {
        warn!("{}", unknown_variable(&unknown));
    }
    check_proxies(&settings)?;
    check_tokens(&settings)?;
    // The certificate and the ports first: if they fail, the database has not been touched.
    let tls = settings.addresses.tls.both();
    let tls = tls.map(|(certificate, key)| Tls::open(certificate, key)).transpose()?.map(Arc::new);
    let (listener, place) = listen(&settings.addresses, passed).await?;
    let metrics = match settings.metrics_listen {
        Some(address) => {
            let listener = Listener::open(&address.into(), 0, "--metrics-listen").await?;
            let place = listener.place().map_err(|error| error.to_string())?;
            Some((listener, place))
        }
        None => None,
    };
    let (openid, mail) = (settings.openid.provider()?, settings.mail.mailer()?);
    let exporter = settings.tracing.collector()?.map(spans::start).transpose()?;
    let replica = settings.read_database.url()?;
    let (mut db, created) = open(&settings.database).await?;
    if let Some(url) = replica {
        db = db.with_replica(&url).map_err(|error| error.to_string())?;
    }
    if let Some(file) = created {
        match settings.log.log_format {
            LogFormat::Text => say(&created_sentence(&file)),
            LogFormat::Json => info!(file = %file.display(), "created the database"),
        }
    }
    if exporter.is_some() {
        db.trace();
    }
    for file in db.readable_by_others() {
        let (path, mode) = (file.path.display(), file.mode);
        warn!(
            "other users of this machine may read {path}, which holds secrets (mode {mode:04o}); run: chmod 600 {path}"
        );
    }
    let ended = serve(&db, settings, Sockets { listener, place, tls, metrics }, (openid, mail)).await;
    if !matches!(ended, Ok(End::AtOnce))
        && let Err(reason) = close(&db).await
    {
        warn!("{reason}");
    }
    if let (Ok(End::Drained), Some(exporter)) = (&ended, exporter) {
        exporter.finish().await;
    }
    match ended? {
        End::Drained => Ok(()),
        End::AtOnce => Err("stopped at once, at the second signal".to_owned()),
    }
}

/// Says that a variable is no setting, and which one is probably meant.
pub(super) fn unknown_variable((name, meant): &(String, Option<String>)) -> String {
    let meant = meant.as_ref().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    format!("{} is not the variable of any setting{meant}", shortened(name))
}

/// The sockets of the service.
struct Sockets {
    listener: Listener,
    place: Listen,
    tls: Option<Arc<Tls>>,
    metrics: Option<(Listener, Listen)>,
}

/// How the service ended.
enum End {
    /// All requests were answered, or cut at the deadline.
    Drained,
    /// A second signal came before that.
    AtOnce,
}

/// The servers of others that the service uses: the OpenID provider, and the mail server.
type Outside = (Option<OpenId>, Option<Mailer>);

/// Builds the application from the settings.
fn app(db: &Db, settings: &Serve, app_url: &str, (openid, mail): Outside) -> App {
    let production = Environments::production(&settings.production_environments);
    let (account_name, budget) = (settings.account_name.clone(), settings.budget.limits());
    let estimate = settings.budget.max_estimate;
    let document_hosts = Hosts::from(settings.pull_documents_from.clone());
    let event_hosts = Hosts::from(settings.send_events_to.clone());
    let (url, body) = (app_url.to_owned(), settings.edge.max_body);
    let catalogue = Settings {
        account_name,
        app_url: url,
        budget,
        estimate,
        body,
        production,
        document_hosts,
        event_hosts,
        mail,
        issues_overdue_after: settings.code_issues_overdue_after,
        events: Wanted::all(),
        owner_only_writes: settings.owner_only_writes,
    };
    let app = App::new(db.clone(), Catalogue::new(db.clone(), catalogue), settings.edge.clone());
    let app = if settings.addresses.given_app_url().is_none() { app.with_origin_of_proxies() } else { app };
    let app = if settings.badges { app.with_badges() } else { app };
    let Some(openid) = openid else { return app };
    let provider = Provider::new(openid, format!("{app_url}{}", openid::CALLBACK));
    tokio::spawn(check(provider.clone()));
    app.with_provider(provider)
}

/// Serves until a signal arrives.
async fn serve(db: &Db, settings: Serve, sockets: Sockets, outside: Outside) -> Result<End, String> {
    let Sockets { listener, place, tls, metrics } = sockets;
    let mut signals = Signals::new().map_err(|error| error.to_string())?;

    let app_url = settings.addresses.app_url(&place);
    let app = Arc::new(app(db, &settings, &app_url, outside));
    let has_tokens = db.read().count(token::Entity::find()).await.map_err(sentence)? > 0;
    tell_of_start(&settings, &place, has_tokens);
    tell_of_proxy(&settings, &place);
    remember(db, settings.addresses.lasting_app_url(&place).as_deref()).await;
    remember_settings(db, &settings).await;
    tell_of_first_link(first_link(db).await?, &app_url, settings.log.log_format);
    if let Some((_, address)) = &metrics {
        info!(%address, "figures are shown at {}", http::metrics::PATH);
    }

    let tasks = start_tasks(db, &app, &settings);
    let (told, stop) = tokio::sync::oneshot::channel();
    let service = http::serve(Arc::clone(&app), listener, tls.clone(), async {
        // An error means that the sender is gone, which also means to stop.
        let _ = stop.await;
        for task in tasks {
            task.abort();
        }
    });
    let twice = async {
        signals.next(tls.as_deref()).await;
        sd_notify::tell(STOPPING);
        let _ = told.send(());
        signals.next(tls.as_deref()).await;
    };
    let show_metrics = async {
        match metrics {
            Some((listener, _)) => http::serve_metrics(app, listener).await,
            None => pending().await,
        }
    };
    tokio::pin!(service);
    sd_notify::tell(READY);
    let drained = tokio::select! {
        drained = &mut service => drained,
        () = twice => return Ok(End::AtOnce),
        never = show_metrics => match never {},
    };
    if let Drained::Cut(connections) = drained {
        warn!(connections, "connections were cut at the end of the drain");
    }
    Ok(End::Drained)
}

/// Starts the background tasks.
fn start_tasks(db: &Db, app: &Arc<App>, settings: &Serve) -> Vec<JoinHandle<()>> {
    let mut tasks = vec![
        spawn_with(db, "figures of deploys", deploy::figures::build::run),
        spawn_with(db, "removal of old idempotency keys", retention::run_idempotency_keys),
        spawn_with(db, "removal of feeds that nobody reads", retention::run_feeds),
        spawn_with(db, "check of the database's version", watch_version),
        spawn_with(db, "checks of custom events", graphql::standards::check::run_events),
    ];
    if let Some(keep) = settings.deploy_retention {
        tasks.push(spawn_with(db, "removal of old deploys", move |db| deploy::retention::run(db, keep)));
    }
    if let Some(keep) = settings.audit_retention {
        tasks.push(spawn_with(db, "removal of old audit entries", move |db| retention::run_audit(db, keep)));
    }
    tasks.push(match db.is_shared() {
        true => spawn_with(db, "removal of old windows of rate limits", retention::run_windows),
        false => spawn_with(db, "search for another server", watch_for_another),
    });
    let sender = app.event_sender();
    let wanted = sender.wanted().clone();
    tasks.push(spawn_with(db, "results of checks", move |db| {
        graphql::standards::check::history::run(db, wanted.clone())
    }));
    tasks.push(spawn_again("events", move || sender.clone().run()));
    let (app, hosts) = (Arc::clone(app), Hosts::from(settings.pull_documents_from.clone()));
    tasks.push(spawn_with(db, "pulls of API documents", move |db| {
        let (app, hosts) = (Arc::clone(&app), hosts.clone());
        api_document::pull::run(db, hosts, Box::new(move |pulled| app.note_pull(pulled)))
    }));
    tasks
}

/// Starts a background task that uses the database.
fn spawn_with<F>(db: &Db, name: &'static str, run: impl Fn(Db) -> F + Send + 'static) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let db = db.clone();
    spawn_again(name, move || run(db.clone()))
}

/// Opens the socket, or takes the one that was passed.
async fn listen(addresses: &Addresses, passed: Option<Passed>) -> Result<(Listener, Listen), String> {
    let listener = match passed {
        Some(passed) => Listener::adopt(passed).map_err(|why| format!("the passed socket cannot be used: {why}"))?,
        None => Listener::open(&addresses.listen, addresses.listen_mode, "--listen").await?,
    };
    let listener = if addresses.proxy_protocol { listener.with_proxy_headers() } else { listener };
    let place = listener.place().map_err(|error| error.to_string())?;
    Ok((listener, place))
}

/// Prints where the service is and, while there is no token, how to begin.
fn tell_of_start(settings: &Serve, place: &Listen, has_tokens: bool) {
    let url = settings.addresses.base_url(place);
    let hint = (!has_tokens).then(|| {
        let database = settings.database.flag();
        format!("make a first token with: rollcall token create --description \"my first token\"{database}")
    });
    match settings.log.log_format {
        LogFormat::Text => {
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            say(&format!("rollcall listens on {place} ({url}/graphql){hint}"));
        }
        LogFormat::Json => info!(address = %place, url, hint, "listening"),
    }
}

/// Remembers `--app-url`, or else where the server listens, for commands that are not told it. Without it, they print a link
/// that may not work. A start that has neither forgets an earlier one.
async fn remember(db: &Db, app_url: Option<&str>) {
    let known = remembered::app_url(db.read()).await;
    // Most starts change nothing, also on a full disk.
    if known.is_ok_and(|known| known.as_deref() == app_url) {
        return;
    }
    let done = db.write(async |tx| match app_url {
        Some(app_url) => remembered::set_app_url(tx, app_url).await,
        None => remembered::forget_app_url(tx).await,
    });
    if let Err(error) = done.await {
        warn!(%error, "the address cannot be remembered for rollcall sign-in-link");
    }
}

/// Remembers what counts as production, for whatever evaluates checks, and how long tokens are valid, for whatever makes
/// them.
async fn remember_settings(db: &Db, settings: &Serve) {
    let production = Environments::production(&settings.production_environments);
    let lifetimes = Lifetimes::new(settings.tokens_expire_after, settings.tokens_expire_within);
    let known = try_join(remembered::production(db.read()), remembered::token_lifetimes(db.read())).await;
    // Most starts change nothing, also on a full disk.
    if known.is_ok_and(|(known, own)| known == production && own == lifetimes) {
        return;
    }
    let done = db.write(async |tx| {
        remembered::set_production(tx, &production).await?;
        remembered::set_token_lifetimes(tx, lifetimes).await
    });
    if let Err(error) = done.await {
        warn!(%error, "--production-environments, --tokens-expire-after and --tokens-expire-within cannot be remembered");
    }
}

/// Checks that it is said whose PROXY headers to believe.
///
/// # Errors
/// What is missing, in one sentence.
pub fn check_proxies(settings: &Serve) -> Result<(), String> {
    if settings.addresses.proxy_protocol && settings.edge.trusted_proxies.is_empty() {
        return Err("--proxy-protocol needs --trusted-proxies, which says whose PROXY headers to believe".to_owned());
    }
    Ok(())
}

/// Refuses a default lifetime of tokens that is longer than the longest.
pub fn check_tokens(settings: &Serve) -> Result<(), String> {
    match (settings.tokens_expire_after, settings.tokens_expire_within) {
        (Some(after), Some(within)) if after > within => {
            Err("--tokens-expire-after is longer than --tokens-expire-within: a new token would be valid for longer than any \
                 token may be"
                .to_owned())
        }
        _ => Ok(()),
    }
}

/// Returns why there must be a proxy that is not trusted, if that shows in the settings. The rate limits then count all
/// its clients as one.
pub fn untrusted_proxy(settings: &Serve, listening: &Listen) -> Option<String> {
    let addresses = &settings.addresses;
    if !settings.edge.trusted_proxies.is_empty() {
        return None;
    }
    if matches!(listening, Listen::Unix(_)) {
        return Some("everyone comes through a Unix socket, which counts as 127.0.0.1".to_owned());
    }
    let url = addresses.given_app_url()?;
    let is_elsewhere = listening.is_local() && !outgoing::is_loopback(url);
    let is_proxys = is_elsewhere || url.starts_with("https://") && addresses.tls.both().is_none();
    is_proxys.then(|| format!("--app-url {url} is a proxy's"))
}

/// Warns at the start if there appears to be a proxy that is not trusted.
fn tell_of_proxy(settings: &Serve, listening: &Listen) {
    if let Some(why) = untrusted_proxy(settings, listening) {
        warn!("{why}, and --trusted-proxies is not set: the limits see all its clients as one");
    }
}

/// Checks the provider at the start, so that a problem is logged before anyone wants to sign in.
async fn check(provider: Provider) {
    let issuer = &provider.settings().issuer;
    match provider.check().await {
        Ok(()) => info!(issuer, "people can sign in at the OpenID provider"),
        Err(cause) => warn!(issuer, cause, "nobody can sign in at the OpenID provider as yet"),
    }
}

/// The interval of checks of the database's version.
const VERSION: Duration = Duration::from_secs(10);

/// Checks the database's version regularly. A newer program may migrate it so that this one must not write to it any
/// more.
async fn watch_version(db: Db) {
    let (mut was_newer, mut was_too_new) = (false, false);
    loop {
        match db::version(&db).await {
            Ok(version) => {
                let is_newer = matches!(version, Version::Newer { .. });
                if let Version::Newer { step } = version
                    && !was_newer
                {
                    info!(step, "a newer version has upgraded the database: this one goes on beside it");
                }
                (was_newer, was_too_new) = (is_newer, false);
            }
            Err(error @ OpenError::Newer { .. }) => {
                if !was_too_new {
                    error!(%error, "a newer version has upgraded the database: nothing is written any more");
                }
                was_too_new = true;
            }
            // Requests report an unreachable database themselves.
            Err(_) => {}
        }
        sleep(VERSION).await;
    }
}

/// How often a server that has found another one checks whether that has stopped.
const ALONE: Duration = Duration::from_secs(10);

/// Warns if another server uses the same file. Otherwise marks the file, so that a server that starts later warns, until
/// this one is told to stop.
async fn watch_for_another(db: Db) {
    let mut was_found = false;
    loop {
        match db.mark_as_served() {
            // Kept until this task is aborted.
            Ok(Some(_mark)) => return pending().await,
            Ok(None) if !was_found => {
                was_found = true;
                warn!(
                    file = db.place(),
                    "another server uses the same database file: they make each other's changes wait, and each applies \
                     the limits on requests by itself; stop one of them, unless the other is about to end"
                );
            }
            // Not every file system has locks.
            Ok(None) | Err(_) => {}
        }
        sleep(ALONE).await;
    }
}

/// The sign-in link for the first administrator.
enum FirstLink {
    /// There is an administrator.
    NotNeeded,
    /// Another process, started at the same time, has printed one.
    Elsewhere,
    /// Its path.
    Here(String),
}

/// Creates a sign-in link for the first administrator, if there is no administrator. Of several processes that start
/// together, only one creates a link.
async fn first_link(db: &Db) -> Result<FirstLink, String> {
    let made = db.write(async |tx| {
        db::one_process_at_a_time(tx).await?;
        let now = Timestamp::now();
        let since = Timestamp::from_micros(now.as_micros() - TOGETHER);
        Ok::<_, Error>(match user::any_administrator(tx).await? {
            true => FirstLink::NotNeeded,
            false if !db::has_one_writer(tx) && sign_in_link::first_was_made_since(tx, since).await? => {
                FirstLink::Elsewhere
            }
            false => FirstLink::Here(sign_in_link::path(&sign_in_link::create(tx, None, now).await?)),
        })
    });
    made.await.map_err(sentence)
}

/// Prints the link for the first administrator.
fn tell_of_first_link(link: FirstLink, app_url: &str, format: LogFormat) {
    match link {
        FirstLink::NotNeeded => {}
        FirstLink::Elsewhere => info!(
            "there is no administrator yet: another process has just printed a link for the first one; for a new link \
             run: rollcall sign-in-link"
        ),
        FirstLink::Here(path) => {
            let link = format!("{app_url}{path}");
            match format {
                LogFormat::Text => say(&format!("there is no administrator yet: become the first one at {link}")),
                LogFormat::Json => info!(link, "there is no administrator yet: become the first one"),
            }
        }
    }
}

/// Processes that start within this time of each other start together, in microseconds.
const TOGETHER: i64 = 20_000_000;

/// The signals that control the service.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a stop signal. Reloads the certificate on each SIGHUP until then.
    async fn next(&mut self, tls: Option<&Tls>) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                Some(()) = self.hang_up.recv() => match tls.map(Tls::reload) {
                    Some(Ok(())) => info!("the TLS certificate was read again"),
                    Some(Err(reason)) => error!(reason, "the TLS certificate stays as it was"),
                    None => info!("there is nothing to read again at SIGHUP"),
                },
            }
        }
    }
}
