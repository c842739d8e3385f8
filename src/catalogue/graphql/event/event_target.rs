//! Where the messages of a subscription go: to a URL, or to an email address.

use crate::engine::Scope;
use crate::entity::event_subscription::Form;
use crate::entity::user;
use crate::events::{mail, receiver};
use crate::graphql::prelude::*;

/// Where messages go.
#[derive(Debug, Default)]
pub(in crate::graphql) struct Target {
    /// The host of the URL, or the domain of the address.
    pub(in crate::graphql) host: String,
    /// The URL; empty for mail.
    pub(in crate::graphql) url: String,
    /// The address, for mail.
    pub(in crate::graphql) email: Option<String>,
}

/// The fields of an input that say where messages go.
pub(in crate::graphql) struct Given<'a> {
    pub(in crate::graphql) url: &'a MaybeUndefined<String>,
    pub(in crate::graphql) email: &'a MaybeUndefined<String>,
}

impl Given<'_> {
    /// Where messages of this form go. `None` leaves it as it was `before`.
    pub(in crate::graphql) async fn target(
        &self,
        ctx: &MutationCtx<'_>,
        form: Form,
        before: Option<&EventSubscription>,
    ) -> Result<Option<Target>> {
        let is_kept = before.is_some_and(|before| (before.form == Form::Email) == (form == Form::Email));
        for (field, given) in [("receiverUrl", self.url), ("receiverEmail", self.email)] {
            if before.is_some() && *given == MaybeUndefined::Null {
                return Err(must_not_be_null(field).into());
            }
        }
        let (url, email) = (text_of(self.url), text_of(self.email));
        match (form, url, email) {
            (Form::Email, Some(_), _) => {
                Err(UserError::new("receiverUrl", "receiverUrl is not for the form email: give receiverEmail").into())
            }
            // Who may change a subscription may leave its address, whoever gave it, and whatever became of it since.
            (Form::Email, None, Some(email)) if before.is_some_and(|one| one.email.as_deref() == Some(email)) => {
                Ok(None)
            }
            (Form::Email, None, Some(email)) => address(ctx, email).await.map(Some),
            (Form::Email, None, None) if is_kept => Ok(None),
            (Form::Email, None, None) => {
                Err(UserError::new("receiverEmail", "receiverEmail must be given for the form email").into())
            }
            (_, _, Some(_)) => {
                Err(UserError::new("receiverEmail", "receiverEmail is for the form email: give receiverUrl").into())
            }
            (_, Some(url), None) => {
                let host = host(ctx, url)?;
                Ok(Some(Target { host, url: url.to_owned(), email: None }))
            }
            (_, None, None) if is_kept => Ok(None),
            (_, None, None) => {
                Err(UserError::new("receiverUrl", "receiverUrl must be given for every form but email").into())
            }
        }
    }
}

/// The text of a field, without the blanks around it. `None` if there is nothing.
fn text_of(given: &MaybeUndefined<String>) -> Option<&str> {
    given.value().map(|text| text::trim(text)).filter(|text| !text.is_empty())
}

/// The host of a receiver's URL, which is checked.
fn host(ctx: &MutationCtx<'_>, url: &str) -> Result<String, UserError> {
    if url.chars().count() > text::URL {
        let message = format!("receiverUrl must have at most {} characters", text::URL);
        return Err(UserError::new("receiverUrl", message));
    }
    receiver::check(url, &ctx.settings().event_hosts)
}

/// An address, if the caller may send mail to it. Only an administrator sends mail to people who are no users: otherwise
/// anyone could send anything to anybody in our name.
async fn address(ctx: &MutationCtx<'_>, email: &str) -> Result<Target> {
    if ctx.settings().mail.is_none() {
        return Err(UserError::new("form", mail::NO_SERVER).into());
    }
    let (email, domain) = mail::check(email)?;
    if ctx.caller().scope < Scope::Admin && user::by_email(ctx.db(), &email).await?.is_none() {
        let message = "receiverEmail must be the address of a user: only an administrator can send mail to others";
        return Err(UserError::new("receiverEmail", message).into());
    }
    Ok(Target { host: domain, url: String::new(), email: Some(email) })
}
