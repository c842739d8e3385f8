//! Who asks, what that one may do, and how a change is noted in the audit.

use serde_json::Value;

use super::execute::Scope;
use super::id;
use super::places::Who;
use super::plan::Plan;
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::user::{self, Role};
use crate::entity::{session, token};

/// Who asks.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who it is, for the audit.
    pub actor: Actor,
    /// What that one may do.
    pub scope: Scope,
}

impl Caller {
    /// Whoever holds a token.
    pub fn token(token: &token::Model) -> Self {
        let scope = match token.scope {
            token::Scope::Read => Scope::Read,
            token::Scope::Write => Scope::Write,
            token::Scope::Admin => Scope::Admin,
        };
        Self { actor: Actor::token(token), scope }
    }

    /// Somebody who is signed in to the application.
    pub fn session(session: &session::Model, user: &user::Model) -> Self {
        let scope = match user.role {
            Role::Viewer => Scope::Read,
            Role::User => Scope::Write,
            Role::Admin => Scope::Admin,
        };
        Self { actor: Actor::session(session, user), scope }
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

/// What a mutation was about: the thing in its payload, or what the payload says of a thing that is gone, or what the
/// input names. `payload` holds the identifying fields of what the mutation answered.
pub(super) fn subject(payload: &Value, input: &Value) -> Subject {
    let members = || payload.as_object().into_iter().flatten();
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let named = |object: &Value| ["name", "alias", "key"].iter().find_map(|field| object.get(*field).and_then(text));
    for (_, object) in members() {
        if let Some((class, number)) = object.get("id").and_then(Value::as_str).and_then(id::decode) {
            return Subject { class: Some(class), id: Some(number), name: named(object) };
        }
    }
    let of_input = match input.as_object().and_then(|arguments| arguments.values().find(|value| value.is_object())) {
        Some(fields) => fields,
        None => input,
    };
    let name = members().filter(|(_, value)| id_of(value).is_none()).find_map(|(_, value)| text(value));
    let name = name.or_else(|| named(of_input)).or_else(|| named(input));
    let fields = [of_input, input].into_iter().filter_map(Value::as_object).flatten();
    let found = members()
        .find_map(|(_, value)| id_of(value))
        .or_else(|| fields.into_iter().find_map(|(_, value)| id_of(value)));
    let (class, number) = found.unzip();
    Subject { class, id: number, name }
}

/// What a value that is a global id stands for.
fn id_of(value: &Value) -> Option<(String, i64)> {
    value.as_str().and_then(id::decode)
}

/// The input as the audit keeps it: whole as long as it is short.
pub(super) fn shortened(value: &Value) -> Value {
    const TEXT: usize = 200;
    const ITEMS: usize = 20;
    match value {
        Value::String(text) if text.chars().count() > TEXT => {
            Value::String(text.chars().take(TEXT).chain(['…']).collect())
        }
        Value::Array(items) => items.iter().take(ITEMS).map(shortened).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shortened(value))).collect(),
        value => value.clone(),
    }
}
