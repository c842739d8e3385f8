//! The rules of the fields that people write. Each table has one list, next to its columns.
//!
//! The API's mutations, the forms of pages and service files all read these lists. So they agree on how long a text may
//! be, what clears a column, and which row a name refers to. A list is in the order in which service files show the
//! keys.

use sea_orm::entity::prelude::*;

use super::text;
use crate::error::{UserError, quoted};

/// A table with columns that people write.
pub trait FieldRules: EntityTrait {
    /// The fields. People cannot write a field that is not listed.
    const FIELDS: &'static [FieldRule<Self::Column>];

    /// Returns the rule of a column.
    ///
    /// # Panics
    /// If the list lacks the column.
    fn rule(column: Self::Column) -> &'static FieldRule<Self::Column> {
        let found = Self::FIELDS.iter().find(|field| field.column.as_str() == column.as_str());
        found.expect("a column that people write is in the list of its table")
    }

    /// Returns the rule of an input field.
    ///
    /// # Panics
    /// If the list lacks the field.
    fn named(field: &str) -> &'static FieldRule<Self::Column> {
        let found = Self::FIELDS.iter().find(|rule| rule.name == field);
        found.expect("the build names fields of the list alone")
    }
}

/// What people may write into a column.
#[derive(Debug, Clone, Copy)]
pub struct FieldRule<C> {
    /// The field's name in the API's inputs.
    pub name: &'static str,
    /// The column.
    pub column: C,
    /// What the column holds.
    pub value: ValueRule,
    /// Whether every row has a value. If so, null and blank texts are refused.
    pub is_required: bool,
    /// Whether service files have the field too, under its [`key`](Self::key).
    pub is_in_files: bool,
    /// An additional check of texts, after that of their length.
    check: Option<Check>,
}

/// Returns an error if a text is not acceptable.
type Check = fn(&str) -> Result<(), UserError>;

/// What a column holds.
#[derive(Debug, Clone, Copy)]
pub enum ValueRule {
    /// A text of at most this many characters: a [long](FieldRule::is_long) or a short one. If the field is optional, the
    /// empty text means null.
    Text(usize),
    /// A row of another table, referred to by a text. The empty text means null.
    Named(Reference),
    /// A row of another table. The API refers to it by its global id, everything else by its alias.
    Id(Reference),
    /// A row of another table. The API refers to it by an object with its `id` or `alias`, everything else by its
    /// alias.
    Identified(Reference),
    /// True or false.
    Flag,
    /// A position in a list.
    Place,
    /// A date and time.
    Moment,
}

impl ValueRule {
    /// The table that the value refers to, if it is a reference.
    pub fn reference(self) -> Option<Reference> {
        match self {
            Self::Named(to) | Self::Identified(to) | Self::Id(to) => Some(to),
            Self::Text(_) | Self::Flag | Self::Place | Self::Moment => None,
        }
    }
}

/// A table that fields of other tables refer to.
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

    /// Makes the field required.
    pub const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Adds a check of texts. It runs after the check of their length.
    pub const fn checked(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }

    /// Leaves an optional text a field of its own in the inputs, because their mutations do more than store it. The build
    /// puts all others into `texts`.
    pub const fn by_hand(self) -> Self {
        self
    }

    /// Excludes the field from service files.
    pub const fn not_in_files(self) -> Self {
        Self { is_in_files: false, ..self }
    }
}

impl<C: ColumnTrait> FieldRule<C> {
    /// The field's key in service files: the column's name without `_id`.
    pub fn key(&self) -> &'static str {
        let column = self.column.as_str();
        column.strip_suffix("_id").unwrap_or(column)
    }

    /// The maximum number of characters of a text.
    pub fn max_length(&self) -> usize {
        match self.value {
            ValueRule::Text(most) => most,
            _ => text::SHORT,
        }
    }

    /// Whether the field holds a long text, with several lines, and not a short one: see [`text`].
    pub fn is_long(&self) -> bool {
        self.max_length() > text::URL
    }

    /// Checks a text and returns the value to store; `None` means null. `said` is the field's name in messages. A short
    /// text is trimmed.
    pub fn check_text(&self, said: &'static str, given: &str) -> Result<Option<String>, UserError> {
        let checked = match (self.is_required, self.is_long()) {
            (true, _) => text::required(said, given, self.max_length())?,
            (false, true) => text::long(said, given, self.max_length())?,
            (false, false) => text::line(said, given, self.max_length())?,
        };
        if checked.is_empty() {
            return Ok(None);
        }
        if let Some(check) = self.check {
            check(&checked)?;
        }
        Ok(Some(checked))
    }

    /// Checks a short text that must not be blank, and trims it. Does not run the additional check.
    pub fn required_text(&self, given: &str) -> Result<String, UserError> {
        text::required(self.name, given, self.max_length())
    }

    /// Refuses null if the field is required.
    pub fn check_null(&self) -> Result<(), UserError> {
        if self.is_required { Err(must_not_be_null(self.name)) } else { Ok(()) }
    }
}

/// The error for null in a field that may be omitted but not cleared.
pub fn must_not_be_null(field: &'static str) -> UserError {
    UserError::new(field, format!("{field} must not be null"))
}

impl Reference {
    /// The noun for a row, and for the name that refers to it.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Team => ("team", "alias"),
            Self::Tier => ("tier", "alias"),
            Self::Lifecycle => ("lifecycle", "alias"),
            Self::User => ("user", "email address"),
            Self::System => ("system", "alias"),
            Self::Domain => ("domain", "alias"),
            Self::ComponentType => ("component type", "alias"),
        }
    }

    /// The message for a name that refers to no row.
    pub fn unknown(self, name: &str) -> String {
        let (noun, called) = self.words();
        format!("no {noun} has the {called} {}", quoted(name))
    }
}
