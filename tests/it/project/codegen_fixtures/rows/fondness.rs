//! The row of a join table. It represents no SDL type. The generator reads this file, and no crate compiles it.

#[sea_orm(table_name = "fondness")]
pub struct Model {
    pub id: i64,
    pub author_id: i64,
    pub poem_id: i64,
}
