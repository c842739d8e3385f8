//! What people make of the list of services and keep: its columns, files, saved views, and favourites.
//!
//! Invariants: the columns of a list are in its address ([`Chosen`]), so a link shows the same columns to everybody.
//! Saved views and favourites are changed through the API alone ([`ask`](super::ask::ask)).

use self::table::Column;
use super::visit::Fields;

pub mod asked;
pub mod bar;
pub mod choice;
pub mod favourites;
pub mod file;
pub mod saved;
pub mod table;

/// The columns of a list.
#[derive(Debug)]
pub struct Chosen {
    /// The columns beside the name, in their order.
    pub columns: Vec<Column>,
    /// Whether the address chooses them.
    pub is_chosen: bool,
}

impl Default for Chosen {
    fn default() -> Self {
        Self { columns: Column::USUAL.to_vec(), is_chosen: false }
    }
}

impl Chosen {
    /// The columns that an address chooses, or the usual ones.
    ///
    /// # Errors
    /// The address names a column that lists do not have.
    pub fn parse(query: &Fields) -> Result<Self, String> {
        let mut columns = Vec::new();
        // A form sends each column by itself; an address may have them all in one text.
        for word in query.get_all(choice::COLUMNS).flat_map(|words| words.split(',')).map(str::trim) {
            match Column::ALL.into_iter().find(|column| column.word() == word) {
                Some(column) if !columns.contains(&column) => columns.push(column),
                Some(_) => {}
                None if word.is_empty() => {}
                None => {
                    let all = Column::ALL.map(Column::word).join(", ");
                    return Err(format!("The list has no such column as the address names. It has {all}."));
                }
            }
        }
        Ok(match columns.is_empty() {
            true => Self::default(),
            false => Self { columns, is_chosen: true },
        })
    }

    /// The columns of a page. Without a service that has a level there is no column of levels, unless it is chosen.
    pub fn shown(&self, has_levels: bool) -> Vec<Column> {
        let is_shown = |column: &Column| self.is_chosen || has_levels || *column != Column::Level;
        self.columns.iter().copied().filter(is_shown).collect()
    }
}
