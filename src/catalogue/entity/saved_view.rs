//! Saved views: what a person keeps of the list of services under a name. The list is what a query says: its filters, its
//! order, its columns. A view belongs to its person, like a feed, and goes along with them.
//!
//! A view is private or shared with everybody. The rows are not [recorded](crate::db::Told): what a person keeps for
//! themselves is no event of the catalogue. The audit has the mutation and its input.

use sea_orm::Iterable;

use super::prelude::*;

/// The most views of a person.
pub const MOST: u64 = 50;

/// The most views that are shared, of all people together.
pub const MOST_SHARED: u64 = 200;

/// The maximum length of a name, in characters.
pub const NAME: usize = 80;

/// The maximum length of a query, in bytes.
pub const QUERY: usize = 2 * 1024;

super::table! {
    "saved_view", unrecorded, exported;

    /// The person it belongs to.
    pub user_id: i64,
    /// Its name; the person has it once.
    pub name: String,
    /// What the list shows, as the query of its address: parsed, checked and written again.
    pub query: String,
    /// Whether everybody sees it.
    pub shared: bool,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![FieldRule::text("name", Column::Name, NAME).required().not_in_files()];

impl Model {
    /// Whether this person sees it. `None` for a token.
    pub fn is_seen_by(&self, user: Option<i64>) -> bool {
        self.shared || user == Some(self.user_id)
    }
}

/// The views that a person sees, their own first, by name. `None` for a token, which sees the shared ones. Without
/// `with_queries` the queries are not read, and are empty.
pub async fn seen_by(db: &dyn ReadHandle, user: Option<i64>, with_queries: bool) -> Result<Vec<Model>, db::Error> {
    let columns = || match with_queries {
        true => Entity::find(),
        false => Column::iter().fold(Entity::find().select_only(), |select, column| match column {
            Column::Query => select.expr(Expr::cust("''")),
            column => select.column(column),
        }),
    };
    let some = |most| columns().order_by_asc(Column::Id).limit(most);
    let mut views = match user {
        Some(user) => db.all(some(MOST).filter(Column::UserId.eq(user))).await?,
        None => Vec::new(),
    };
    let shared = db.all(some(MOST_SHARED).filter(Column::Shared.eq(true))).await?;
    views.extend(shared.into_iter().filter(|view| user != Some(view.user_id)));
    // Here, because databases order texts in different ways.
    views.sort_by_cached_key(|view| (user != Some(view.user_id), view.name.to_lowercase(), view.id));
    Ok(views)
}
