//! The audit: who changed what, when, and through what; who signed in and out; and who was refused. An entry is written
//! in the transaction of its change, so that neither is there without the other. It keeps the names of then, and stays
//! when what it names goes. What a change did to a thing is found by [`change`](super::change).

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Query, SelectStatement};
use sea_orm::{QueryOrder, QuerySelect, QueryTrait, Set};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::Timestamp;
use super::{session, token, user};
use crate::db;

/// A row of `audit`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "audit")]
pub struct Model {
    /// What identifies the row; never given out twice. Newer entries have larger ones.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// When it was changed.
    pub at: Timestamp,
    /// Through what.
    pub actor_kind: ActorKind,
    /// The row of the token, or of the session's user.
    pub actor_id: Option<i64>,
    /// What that was called.
    pub actor_name: String,
    /// The mutation, or what else was done: `serviceUpdate`, `tokenCreate`, `apply`.
    pub action: String,
    /// The SDL's noun for what was changed.
    pub subject_class: Option<String>,
    /// Its row.
    pub subject_id: Option<i64>,
    /// What it was called.
    pub subject_name: Option<String>,
    /// A JSON object of at most [`DETAIL`] bytes: the input, and under `changed` the fields with their values before and
    /// after. Long texts are cut short; there are no secrets.
    pub detail: String,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Through what a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// An API token.
    Token,
    /// A person who was signed in to the application.
    Session,
    /// The program's own command line.
    CommandLine,
    /// Somebody who is not signed in, known by an address alone.
    Visitor,
}

/// Who makes a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor {
    /// Through what.
    pub kind: ActorKind,
    /// The row of the token, or of the user.
    pub id: Option<i64>,
    /// What that is called.
    pub name: String,
}

impl Actor {
    /// Whoever holds the token.
    pub fn token(token: &token::Model) -> Self {
        Self { kind: ActorKind::Token, id: Some(token.id), name: token.description.clone() }
    }

    /// A user in the application. The session's number is kept with the name: it tells one browser from another.
    pub fn session(session: &session::Model, user: &user::Model) -> Self {
        let name = format!("{} ({}), session {}", user.name, user.email, session.id);
        Self { kind: ActorKind::Session, id: Some(user.id), name }
    }

    /// Somebody who is not signed in. `address` is where the request came from.
    pub fn visitor(address: &str) -> Self {
        Self { kind: ActorKind::Visitor, id: None, name: address.to_owned() }
    }

    /// Whoever may run the program beside its database.
    pub fn command_line() -> Self {
        Self { kind: ActorKind::CommandLine, id: None, name: "command line".to_owned() }
    }
}

/// What was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The SDL's noun.
    pub class: Option<String>,
    /// The row.
    pub id: Option<i64>,
    /// What it is called.
    pub name: Option<String>,
}

impl Subject {
    /// A row of a noun.
    pub fn new(class: &str, id: Option<i64>, name: &str) -> Self {
        Self { class: Some(class.to_owned()), id, name: Some(name.to_owned()) }
    }
}

/// Writes an entry. `detail` is an object; what is too long of it is cut.
pub async fn record<C: ConnectionTrait>(
    db: &C,
    actor: &Actor,
    action: &str,
    subject: Subject,
    detail: &Json,
) -> Result<(), DbErr> {
    Entity::insert(entry(actor, action, subject, detail)).exec_without_returning(db).await.map(drop)
}

/// An entry that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its row.
    pub id: i64,
    /// The transaction that it was written in, where one must be asked after ([`db::Db::outcome`]).
    pub transaction: Option<String>,
}

/// Writes an entry, and tells which.
pub async fn insert<C: ConnectionTrait>(
    db: &C,
    actor: &Actor,
    action: &str,
    subject: Subject,
    detail: &Json,
) -> Result<Written, DbErr> {
    let insert = Entity::insert(entry(actor, action, subject, detail));
    let Some(transaction) = db::transaction_id(db) else {
        return Ok(Written { id: insert.exec(db).await?.last_insert_id, transaction: None });
    };
    let mut insert = insert.into_query();
    insert.returning(Query::returning().exprs([Expr::col(Column::Id), transaction]));
    let row = db.query_one(&insert).await?.ok_or(DbErr::RecordNotInserted)?;
    Ok(Written { id: row.try_get_by_index(0)?, transaction: Some(row.try_get_by_index(1)?) })
}

/// Selects an entry's id.
pub fn select(id: i64) -> SelectStatement {
    Entity::find_by_id(id).select_only().column(Column::Id).into_query()
}

fn entry(actor: &Actor, action: &str, subject: Subject, detail: &Json) -> ActiveModel {
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
        ..Default::default()
    }
}

/// Writes other details into an entry, which may be gone.
pub async fn rewrite<C: ConnectionTrait>(db: &C, id: i64, detail: &Json) -> Result<(), DbErr> {
    let update = Entity::update_many().col_expr(Column::Detail, Expr::value(bounded(detail))).filter(Column::Id.eq(id));
    update.exec(db).await.map(drop)
}

/// The longest detail of an entry, in bytes.
pub const DETAIL: usize = 8 * 1024;

/// The most entries of a list, or fields of an object, that the detail keeps.
pub const ENTRIES: usize = 50;

/// The details as text of at most [`DETAIL`] bytes: texts, lists and objects are cut shorter until it fits.
fn bounded(detail: &Json) -> String {
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

/// Which entries to show.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those of one actor; of all of a kind where there is no row.
    pub actor: Option<(ActorKind, Option<i64>)>,
    /// Those about one thing.
    pub subject: Option<(String, i64)>,
    /// Those of one action.
    pub action: Option<String>,
    /// Those from this moment on.
    pub start: Option<Timestamp>,
    /// Those before this one.
    pub end: Option<Timestamp>,
    /// Those older than this entry.
    pub before: Option<(Timestamp, i64)>,
}

/// At most `limit` entries, the newest first.
pub async fn page<C: ConnectionTrait>(db: &C, filter: &Filter, limit: u64) -> Result<Vec<Model>, DbErr> {
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
    entries.order_by_desc(Column::At).order_by_desc(Column::Id).limit(limit).all(db).await
}

/// Removes at most `limit` entries that are older than a moment, and says how many.
pub async fn remove<C: ConnectionTrait>(db: &C, before: Timestamp, limit: u64) -> Result<u64, DbErr> {
    let old = Entity::find().select_only().column(Column::Id).filter(Column::At.lt(before));
    let old: Vec<i64> = old.order_by_asc(Column::At).limit(limit).into_tuple().all(db).await?;
    if old.is_empty() {
        return Ok(0);
    }
    Ok(Entity::delete_many().filter(db::any(db, Column::Id, &old)).exec(db).await?.rows_affected)
}
