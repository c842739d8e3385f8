//! The rules of the fields that people write: one list for each table, which stands beside its row.
//!
//! The API's mutations, the forms of pages and service files all read the list, so that they agree on how long a text may
//! be, what clears a column, and which row a name stands for. A list is in the order in which service files show the keys.

use sea_orm::entity::prelude::*;

use super::text;
use crate::error::{UserError, quoted};

/// A table with columns that people write.
pub trait FieldRules: EntityTrait {
    /// Its fields. A field that is not here cannot be written by anybody.
    const FIELDS: &'static [FieldRule<Self::Column>];

    /// The rule of a column.
    ///
    /// # Panics
    /// When the list lacks the column.
    fn rule(column: Self::Column) -> &'static FieldRule<Self::Column> {
        let found = Self::FIELDS.iter().find(|field| field.column.as_str() == column.as_str());
        found.expect("a column that people write is in the list of its table")
    }
}

/// What people may write into a column.
#[derive(Debug, Clone, Copy)]
pub struct FieldRule<C> {
    /// The field's name in the API's inputs.
    pub name: &'static str,
    /// The column.
    pub column: C,
    /// What it holds.
    pub value: ValueRule,
    /// Whether a row always has it: null is refused, and so is a blank text.
    pub is_required: bool,
    /// Whether service files have it too, under the [`key`](Self::key).
    pub is_in_files: bool,
    /// What a text must be beside its length.
    check: Option<Check>,
}

/// Tells what is wrong with a text.
type Check = fn(&str) -> Result<(), UserError>;

/// What a column holds.
#[derive(Debug, Clone, Copy)]
pub enum ValueRule {
    /// A text of at most so many characters. Where the field is not required, the empty text is the same as null.
    Text(usize),
    /// A row of another table, named by a text. The empty text is the same as null.
    Named(Reference),
    /// A row of another table, named in the API by its global id, elsewhere by the alias.
    Id(Reference),
    /// A row of another table, named in the API by an object with its `id` or `alias`, elsewhere by the alias.
    Identified(Reference),
    /// True or false.
    Flag,
    /// A place in a list, from 0.
    Place,
    /// A date and time.
    Moment,
}

impl ValueRule {
    /// The table whose rows it names, if it does.
    pub fn reference(self) -> Option<Reference> {
        match self {
            Self::Named(to) | Self::Identified(to) | Self::Id(to) => Some(to),
            Self::Text(_) | Self::Flag | Self::Place | Self::Moment => None,
        }
    }
}

/// A table whose rows are named by a field of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// A team, by its alias.
    Team,
    /// A tier, by its alias.
    Tier,
    /// A lifecycle stage, by its alias.
    Lifecycle,
    /// A user, by the email address.
    User,
    /// A system, by its alias.
    System,
    /// A domain, by its alias.
    Domain,
    /// A component type, by its alias.
    ComponentType,
}

impl<C: Copy> FieldRule<C> {
    /// An optional field.
    pub const fn new(name: &'static str, column: C, value: ValueRule) -> Self {
        Self { name, column, value, is_required: false, is_in_files: true, check: None }
    }

    /// An optional text of at most `most` characters.
    pub const fn text(name: &'static str, column: C, most: usize) -> Self {
        Self::new(name, column, ValueRule::Text(most))
    }

    /// The same field, as one that a row always has.
    pub const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// The same field, its texts of no more than the right length checked by `check` too.
    pub const fn checked(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }

    /// The same field, as one that service files do not have.
    pub const fn not_in_files(self) -> Self {
        Self { is_in_files: false, ..self }
    }
}

impl<C: ColumnTrait> FieldRule<C> {
    /// The field's key in service files: its column, without what tells that the column holds another row's key.
    pub fn key(&self) -> &'static str {
        let column = self.column.as_str();
        column.strip_suffix("_id").unwrap_or(column)
    }

    /// The most characters that a text may have.
    pub fn most(&self) -> usize {
        match self.value {
            ValueRule::Text(most) => most,
            _ => text::SHORT,
        }
    }

    /// Returns the text that the field is to hold, `None` where it is to hold none. `said` is the name to use in messages.
    pub fn check_text(&self, said: &'static str, given: &str) -> Result<Option<String>, UserError> {
        if given.is_empty() && !self.is_required {
            return Ok(None);
        }
        let checked = match self.is_required {
            true => text::required(said, given, self.most())?,
            false => text::at_most(said, given, self.most())?,
        };
        if let Some(check) = self.check {
            check(&checked)?;
        }
        Ok(Some(checked))
    }

    /// The text of a field that a row always has.
    pub fn required_text(&self, given: &str) -> Result<String, UserError> {
        text::required(self.name, given, self.most())
    }

    /// Refuses null where a row always has the field.
    pub fn check_null(&self) -> Result<(), UserError> {
        if self.is_required { Err(must_not_be_null(self.name)) } else { Ok(()) }
    }
}

/// The error about a field that can be left out but not cleared.
pub fn must_not_be_null(field: &'static str) -> UserError {
    UserError::new(field, format!("{field} must not be null"))
}

impl Reference {
    /// The sentence about a name that stands for no row.
    pub fn unknown(self, name: &str) -> String {
        let (noun, called) = match self {
            Self::Team => ("team", "alias"),
            Self::Tier => ("tier", "alias"),
            Self::Lifecycle => ("lifecycle", "alias"),
            Self::User => ("user", "email address"),
            Self::System => ("system", "alias"),
            Self::Domain => ("domain", "alias"),
            Self::ComponentType => ("component type", "alias"),
        };
        format!("no {noun} has the {called} {}", quoted(name))
    }
}
