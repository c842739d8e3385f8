//! A row that is always read whole.

#[derive(Debug, Clone)]
pub struct Model {
    pub id: i64,
}
