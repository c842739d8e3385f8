//! A mail server for tests, in plain SMTP on a port of its own. It keeps what it is sent, and answers as it is told.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::thread;
use std::time::Duration;

use data_encoding::BASE64_MIME;

use crate::harness::inbox::{Inbox, Kept};

/// A mail as received.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The recipients that SMTP named.
    pub to: Vec<String>,
    /// The headers, unfolded.
    headers: Vec<(String, String)>,
    body: String,
}

impl Mail {
    fn read(to: Vec<String>, lines: &[String]) -> Self {
        let end = lines.iter().position(String::is_empty).unwrap_or(lines.len());
        let (head, body) = lines.split_at(end);
        let mut headers: Vec<(String, String)> = Vec::new();
        for line in head {
            match (line.strip_prefix([' ', '\t']), headers.last_mut()) {
                (Some(_), Some((_, value))) => value.push_str(line),
                _ => {
                    let (name, value) = line.split_once(": ").expect("a header");
                    headers.push((name.to_lowercase(), value.to_owned()));
                }
            }
        }
        Self { to, headers, body: body.iter().skip(1).map(|line| format!("{line}\n")).collect() }
    }

    /// The values of a header.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| &**value).collect()
    }

    /// The value of a header, which is there once.
    pub fn header(&self, name: &str) -> &str {
        match *self.all(name) {
            [one] => one,
            ref other => panic!("{name}: {other:?} in {self:#?}"),
        }
    }

    /// The text.
    pub fn text(&self) -> String {
        let bytes = match self.header("content-transfer-encoding") {
            "7bit" => self.body.clone().into_bytes(),
            "base64" => BASE64_MIME.decode(self.body.replace('\n', "\r\n").as_bytes()).expect("base64"),
            "quoted-printable" => printable(&self.body),
            other => panic!("an encoding that not every server takes: {other}"),
        };
        String::from_utf8(bytes).expect("UTF-8").replace("\r\n", "\n")
    }
}

/// Decodes quoted-printable.
fn printable(text: &str) -> Vec<u8> {
    let joined = text.replace("=\n", "");
    let (mut bytes, mut rest) = (Vec::new(), joined.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        if *first == b'=' {
            let digits = std::str::from_utf8(&after[..2]).expect("two digits");
            bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    bytes
}

/// What the server answers to a message, and to how many it has answered before.
type ToMessage = Box<dyn Fn(&Mail, usize) -> &'static str + Send + Sync>;

/// What the server answers to a recipient, and to a message, after a pause.
pub struct Answers {
    pub recipient: fn(&str) -> (&'static str, Duration),
    pub message: ToMessage,
}

pub const TAKEN: &str = "250 2.0.0 taken";

/// A mail server.
pub struct MailServer(Inbox<Mail>);

impl MailServer {
    /// One that takes everything.
    pub fn taking() -> Self {
        Self::that(|_, _| TAKEN)
    }

    /// One that answers each message as `message` says, which also gets how many came before.
    pub fn that(message: impl Fn(&Mail, usize) -> &'static str + Send + Sync + 'static) -> Self {
        Self::with(Answers { recipient: |_| (TAKEN, Duration::ZERO), message: Box::new(message) })
    }

    pub fn with(answers: Answers) -> Self {
        Self(Inbox::listen(move |connection, kept| {
            // It ends when the client leaves.
            let _ = talk(connection, &answers, kept);
        }))
    }

    /// Its URL, for `--smtp-url`.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }
}

impl Deref for MailServer {
    type Target = Inbox<Mail>;

    fn deref(&self) -> &Inbox<Mail> {
        &self.0
    }
}

/// Talks to a client until it quits, or leaves.
fn talk(mut connection: &TcpStream, answers: &Answers, kept: &Kept<Mail>) -> Option<()> {
    let mut lines = BufReader::new(connection.try_clone().ok()?).lines().map_while(Result::ok);
    let mut say = |text: &str| write!(connection, "{text}\r\n").ok();
    say("220 test ESMTP")?;
    let mut to = Vec::new();
    loop {
        let line = lines.next()?;
        match line.get(..4)?.to_uppercase().as_str() {
            "EHLO" => say("250-test\r\n250 SIZE 10000000")?,
            "MAIL" => {
                to.clear();
                say("250 2.1.0 ok")?;
            }
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1)?.to_owned();
                let (answer, pause) = (answers.recipient)(&address);
                thread::sleep(pause);
                to.push(address);
                say(answer)?;
            }
            "DATA" => {
                say("354 go on")?;
                let text: Vec<String> = lines.by_ref().take_while(|line| line != ".").collect();
                let plain = |line: String| line.strip_prefix('.').map_or(line.clone(), str::to_owned);
                let text: Vec<String> = text.into_iter().map(plain).collect();
                let mail = Mail::read(to.clone(), &text);
                let answer = {
                    let mut kept = kept.lock().expect("whole");
                    let answer = (answers.message)(&mail, kept.len());
                    kept.push(mail);
                    answer
                };
                say(answer)?;
            }
            "QUIT" => return say("221 2.0.0 bye"),
            _ => say("500 5.5.1 what?")?,
        }
    }
}
