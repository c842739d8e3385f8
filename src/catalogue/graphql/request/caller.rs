//! The caller of a request, and what the caller may do.

use super::places::CallerKey;
use crate::db::Ids;
use crate::engine::Scope;
use crate::engine::plan::Plan;
use crate::entity::audit::{self, Actor};
use crate::entity::user::{self, Role};
use crate::entity::{session, token};

/// The caller of a request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The caller as recorded in the audit.
    pub actor: Actor,
    /// The scope that the caller has.
    pub scope: Scope,
    /// The signed-in user and the user's role. `None` for a token.
    pub user: Option<(i64, Role)>,
    /// Whether it is not the user's own role that allows only what their teams own, but a setting of the server.
    pub is_held_to_own: bool,
    /// Where counts of lists stop, for callers that show larger ones as "10,000+". A larger list is counted as one more
    /// than this. `None` counts exactly.
    pub counts_to: Option<u32>,
}

impl Caller {
    /// A caller whose lists are counted exactly, and who is held to what its own role says.
    fn new(actor: Actor, scope: Scope, user: Option<(i64, Role)>) -> Self {
        Self { actor, scope, user, is_held_to_own: false, counts_to: None }
    }

    /// Someone who runs the program's command line, and may do everything.
    pub fn command_line() -> Self {
        Self::new(Actor::command_line(), Scope::Admin, None)
    }

    /// The holder of an API token.
    pub fn token(token: &token::Model) -> Self {
        let scope = match token.scope {
            // The edge refuses tokens for SCIM, and those of unknown scopes, before there is a caller.
            token::Scope::Read | token::Scope::Scim | token::Scope::Unknown => Scope::Read,
            token::Scope::Write => Scope::Write,
            token::Scope::Admin => Scope::Admin,
        };
        Self::new(Actor::token(token), scope, None)
    }

    /// An identity provider, which deletes users as an administrator does.
    pub fn provider(token: &token::Model) -> Self {
        Self::new(Actor::token(token), Scope::Admin, None)
    }

    /// A user who is signed in to the application.
    pub fn session(session: &session::Model, user: &user::Model) -> Self {
        let scope = match user.role {
            Role::Viewer => Scope::Read,
            // `permit` decides what exactly each of these roles may change.
            Role::TeamMember | Role::User | Role::StandardsAdmin => Scope::Write,
            Role::Admin => Scope::Admin,
        };
        Self::new(Actor::session(session, user), scope, Some((user.id, user.role)))
    }

    /// The key under which the caller's share of places is counted.
    pub fn key(&self) -> CallerKey {
        (self.actor.kind, self.actor.id)
    }

    /// Selects what the caller has written lately, by its audit entries. `None` for a token that cannot write.
    pub fn written(&self) -> Option<Ids> {
        let is_reader = self.user.is_none() && self.scope == Scope::Read;
        (!is_reader).then(|| audit::recent(&self.actor))
    }

    /// Whether the caller may see webhook URLs. Anyone who knows such a URL can post to it, for every service.
    pub fn sees_webhooks(&self) -> bool {
        let is_restricted = matches!(self.user, Some((_, Role::TeamMember)));
        self.scope >= Scope::Write && !is_restricted
    }

    /// Returns why the caller may not run the operation. `None` if the caller may.
    pub fn refused(&self, plan: &Plan) -> Option<String> {
        let field = plan.root.fields.iter().find(|field| field.scope() > self.scope)?;
        let (name, word) = (field.name(), |scope| match scope {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Admin => "admin",
        });
        let (needed, own) = (word(field.scope()), word(self.scope));
        if self.actor.kind == audit::ActorKind::Token {
            return Some(format!(
                "{name} requires a token with the scope {needed}, and this one has the scope {own}. An administrator can \
                 create one on the page API tokens, or with `rollcall token create --scope {needed}`."
            ));
        }
        Some(match field.scope() {
            Scope::Admin => format!("{name} requires an administrator."),
            _ => format!(
                "{name} requires a member or an administrator, and you are a viewer. An administrator can change your role \
                 on the page Users."
            ),
        })
    }
}
