//! The audit: who changed what, when and how; who signed in and out; and who was refused.
//!
//! An entry is written in the transaction of its change, so that neither exists without the other. It stores names as
//! they were at that time, and outlives the objects that it names. [`change`](super::change) computes what a
//! transaction changed. Later entries have larger ids.

use futures_util::future::BoxFuture;
use sea_orm::sea_query::ExprTrait;
use serde_json::{Value as Json, json};

use super::prelude::*;
use super::{TimeCursor, session, token, user};

super::table! {
    "audit", unrecorded, left_out("a record of the other installation, which stays there");

    /// The time of the change.
    pub at: Timestamp,
    /// The kind of actor.
    pub actor_kind: ActorKind,
    /// The id of the token, or of the session's user.
    pub actor_id: Option<i64>,
    /// The actor's name at that time.
    pub actor_name: String,
    /// The mutation or other action: `serviceUpdate`, `tokenCreate`, `apply`.
    pub action: String,
    /// The SDL type of the changed object.
    pub subject_class: Option<String>,
    /// The id of the changed object.
    pub subject_id: Option<i64>,
    /// The name of the changed object at that time.
    pub subject_name: Option<String>,
    /// A JSON object of at most [`DETAIL`] bytes: the input, and under `changed` each changed field's values before and
    /// after. Long texts are truncated. There are no secrets.
    pub detail: String,
    /// The exact values of the rows that changed, for a revert: see [`kept`](super::change::kept). `None` if the entry is
    /// about something else, or of an earlier version.
    pub kept: Option<String>,
    /// The SDL type of what the changed object belongs to, such as the service of a link. `None` if it belongs to nothing.
    pub owner_class: Option<String>,
    /// The id of what it belongs to.
    pub owner_id: Option<i64>,
    /// The SDL type of the second thing that it belongs to: what a dependency or a relationship leads to.
    pub other_owner_class: Option<String>,
    /// The id of the second thing.
    pub other_owner_id: Option<i64>,
}

super::called!(class "Change", noun "change");

impl Model {
    /// What the changed object belongs to, as SDL types and ids. Two things only if it connects them.
    pub fn owners(&self) -> impl Iterator<Item = (&str, i64)> {
        let owners = [(&self.owner_class, self.owner_id), (&self.other_owner_class, self.other_owner_id)];
        owners.into_iter().filter_map(|(class, id)| class.as_deref().zip(id))
    }

    /// Who made the change, without the address and the session, which are nobody else's business.
    pub fn public_actor(&self) -> &str {
        self.actor_kind.public_name(&self.actor_name)
    }
}

impl ActorKind {
    /// The part of an actor's name that others may read: see [`Model::public_actor`].
    pub fn public_name(self, name: &str) -> &str {
        match self {
            Self::Session => name.split(" (").next().unwrap_or(name),
            Self::Token | Self::CommandLine | Self::Visitor => name,
        }
    }
}

/// The kind of actor that made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// An API token.
    Token,
    /// A person signed in to the application.
    Session,
    /// The program's own command line.
    CommandLine,
    /// Someone who is not signed in, identified only by an address.
    Visitor,
}

/// The actor that makes a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor {
    /// The kind of actor.
    pub kind: ActorKind,
    /// The id of the token, or of the user.
    pub id: Option<i64>,
    /// The actor's name.
    pub name: String,
}

impl Actor {
    /// The holder of a token.
    pub fn token(token: &token::Model) -> Self {
        Self { kind: ActorKind::Token, id: Some(token.id), name: token.description.clone() }
    }

    /// A signed-in user. The name includes the session's id, which tells one browser from another.
    pub fn session(session: &session::Model, user: &user::Model) -> Self {
        let name = format!("{} ({}), session {}", user.name, user.email, session.id);
        Self { kind: ActorKind::Session, id: Some(user.id), name }
    }

    /// The name for others. The session of a person, and the address of a visitor, are nobody else's business.
    pub fn known_as(&self) -> &str {
        match self.kind {
            ActorKind::Token | ActorKind::CommandLine => &self.name,
            ActorKind::Session => self.name.rsplit_once(", session ").map_or(&*self.name, |(name, _)| name),
            ActorKind::Visitor => "somebody who is not signed in",
        }
    }

    /// Someone who is not signed in. `address` is where the request came from.
    pub fn visitor(address: &str) -> Self {
        Self { kind: ActorKind::Visitor, id: None, name: address.to_owned() }
    }

    /// Someone who runs the program's command line, next to its database.
    pub fn command_line() -> Self {
        Self { kind: ActorKind::CommandLine, id: None, name: "command line".to_owned() }
    }
}

/// The object that was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The SDL type.
    pub class: Option<String>,
    /// The id.
    pub id: Option<i64>,
    /// The name.
    pub name: Option<String>,
    /// What it belongs to, as SDL types and ids. Two things only if it connects them.
    pub owners: [Option<(&'static str, i64)>; 2],
}

/// The columns that name an object of an entry by its SDL type and its id: the changed one, and what it belongs to. Each
/// pair leads an index, in which the entries of an object are in the order of time.
pub const OBJECTS: [(Column, Column); 3] = [
    (Column::SubjectClass, Column::SubjectId),
    (Column::OwnerClass, Column::OwnerId),
    (Column::OtherOwnerClass, Column::OtherOwnerId),
];

impl Subject {
    /// An object of an SDL type.
    pub fn new(class: &str, id: Option<i64>, name: &str) -> Self {
        Self { class: Some(class.to_owned()), id, name: Some(name.to_owned()), owners: [None; 2] }
    }
}

/// Writes an [`entry`].
pub async fn record(
    db: &dyn WriteHandle,
    actor: &Actor,
    action: &str,
    subject: Subject,
    detail: &Json,
) -> Result<(), db::Error> {
    db.exec(Entity::insert(entry(actor, action, subject, detail))).await.map(drop)
}

/// Like [`record`], for many entries: their actions, subjects and details. Writes at most [`ROWS`] in one statement.
pub async fn record_all<'a>(
    db: &dyn WriteHandle,
    actor: &Actor,
    entries: impl ExactSizeIterator<Item = (&'a str, Subject, Json)>,
) -> Result<(), db::Error> {
    store_all(db, entries.map(|(action, subject, detail)| entry(actor, action, subject, &detail))).await
}

/// Stores entries that were built before. Writes at most [`ROWS`] in one statement.
pub async fn store_all(
    db: &dyn WriteHandle,
    mut entries: impl ExactSizeIterator<Item = ActiveModel>,
) -> Result<(), db::Error> {
    while entries.len() > 0 {
        let rows = db::rows_at_once(entries.len(), ROWS);
        let some: Vec<_> = entries.by_ref().take(rows).collect();
        db.exec(Entity::insert_many(some)).await?;
    }
    Ok(())
}

/// The maximum number of entries that a statement writes. With details of [`DETAIL`] bytes, and as much that is
/// [kept](super::change::kept), they are 2 MiB.
const ROWS: usize = 128;

/// Selects an actor's entries of the last [`RECENT`].
pub fn recent(actor: &Actor) -> db::Ids {
    let since = Timestamp::from_micros(Timestamp::now().as_micros() - RECENT);
    let own = Entity::find().select_only().column(Column::Id).filter(Column::ActorKind.eq(actor.kind));
    let select = own.filter(Column::ActorId.eq(actor.id)).filter(Column::At.gt(since)).into_query();
    db::Ids { select, id: Expr::col(Column::Id), may_repeat: false, page: None }
}

/// In microseconds. Longer than the ten minutes that may pass between an entry and its commit, if many things change,
/// and the 10 s that a replica may lag.
const RECENT: i64 = 15 * 60 * 1_000_000;

/// Builds an entry that is not stored yet. `detail` must be a JSON object. It is truncated if it is too long.
pub fn entry(actor: &Actor, action: &str, subject: Subject, detail: &Json) -> ActiveModel {
    let [owner, other] = subject.owners.map(Option::unzip);
    ActiveModel {
        at: Set(Timestamp::now()),
        actor_kind: Set(actor.kind),
        actor_id: Set(actor.id),
        actor_name: Set(actor.name.clone()),
        action: Set(action.to_owned()),
        subject_class: Set(subject.class),
        subject_id: Set(subject.id),
        subject_name: Set(subject.name),
        detail: Set(bounded(detail)),
        kept: Set(None),
        owner_class: Set(owner.0.map(str::to_owned)),
        owner_id: Set(owner.1),
        other_owner_class: Set(other.0.map(str::to_owned)),
        other_owner_id: Set(other.1),
        ..Default::default()
    }
}

/// Replaces the details of an entry. Does nothing if the entry no longer exists.
pub async fn rewrite(db: &dyn WriteHandle, id: i64, detail: &Json) -> Result<(), db::Error> {
    let update = Entity::update_many().col_expr(Column::Detail, Expr::value(bounded(detail))).filter(Column::Id.eq(id));
    db.exec(update).await.map(drop)
}

/// The maximum size of an entry's details, in bytes.
pub const DETAIL: usize = 8 * 1024;

/// The maximum number of list items, or of object fields, that the details keep.
pub const ENTRIES: usize = 50;

/// Serialises details in at most [`DETAIL`] bytes. Truncates texts, lists and objects more and more until they fit.
pub fn bounded(detail: &Json) -> String {
    for (text, entries) in [(200, ENTRIES), (50, 20), (20, 5)] {
        let detail = shortened(detail, text, entries).to_string();
        if detail.len() <= DETAIL {
            return detail;
        }
    }
    json!({ "cut": true }).to_string()
}

fn shortened(value: &Json, longest: usize, entries: usize) -> Json {
    let cut = |text: &str| match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    let within = |value: &Json| shortened(value, longest, entries);
    match value {
        Json::String(text) => Json::String(cut(text)),
        Json::Array(items) => items.iter().take(entries).map(within).collect(),
        Json::Object(fields) => fields.iter().take(entries).map(|(name, value)| (cut(name), within(value))).collect(),
        value => value.clone(),
    }
}

/// Selects entries. A condition that is `None` selects all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Entries of one actor. Without an id, entries of all actors of the kind.
    pub actor: Option<(ActorKind, Option<i64>)>,
    /// Entries about one object: its SDL type and id.
    pub subject: Option<(String, i64)>,
    /// Entries with one action.
    pub action: Option<String>,
    /// Entries at or after this time.
    pub start: Option<Timestamp>,
    /// Entries before this time.
    pub end: Option<Timestamp>,
    /// Entries older than this one.
    pub before: Option<TimeCursor>,
}

/// Returns at most `limit` entries, newest first.
pub fn page<'f>(
    db: &'f dyn ReadHandle,
    filter: &'f Filter,
    limit: u64,
) -> BoxFuture<'f, Result<Vec<Model>, db::Error>> {
    Box::pin(async move {
        let Filter { actor, subject, action, start, end, before } = filter;
        let (actor_id, kind) = (actor.and_then(|(_, id)| id), actor.map(|(kind, _)| kind));
        let mut entries = Entity::find()
            .apply_if(kind, |entries, kind| entries.filter(Column::ActorKind.eq(kind)))
            .apply_if(actor_id, |entries, id| entries.filter(Column::ActorId.eq(id)))
            .apply_if(action.as_ref(), |entries, action| entries.filter(Column::Action.eq(action)))
            .apply_if(*start, |entries, start| entries.filter(Column::At.gte(start)))
            .apply_if(*end, |entries, end| entries.filter(Column::At.lt(end)));
        if let Some((class, id)) = subject {
            entries = entries.filter(Column::SubjectClass.eq(class)).filter(Column::SubjectId.eq(*id));
        }
        if let Some((at, id)) = before {
            let place = Expr::tuple([Column::At, Column::Id].map(|column| Expr::col(column.as_column_ref())));
            entries = entries.filter(place.lt(Expr::tuple([Expr::value(*at), Expr::value(*id)])));
        }
        db.all(entries.order_by_desc(Column::At).order_by_desc(Column::Id).limit(limit)).await
    })
}

/// Removes at most `limit` entries that are older than `before`, and returns their number.
pub async fn remove(db: &dyn WriteHandle, before: Timestamp, limit: u64) -> Result<u64, db::Error> {
    let old = Entity::find().select_only().column(Column::Id).filter(Column::At.lt(before));
    let old = old.order_by_asc(Column::At).limit(limit);
    let old: Vec<i64> = db.rows(old.as_query(), |row| row.get(0)).await?;
    if old.is_empty() {
        return Ok(0);
    }
    db.exec(Entity::delete_many().filter(db::any(db, Column::Id, &old))).await
}
