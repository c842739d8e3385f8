//! Texts that only those may read whom they are for.

use std::fmt;

use sea_orm::{ColumnTrait, ColumnType, DeriveValueType};
use serde::Deserialize;

/// The type of a column whose text is a secret: whoever knows it may do something. What makes such texts returns one, and no
/// column of another type takes it. The audit does not tell columns of this type, and it is no type of the SDL, so no field
/// follows from one.
///
/// ```compile_fail,E0308
/// use catalogue::db::Secret;
///
/// let text: String = Secret::new("no column of texts".to_owned());
/// ```
#[derive(Clone, PartialEq, Eq, DeriveValueType, Deserialize)]
#[sea_orm(column_type = "custom(\"secret\")")]
pub struct Secret(String);

impl Secret {
    /// A text that is a secret from now on.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, to hand to whom it is for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Whether a column has the type [`Secret`]. No other type of a column is custom.
pub(super) fn is_secret(column: impl ColumnTrait) -> bool {
    matches!(column.def().get_column_type(), ColumnType::Custom(_))
}
