//! Idempotency keys of requests with mutations. The row of a key is inserted before its request runs. Each mutation
//! increments the row's count in its own transaction, so the row always says whether the request has changed anything.
//! A key belongs to either a token or a user.

use std::time::Duration;

use sea_orm::sea_query::ExprTrait;

use super::prelude::*;

super::table! {
    "idempotency_key", unrecorded, left_out("lasts a day");

    /// The token that sent the key.
    pub token_id: Option<i64>,
    /// The signed-in user who sent the key.
    pub user_id: Option<i64>,
    /// SHA-256 of the key, 32 bytes; unique within its owner.
    pub key_hash: Vec<u8>,
    /// SHA-256 of the request's body, 32 bytes.
    pub request_hash: Vec<u8>,
    /// When its request began. Also identifies that request: it changes when another request takes the row over, and
    /// writes of the first one then match no row.
    pub created_at: Timestamp,
    /// The number of committed mutations.
    pub mutations: i32,
    /// Whether the request has ended.
    pub has_ended: bool,
    /// The response, if it is short enough to be kept.
    pub answer: Option<String>,
}

/// How long a key is kept.
pub const LIFETIME: Duration = Duration::from_secs(24 * 3_600);

/// The maximum number of keys kept per token or user. The oldest are removed.
pub const MAX_KEYS: u64 = 10_000;

/// The maximum size of a stored response, in bytes.
pub const MAX_ANSWER_BYTES: usize = 8 * 1024;

/// The oldest keys are removed once per this many new keys.
const CLEANUP_INTERVAL: i64 = 64;

/// The owner of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The token with this id.
    Token(i64),
    /// The signed-in user with this id.
    User(i64),
}

impl Owner {
    fn condition(self) -> Expr {
        match self {
            Self::Token(id) => Column::TokenId.eq(id),
            Self::User(id) => Column::UserId.eq(id),
        }
    }
}

/// Inserts the row of a new key and returns its id. Returns `None` if the owner has already used the key.
pub async fn insert(
    db: &dyn WriteHandle,
    owner: Owner,
    key_hash: [u8; 32],
    request_hash: [u8; 32],
    now: Timestamp,
) -> Result<Option<i64>, db::Error> {
    let row = ActiveModel {
        token_id: Set(if let Owner::Token(id) = owner { Some(id) } else { None }),
        user_id: Set(if let Owner::User(id) = owner { Some(id) } else { None }),
        key_hash: Set(key_hash.to_vec()),
        request_hash: Set(request_hash.to_vec()),
        created_at: Set(now),
        mutations: Set(0),
        has_ended: Set(false),
        ..Default::default()
    };
    let mut insert = Entity::insert(row).into_query();
    insert.on_conflict(OnConflict::new().do_nothing().to_owned()).returning_col(Column::Id);
    let Some(id) = db.returned::<Entity, _, _>(&insert, |row| row.get::<i64>(0)).await?.pop() else { return Ok(None) };
    if id % CLEANUP_INTERVAL == 0 {
        super::keep_newest::<Entity>(db, &owner.condition(), Column::Id, MAX_KEYS).await?;
    }
    Ok(Some(id))
}

/// Finds the row of a key.
pub async fn find(db: &dyn ReadHandle, owner: Owner, key_hash: [u8; 32]) -> Result<Option<Model>, db::Error> {
    db.one(Entity::find().filter(owner.condition()).filter(Column::KeyHash.eq(key_hash.to_vec()))).await
}

/// Takes over a row whose request has ended without a committed mutation. Returns false if another request was faster,
/// or if a mutation has been committed in the meantime.
pub async fn take_over(
    db: &dyn WriteHandle,
    row: &Model,
    request_hash: [u8; 32],
    now: Timestamp,
) -> Result<bool, db::Error> {
    let update = Entity::update_many()
        .col_expr(Column::RequestHash, Expr::value(request_hash.to_vec()))
        .col_expr(Column::CreatedAt, Expr::value(now))
        .filter(Column::Mutations.eq(0));
    Ok(db.exec(update.filter(is_held_since(row.id, row.created_at))).await? > 0)
}

/// Counts a mutation. Must run in the mutation's transaction. Returns whether the row still belongs to the request that
/// began at `since`.
pub async fn count_mutation(db: &dyn WriteHandle, id: i64, since: Timestamp) -> Result<bool, db::Error> {
    let update = Entity::update_many().col_expr(Column::Mutations, Expr::col(Column::Mutations).add(1));
    Ok(db.exec(update.filter(is_held_since(id, since))).await? > 0)
}

/// Marks the request as ended and stores its response.
pub async fn end(db: &dyn WriteHandle, id: i64, since: Timestamp, answer: Option<String>) -> Result<(), db::Error> {
    let update = Entity::update_many()
        .col_expr(Column::HasEnded, Expr::value(true))
        .col_expr(Column::Answer, Expr::value(answer));
    db.exec(update.filter(is_held_since(id, since))).await.map(drop)
}

/// Removes the key of a request that has changed nothing.
pub async fn release(db: &dyn WriteHandle, id: i64, since: Timestamp) -> Result<(), db::Error> {
    db.exec(Entity::delete_many().filter(is_held_since(id, since)).filter(Column::Mutations.eq(0))).await.map(drop)
}

/// The condition that the row `id` still belongs to the request that began at `since`.
fn is_held_since(id: i64, since: Timestamp) -> Expr {
    Column::Id.eq(id).and(Column::CreatedAt.eq(since))
}

/// Removes at most `most` keys that are older than `before`, and returns their number.
pub async fn remove(db: &dyn WriteHandle, before: Timestamp, most: u64) -> Result<u64, db::Error> {
    let old = Entity::find().select_only().column(Column::Id).filter(Column::CreatedAt.lt(before));
    let old = old.order_by_asc(Column::CreatedAt).limit(most);
    let old: Vec<i64> = db.rows(old.as_query(), |row| row.get(0)).await?;
    db.exec(Entity::delete_many().filter(crate::db::any(db, Column::Id, &old))).await
}
