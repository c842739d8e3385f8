//! The settings for sending mail.

use std::path::PathBuf;

use clap::Args;
use lettre::message::Mailbox;

use super::secret::Secret;
use super::trimmed::{path, trimmed};
use crate::events::mail::{self, Mailer};

/// The settings for sending mail.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Mail")]
pub struct MailArgs {
    /// The mail server that takes events for email addresses: smtps://USER:PASSWORD@mail.example.com, or with STARTTLS
    /// smtp://USER:PASSWORD@mail.example.com?tls=required. It may have a private address [default: none]
    #[arg(
        long,
        value_name = "URL",
        env = "ROLLCALL_SMTP_URL",
        hide_env_values = true,
        requires = "mail_from",
        value_parser = trimmed(Secret::parse)
    )]
    smtp_url: Option<Secret>,
    /// A file with that URL, to keep the password out of the command line and the environment
    #[arg(
        long,
        value_name = "FILE",
        env = "ROLLCALL_SMTP_URL_FILE",
        requires = "mail_from",
        conflicts_with = "smtp_url",
        value_parser = path()
    )]
    smtp_url_file: Option<PathBuf>,
    /// The sender of all mail, such as Catalogue <rollcall@example.com>
    #[arg(long, value_name = "ADDRESS", env = "ROLLCALL_MAIL_FROM", value_parser = trimmed(mail::sender))]
    mail_from: Option<Mailbox>,
}

/// The settings that hold the URL.
const URL: &str = "--smtp-url or ROLLCALL_SMTP_URL";
const FILE: &str = "--smtp-url-file or ROLLCALL_SMTP_URL_FILE";

impl MailArgs {
    /// Returns what sends mail, if a server is configured.
    ///
    /// # Errors
    /// Why the URL cannot be read or used, in one sentence without anything of it.
    pub fn mailer(&self) -> Result<Option<Mailer>, String> {
        let file = (self.smtp_url_file.as_ref(), FILE);
        let setting = if file.0.is_some() { FILE } else { URL };
        let url = Secret::given("the URL of the mail server", self.smtp_url.as_ref(), file)?;
        let (Some(url), Some(from)) = (url, &self.mail_from) else { return Ok(None) };
        let mailer = Mailer::new(url.reveal(), from.clone());
        mailer.map(Some).map_err(|why| format!("the URL of the mail server (from {setting}) cannot be used: {why}"))
    }
}
