//! Tiers and lifecycle stages, as their forms know them.

use crate::visit::Fields;
use catalogue::entity::{lifecycle, tier};
use catalogue::graphql::field::id;

/// The fields of the form, by the paths that the API uses for mistakes about them.
pub const NAME: &str = "name";
pub const ALIAS: &str = "alias";
pub const DESCRIPTION: &str = "description";
pub const INDEX: &str = "index";

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Tier,
    Stage,
}

impl Kind {
    /// The kind that a part of a path means.
    pub fn of(part: &str) -> Self {
        if part.starts_with("tier") { Self::Tier } else { Self::Stage }
    }

    /// The part of a path that means all of the kind.
    pub fn part(self) -> &'static str {
        match self {
            Self::Tier => "tiers",
            Self::Stage => "lifecycles",
        }
    }

    /// The part of a path that means a new one.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tier => "tier",
            Self::Stage => "lifecycle",
        }
    }

    /// What people call it.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Tier => "tier",
            Self::Stage => "lifecycle stage",
        }
    }
}

/// A tier or a lifecycle stage.
pub struct Grade {
    pub id: String,
    pub alias: String,
    pub name: String,
    pub description: Option<String>,
    pub index: i32,
}

impl Grade {
    /// The number of its row.
    pub fn number(&self, kind: Kind) -> i64 {
        let number = match kind {
            Kind::Tier => id::number::<tier::Entity>(&self.id),
            Kind::Stage => id::number::<lifecycle::Entity>(&self.id),
        };
        number.unwrap_or_default()
    }

    /// Its values as form fields.
    pub fn fields(&self) -> Fields {
        Fields::one(NAME, &self.name)
            .and(ALIAS, &self.alias)
            .and(DESCRIPTION, self.description.as_deref().unwrap_or_default())
            .and(INDEX, &self.index.to_string())
    }
}
