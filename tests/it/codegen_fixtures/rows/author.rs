//! A row that another has the key of.

#[derive(Debug, Clone)]
pub struct Model {
    pub id: i64,
    pub name: String,
}
