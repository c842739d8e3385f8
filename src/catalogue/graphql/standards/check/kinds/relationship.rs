//! A service has enough relationships of one definition.

use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of};
use super::super::question::{Asks, Facts, Question, count};
use crate::entity::{check, relationship, relationship_definition};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `RelationshipCheck`. The definition is a column of the check.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct Relationship {
    pub(in crate::graphql::standards::check) relationship_count_predicate: Option<Comparison>,
    /// The name of the definition when the check was written, for its sentences.
    definition: String,
}

impl Relationship {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        counted: MaybeUndefined<PredicateUpdateInput>,
        definition: MaybeUndefined<String>,
    ) -> Result<()> {
        const COUNTED: &str = "relationshipCountPredicate";
        const DEFINITION: &str = "relationshipDefinitionId";
        change.comparison(COUNTED, Of::Number, &mut self.relationship_count_predicate, &counted);
        if counted.is_null() {
            change.draft.problems.push(must_not_be_null(COUNTED));
        }
        let found = match definition {
            MaybeUndefined::Undefined => return Ok(()),
            MaybeUndefined::Null => Err(must_not_be_null(DEFINITION).into()),
            MaybeUndefined::Value(named) => {
                id::require::<relationship_definition::Entity>(change.db, &named, DEFINITION).await
            }
        };
        if let Some(found) = change.draft.problems.take_any(found)? {
            self.definition = found.name;
            change.draft.row.relationship_definition_id = Set(Some(found.id));
        }
        Ok(())
    }
}

impl Asks for Relationship {
    fn wanted(&self) -> String {
        let words = self.relationship_count_predicate.as_ref().map(Comparison::words).unwrap_or_default();
        format!("a number of relationships {} that {words}", quoted(&self.definition))
    }

    fn said(&self, found: Option<&str>) -> String {
        match found {
            None | Some("0") => "It has no such relationship.".to_owned(),
            Some("1") => "It has 1 such relationship.".to_owned(),
            Some(count) => format!("It has {count} such relationships."),
        }
    }

    async fn question(&self, check: &check::Model, _: Facts<'_>) -> Result<Question> {
        use relationship::Column;
        let Some(definition) = check.relationship_definition_id else {
            return Err(UserError::base("its relationship definition was deleted").into());
        };
        let ties = Rows::new(relationship::Entity, Column::SourceServiceId)
            .and_where(Column::RelationshipDefinitionId.eq(definition));
        let found = count(&ties);
        let passed = match &self.relationship_count_predicate {
            Some(comparison) => comparison.of_number(found.clone())?,
            None => ties.exist_where(None),
        };
        Ok(Question::new(passed, found))
    }
}
