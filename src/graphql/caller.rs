//! Who asks, and what that one may do.

use super::places::Who;
use crate::engine::Scope;
use crate::engine::plan::Plan;
use crate::entity::audit::{self, Actor};
use crate::entity::user::{self, Role};
use crate::entity::{session, token};

/// Who asks.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who it is, for the audit.
    pub actor: Actor,
    /// What that one may do.
    pub scope: Scope,
    /// The user and the role, where somebody is signed in.
    pub user: Option<(i64, Role)>,
}

impl Caller {
    /// Whoever holds a token.
    pub fn token(token: &token::Model) -> Self {
        let scope = match token.scope {
            token::Scope::Read => Scope::Read,
            token::Scope::Write => Scope::Write,
            token::Scope::Admin => Scope::Admin,
        };
        Self { actor: Actor::token(token), scope, user: None }
    }

    /// Somebody who is signed in to the application.
    pub fn session(session: &session::Model, user: &user::Model) -> Self {
        let scope = match user.role {
            Role::Viewer => Scope::Read,
            // What exactly may be changed `permit` says.
            Role::TeamMember | Role::User | Role::StandardsAdmin => Scope::Write,
            Role::Admin => Scope::Admin,
        };
        Self { actor: Actor::session(session, user), scope, user: Some((user.id, user.role)) }
    }

    /// Whose share of the places its requests take.
    pub fn who(&self) -> Who {
        (self.actor.kind, self.actor.id)
    }

    /// Whether the caller is shown the addresses that deploys are posted to. Whoever knows one can write.
    pub fn sees_webhooks(&self) -> bool {
        self.scope >= Scope::Write
    }

    /// Why the caller may not run the operation; nothing when it may.
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
