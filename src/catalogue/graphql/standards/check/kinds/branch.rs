//! The repository of a service protects its default branch. A pipeline reports it.

use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::question::{Asks, Facts, Question};
use super::super::reported;
use crate::entity::check;
use crate::error::Result;

/// The parameters of `GitBranchProtectionCheck`: none.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct GitBranchProtection {}

impl GitBranchProtection {
    pub(in crate::graphql::standards::check) async fn give(&mut self, _: &mut Change<'_>) -> Result<()> {
        Ok(())
    }
}

impl Asks for GitBranchProtection {
    fn wanted(&self) -> String {
        "a protected default branch".to_owned()
    }

    fn said(&self, found: Option<&str>) -> String {
        reported::said(found)
    }

    async fn question(&self, check: &check::Model, _: Facts<'_>) -> Result<Question> {
        Ok(reported::question(check))
    }
}
