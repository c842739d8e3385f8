//! Checks the mail server, if one is set: whether it can be reached, encrypts, and lets us sign in. Sends no mail.

use super::Finding;
use crate::config::Serve;

/// Checks the mail server. `None` if none is set, or its URL is wrong, which the check of the settings tells.
pub(super) async fn examine(settings: &Serve) -> Option<Finding> {
    let mailer = settings.mail.mailer().ok().flatten()?;
    let (about, place, (is_safe, way)) = ("mail", mailer.place(), mailer.way());
    Some(match mailer.try_out().await {
        Err(why) => Finding::problem(about, format!("{place}: {why}")),
        Ok(()) if is_safe => Finding::fine(about, format!("{place} can be used, {way}")),
        Ok(()) => Finding::advice(about, format!("{place} can be used, {way}: mail can be read in transit")),
    })
}
