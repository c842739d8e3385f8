//! Mail: the server that takes it, and how a message is handed over. An administrator of the server chooses it, so it may be
//! anywhere; whoever makes a subscription chooses no more than an address.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lettre::address::Envelope;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, SinglePart};
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, transport::smtp};
use percent_encoding::percent_decode_str;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use url::Url;

use super::message::Message;
use super::receiver::{RESPONSE, TIMEOUT};
use crate::entity::event_subscription::Model as Subscription;
use crate::entity::text;
use crate::error::UserError;

/// How many messages are handed to the mail server at a time, of all subscriptions. Others wait.
pub const AT_ONCE: usize = 8;

/// How many of them may be those of one subscription.
pub const OF_SUBSCRIPTION: usize = 2;

/// How long a message waits for others to be handed over, before it is left for later.
pub(super) const PLACE: Duration = Duration::from_secs(5);

/// The least time that must be left for the text of a message. It would be sent twice if the server took it too late.
const ENOUGH: Duration = Duration::from_secs(2);

/// Why a subscription that sends mail cannot be made.
pub const NO_SERVER: &str =
    "this server sends no mail: an administrator of the server can name a mail server with --smtp-url";

/// Checks the address that a client gives, and returns it with its domain.
pub fn check(email: &str) -> Result<(String, String), UserError> {
    let email = text::required("receiverEmail", email, text::SHORT)?;
    match email.parse::<Address>() {
        // Any other would need a server with an extension that few have.
        Ok(address) if email.is_ascii() => Ok((email, address.domain().to_owned())),
        _ => {
            let rule = "receiverEmail must be one address such as name@example.com, in ASCII letters";
            Err(UserError::new("receiverEmail", rule))
        }
    }
}

/// Reads the sender of all mail: `rollcall@example.com`, or `Catalogue <rollcall@example.com>`.
///
/// # Errors
/// How to write it.
pub fn sender(text: &str) -> Result<Mailbox, String> {
    let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, address)) => (Some(text::trim(name).trim_matches('"').to_owned()), address),
        None => (None, text),
    };
    let is_line = text::short_fault(text).is_none() && address.is_ascii();
    match address.parse::<Address>() {
        Ok(address) if is_line => Ok(Mailbox::new(name.filter(|name| !name.is_empty()), address)),
        _ => Err("write it like rollcall@example.com, or Catalogue <rollcall@example.com>".to_owned()),
    }
}

/// A mail server.
#[derive(Clone)]
struct Server {
    host: String,
    port: u16,
    encryption: Encryption,
    credentials: Option<Credentials>,
    /// What we call ourselves.
    hello: ClientId,
}

/// How a connection is encrypted.
#[derive(Clone)]
enum Encryption {
    None,
    /// From its beginning.
    Whole(TlsParameters),
    /// After `STARTTLS`, without which nothing is sent.
    Begun(TlsParameters),
}

/// How the URL of a mail server is written.
const URL_RULE: &str =
    "write it like smtps://USER:PASSWORD@mail.example.com, smtp://mail.example.com?tls=required or smtp://127.0.0.1:25";

impl Server {
    /// Reads a URL: `smtps://`, or `smtp://`, which takes `?tls=required` for STARTTLS. A path is the name that we give
    /// ourselves in `EHLO`.
    fn read(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|_| URL_RULE.to_owned())?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(URL_RULE)?;
        let host = host.trim_matches(['[', ']']).to_owned();
        let begins = match url.query() {
            None | Some("") => false,
            Some("tls=required") => true,
            Some(_) => return Err(format!("the only parameter is tls=required: {URL_RULE}")),
        };
        let tls =
            || TlsParameters::new(host.clone()).map_err(|error| format!("no connection can be encrypted: {error}"));
        let (encryption, port) = match (url.scheme(), begins) {
            ("smtps", false) => (Encryption::Whole(tls()?), smtp::SUBMISSIONS_PORT),
            ("smtp", true) => (Encryption::Begun(tls()?), smtp::SUBMISSION_PORT),
            ("smtp", false) => (Encryption::None, smtp::SMTP_PORT),
            ("smtps", true) => {
                return Err("smtps:// is encrypted from the beginning: leave out tls=required".to_owned());
            }
            _ => return Err(URL_RULE.to_owned()),
        };
        let credentials = credentials(&url)?;
        if credentials.is_some() && matches!(encryption, Encryption::None) && !is_here(&host) {
            let why = "a password is sent to another machine only by smtps://, or with ?tls=required";
            return Err(why.to_owned());
        }
        let name = url.path().trim_matches('/');
        let hello = if name.is_empty() { ClientId::default() } else { ClientId::Domain(name.to_owned()) };
        Ok(Self { port: url.port().unwrap_or(port), host, encryption, credentials, hello })
    }

    /// A connection that takes messages.
    fn connect(&self, deadline: Instant) -> Result<SmtpConnection, smtp::Error> {
        let mut connection = self.open(deadline)?;
        self.sign_in(&mut connection, deadline)?;
        Ok(connection)
    }

    /// A connection that is encrypted as it should be.
    fn open(&self, deadline: Instant) -> Result<SmtpConnection, smtp::Error> {
        let tls = match &self.encryption {
            Encryption::Whole(tls) => Some(tls),
            Encryption::None | Encryption::Begun(_) => None,
        };
        let place = (&*self.host, self.port);
        let mut connection = SmtpConnection::connect(place, Some(left(deadline)), &self.hello, tls, None)?;
        limit(&mut connection, deadline);
        if let Encryption::Begun(tls) = &self.encryption {
            connection.starttls(tls, &self.hello)?;
            limit(&mut connection, deadline);
        }
        Ok(connection)
    }

    /// Signs in, if there is a password.
    fn sign_in(&self, connection: &mut SmtpConnection, deadline: Instant) -> Result<(), smtp::Error> {
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials)?;
            limit(connection, deadline);
        }
        Ok(())
    }

    /// Connects and signs in as for a message, and sends none.
    fn try_out(&self, deadline: Instant) -> Result<(), String> {
        let mut connection = self.open(deadline).map_err(|error| why(&error).1)?;
        self.sign_in(&mut connection, deadline).map_err(|error| format!("signing in fails: {}", why(&error).1))?;
        let _ = connection.quit();
        Ok(())
    }
}

/// The user and the password of a URL.
fn credentials(url: &Url) -> Result<Option<Credentials>, String> {
    let read = |text: &str| {
        let text = percent_decode_str(text).decode_utf8().map_err(|_| "the user or the password is not UTF-8")?;
        Ok::<_, String>(text.into_owned())
    };
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        (user, Some(password)) if !user.is_empty() => Ok(Some(Credentials::new(read(user)?, read(password)?))),
        _ => Err("it needs both a user and a password, or neither; write special characters as %40".to_owned()),
    }
}

fn is_here(host: &str) -> bool {
    host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || host.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback())
}

/// The time that is left, which is never nothing: that would mean for ever.
fn left(deadline: Instant) -> Duration {
    Ord::max(deadline.saturating_duration_since(Instant::now()), Duration::from_millis(1))
}

/// Sets how long the next answer may take. Where it cannot be set, the earlier time holds.
fn limit(connection: &mut SmtpConnection, deadline: Instant) {
    let _ = connection.set_timeout(Some(left(deadline)));
}

/// Sends mail. Cheap to clone.
#[derive(Clone)]
pub struct Mailer(Arc<Inner>);

struct Inner {
    server: Server,
    from: Mailbox,
    places: Arc<Semaphore>,
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer").field("host", &self.0.server.host).finish_non_exhaustive()
    }
}

/// Why a message was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Untaken {
    /// The server refuses this message.
    Refused { status: u16, error: String },
    /// The server takes nothing at the moment, or nothing for this address.
    Down { status: Option<u16>, error: String },
    /// It was not offered to the server: too many others are being handed over.
    Untried,
}

/// Statuses by which a server says that it does not take mail from us at all.
const NOT_FROM_US: [u16; 5] = [421, 530, 534, 535, 538];

impl Mailer {
    /// Sends by the server of this URL, from this sender.
    ///
    /// # Errors
    /// What is wrong with the URL, without anything of it.
    pub fn new(url: &str, from: Mailbox) -> Result<Self, String> {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Ok(Self(Arc::new(Inner { server: Server::read(url)?, from, places })))
    }

    /// The server's address.
    pub fn place(&self) -> String {
        format!("{}:{}", self.0.server.host, self.0.server.port)
    }

    /// How mail goes there: whether it is encrypted on its way to another machine, and in words.
    pub fn way(&self) -> (bool, &'static str) {
        let Server { host, encryption, credentials, .. } = &self.0.server;
        match (encryption, credentials.is_some()) {
            (Encryption::None, signs_in) => {
                (is_here(host), if signs_in { "not encrypted, signed in" } else { "not encrypted, without a password" })
            }
            (_, true) => (true, "encrypted, signed in"),
            (_, false) => (true, "encrypted, without a password"),
        }
    }

    /// Connects to the server and signs in, as for a message, within [`TIMEOUT`]. Sends nothing.
    ///
    /// # Errors
    /// Why no message could be handed over, in a few words without the password.
    pub async fn try_out(&self) -> Result<(), String> {
        let (inner, deadline) = (Arc::clone(&self.0), Instant::now() + TIMEOUT);
        let tried = tokio::task::spawn_blocking(move || inner.server.try_out(deadline));
        match timeout(TIMEOUT, tried).await {
            Ok(Ok(tried)) => tried,
            Ok(Err(_)) => Err("the attempt panicked".to_owned()),
            Err(_) => Err(no_answer()),
        }
    }

    /// Sends a message of a subscription. Returns the status of the server's answer.
    pub(super) async fn send(
        &self,
        own: &Subscription,
        to: &str,
        message: &Message,
        app_url: &str,
    ) -> Result<u16, Untaken> {
        let failed = |error: String| Err(Untaken::Down { status: None, error });
        let (envelope, bytes) = match self.written(own, to, message, app_url) {
            Ok(written) => written,
            Err(error) => return failed(format!("the message cannot be written: {error}")),
        };
        let Ok(Ok(place)) = timeout(PLACE, Arc::clone(&self.0.places).acquire_owned()).await else {
            return Err(Untaken::Untried);
        };
        let (tell, told) = oneshot::channel();
        let (inner, deadline) = (Arc::clone(&self.0), Instant::now() + TIMEOUT);
        tokio::task::spawn_blocking(move || {
            // Kept until the connection is closed: a server that hangs keeps a few threads, and no more.
            let _place = place;
            inner.hand_over(&envelope, &bytes, deadline, tell);
        });
        match timeout(TIMEOUT, told).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => failed("the sender panicked".to_owned()),
            Err(_) => failed(no_answer()),
        }
    }

    /// The message as it is sent, with its envelope.
    fn written(
        &self,
        own: &Subscription,
        to: &str,
        message: &Message,
        app_url: &str,
    ) -> Result<(Envelope, Vec<u8>), Box<dyn std::error::Error + Send + Sync>> {
        let from = &self.0.from;
        // The same each time that it is sent, and of no other message.
        let made = own.created_at.as_micros();
        let id = format!("<{}.{}.{made}@{}>", message.id, own.id, domain(app_url).unwrap_or(from.email.domain()));
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        let text = SinglePart::builder().header(ContentType::TEXT_PLAIN).body(message.body.clone());
        let mail = lettre::Message::builder()
            .from(from.clone())
            .to(Mailbox::from(to.parse::<Address>()?))
            .subject(&*message.subject)
            .date_now()
            .message_id(Some(id))
            .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()))
            .singlepart(text)?;
        Ok((mail.envelope().clone(), mail.formatted()))
    }
}

impl Inner {
    /// Hands a message over, and tells what the server answers before the connection is closed.
    fn hand_over(
        &self,
        envelope: &Envelope,
        bytes: &[u8],
        deadline: Instant,
        tell: oneshot::Sender<Result<u16, Untaken>>,
    ) {
        // An error of `tell` means that nobody waits any more.
        let mut connection = match self.server.connect(deadline) {
            Ok(connection) => connection,
            Err(error) => {
                let _ = tell.send(Err(down(&error)));
                return;
            }
        };
        let answer = give(&mut connection, envelope, bytes, deadline, || tell.is_closed());
        let is_taken = answer.is_ok();
        let _ = tell.send(answer);
        limit(&mut connection, deadline);
        if is_taken {
            let _ = connection.quit();
        } else {
            connection.abort();
        }
    }
}

/// Gives the server a message, unless too little time is left for the text, or nobody waits any more. Only the answer to the
/// text is about the message: the answers before it are about us, or about the address.
fn give(
    connection: &mut SmtpConnection,
    envelope: &Envelope,
    bytes: &[u8],
    deadline: Instant,
    is_alone: impl Fn() -> bool,
) -> Result<u16, Untaken> {
    let in_time = || match left(deadline) >= ENOUGH && !is_alone() {
        true => Ok(()),
        false => Err(Untaken::Down { status: None, error: too_slow() }),
    };
    limit(connection, deadline);
    // The addresses are ASCII, and the text is written in it.
    connection.command(Mail::new(envelope.from().cloned(), Vec::new())).map_err(|error| down(&error))?;
    for to in envelope.to() {
        limit(connection, deadline);
        connection.command(Rcpt::new(to.clone(), Vec::new())).map_err(|error| down(&error))?;
    }
    in_time()?;
    limit(connection, deadline);
    connection.command(Data).map_err(|error| down(&error))?;
    in_time()?;
    limit(connection, deadline);
    match connection.message(bytes) {
        Ok(response) => Ok(u16::from(response.code())),
        Err(error) => Err(match why(&error) {
            (Some(status), error) if status >= 500 && !NOT_FROM_US.contains(&status) => {
                Untaken::Refused { status, error }
            }
            (status, error) => Untaken::Down { status, error },
        }),
    }
}

/// What an error says that is not about the message.
fn down(error: &smtp::Error) -> Untaken {
    let (status, error) = why(error);
    Untaken::Down { status, error }
}

/// The status and what went wrong, in a few words without anything of the URL.
fn why(error: &smtp::Error) -> (Option<u16>, String) {
    let said = error.source().map(|source| text::cleaned(&source.to_string(), RESPONSE)).unwrap_or_default();
    let kind = error.source().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind);
    let status = error.status().map(u16::from);
    let sentence = match status {
        Some(status) if said.is_empty() => format!("the mail server answered {status}"),
        Some(status) => format!("the mail server answered {status}: {said}"),
        None if matches!(kind, Some(io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)) => no_answer(),
        None if error.is_tls() => "the connection to the mail server could not be encrypted".to_owned(),
        None => format!("the mail server cannot be used: {said}"),
    };
    (status, sentence)
}

fn no_answer() -> String {
    format!("no answer from the mail server within {} s", TIMEOUT.as_secs())
}

fn too_slow() -> String {
    format!("the mail server is too slow: within {} s it left no time for the text", TIMEOUT.as_secs())
}

/// The host of a URL, if it can stand in a `Message-ID`.
fn domain(app_url: &str) -> Option<&str> {
    let (_, rest) = app_url.split_once("://")?;
    let host = rest.split([':', '/']).next()?;
    let is_plain = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    is_plain.then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_server_says_how_it_is_reached() {
        let read = |url: &str| Server::read(url).unwrap_or_else(|why| panic!("{url}: {why}"));
        for (url, host, port) in [
            ("smtp://127.0.0.1", "127.0.0.1", 25),
            ("smtp://[::1]:2525/catalogue.example.com", "::1", 2525),
            ("smtp://ada:secret@localhost:1025", "localhost", 1025),
        ] {
            let server = read(url);
            assert_eq!((&*server.host, server.port), (host, port), "{url}");
            assert!(matches!(server.encryption, Encryption::None), "{url}");
        }
        assert_eq!(read("smtp://[::1]/catalogue.example.com").hello.to_string(), "catalogue.example.com");
        assert!(read("smtp://ada%40example.com:p%2Fw@127.0.0.1").credentials.is_some());
        for url in [
            "",
            "mail.example.com",
            "https://mail.example.com",
            "smtp://",
            "smtp://mail.example.com?tls=opportunistic",
            "smtp://mail.example.com?tls=required&x=1",
            "smtps://mail.example.com?tls=required",
            "smtp://ada@127.0.0.1",
            "smtp://:secret@127.0.0.1",
            "smtp://ada:secret@mail.example.com",
        ] {
            let why = Server::read(url).err().unwrap_or_else(|| panic!("{url} is accepted"));
            assert!(!why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn an_address_is_one_address_and_nothing_else() {
        let good = check(" ada@example.com ").expect("an address");
        assert_eq!(good, ("ada@example.com".to_owned(), "example.com".to_owned()));
        for wrong in [
            "",
            "ada",
            "ada@example.com, bob@example.com",
            "Ada <ada@example.com>",
            "ada@example.com\r\nRCPT TO:<bob@example.com>",
            "ada@example.com> SIZE=1",
            "ada@b\u{fc}cher.example",
            "ada@example.com\u{202e}",
        ] {
            assert_eq!(check(wrong).expect_err(wrong).path, ["receiverEmail"], "{wrong}");
        }
        assert_eq!(sender("Catalogue <rollcall@example.com>").expect("a sender").email.domain(), "example.com");
        for wrong in ["", "rollcall", "rollcall@example.com\nBcc: bob@example.com", "r\u{f6}ll@example.com"] {
            assert!(sender(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_host_of_an_id_is_that_of_the_application() {
        assert_eq!(domain("https://rc.example.com"), Some("rc.example.com"));
        assert_eq!(domain("http://127.0.0.1:8080"), Some("127.0.0.1"));
        assert_eq!((domain("http://[::1]:8080"), domain("")), (None, None));
    }
}
