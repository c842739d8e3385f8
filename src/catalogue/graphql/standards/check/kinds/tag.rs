//! A service has a tag.

use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of, has};
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::{check, tag};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `TagDefinedCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct TagDefined {
    pub(in crate::graphql::standards::check) tag_key: Option<String>,
    pub(in crate::graphql::standards::check) tag_predicate: Option<Comparison>,
}

impl TagDefined {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        tag_key: MaybeUndefined<String>,
        tag_predicate: MaybeUndefined<PredicateUpdateInput>,
    ) -> Result<()> {
        change.text("tagKey", &mut self.tag_key, &tag_key, text::TAG_KEY, true);
        change.comparison("tagPredicate", Of::Text, &mut self.tag_predicate, &tag_predicate);
        Ok(())
    }

    fn key(&self) -> &str {
        self.tag_key.as_deref().unwrap_or_default()
    }
}

/// A tag in words.
pub(super) fn tag_in_words(key: &str, comparison: Option<&Comparison>) -> String {
    let key = quoted(key);
    match comparison {
        None => format!("a tag {key}"),
        Some(comparison) if comparison.is_absence() => format!("no tag {key}"),
        Some(comparison) => format!("a tag {key} whose value {}", comparison.words()),
    }
}

impl Asks for TagDefined {
    fn wanted(&self) -> String {
        tag_in_words(self.key(), self.tag_predicate.as_ref())
    }

    fn said(&self, found: Option<&str>) -> String {
        match found {
            Some(value) => format!("Its tag {} is {}.", quoted(self.key()), quoted(value)),
            None => format!("It has no tag {}.", quoted(self.key())),
        }
    }

    async fn question(&self, _: &check::Model, facts: Facts<'_>) -> Result<Question> {
        let tags = Rows::new(tag::Entity, tag::Column::ServiceId).and_where(tag::Column::Key.eq(self.key()));
        let value = || tag::Column::Value.into_expr();
        let passed = has(&facts, &tags, tag::Column::Id.into_expr(), value(), self.tag_predicate.as_ref()).await?;
        Ok(Question::new(passed, first(&tags, value())))
    }
}
