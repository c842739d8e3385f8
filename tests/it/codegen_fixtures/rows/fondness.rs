//! A row that links two others. It stands for no type of the SDL: the generator reads it, and nobody compiles it.

#[sea_orm(table_name = "fondness")]
pub struct Model {
    pub id: i64,
    pub author_id: i64,
    pub poem_id: i64,
}
