//! A row that another row refers to.

#[derive(Debug, Clone)]
pub struct Model {
    pub id: i64,
    pub name: String,
}
