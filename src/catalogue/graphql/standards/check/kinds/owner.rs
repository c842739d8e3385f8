//! A service has an owner, whom others can reach.

use sea_orm::JoinType;
use sea_orm::sea_query::{ExprTrait, Query as Select};
use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of, has};
use super::super::question::{Asks, Facts, Question};
use super::tag::tag_in_words;
use crate::entity::{check, contact, service, tag, team};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `ServiceOwnershipCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct ServiceOwnership {
    pub(in crate::graphql::standards::check) contact_method: Option<String>,
    pub(in crate::graphql::standards::check) require_contact_method: Option<bool>,
    pub(in crate::graphql::standards::check) tag_key: Option<String>,
    pub(in crate::graphql::standards::check) tag_predicate: Option<Comparison>,
}

/// The contact method that any contact has.
const ANY: &str = "any";

impl ServiceOwnership {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        contact_method: MaybeUndefined<String>,
        require_contact_method: MaybeUndefined<bool>,
        tag_key: MaybeUndefined<String>,
        tag_predicate: MaybeUndefined<PredicateUpdateInput>,
    ) -> Result<()> {
        let before = self.contact_method.clone();
        change.text("contactMethod", &mut self.contact_method, &contact_method, text::SHORT, false);
        let method = self.method();
        if self.contact_method != before && method.as_ref().is_some_and(|word| ContactType::from_word(word).is_none()) {
            let message = "contactMethod must be ANY or a type of contact, such as email, slack or web";
            change.draft.problems.push(UserError::new("contactMethod", message));
        }
        if !require_contact_method.is_undefined() {
            self.require_contact_method = require_contact_method.value().copied();
        }
        change.text("tagKey", &mut self.tag_key, &tag_key, text::TAG_KEY, false);
        change.comparison("tagPredicate", Of::Text, &mut self.tag_predicate, &tag_predicate);
        Ok(())
    }

    /// The type of contact that is needed, if one is. `None` for any.
    fn method(&self) -> Option<String> {
        let word = self.contact_method.as_deref()?.to_ascii_lowercase();
        (word != ANY).then_some(word)
    }

    fn needs_contact(&self) -> bool {
        self.require_contact_method == Some(true)
    }
}

impl Asks for ServiceOwnership {
    fn wanted(&self) -> String {
        let mut wanted = "an owner".to_owned();
        let mut with = Vec::new();
        if self.needs_contact() {
            with.push(match self.method() {
                None => "a contact".to_owned(),
                Some(method) => format!("a contact of the type {method}"),
            });
        }
        with.extend(self.tag_key.as_ref().map(|key| tag_in_words(key, self.tag_predicate.as_ref())));
        if !with.is_empty() {
            wanted.push_str(" with ");
            wanted.push_str(&with.join(" and "));
        }
        wanted
    }

    fn said(&self, found: Option<&str>) -> String {
        found.map_or_else(|| "It has no owner.".to_owned(), |team| format!("Its owner is {team}."))
    }

    async fn question(&self, _: &check::Model, facts: Facts<'_>) -> Result<Question> {
        let owner = || service::Column::OwnerId.into_expr();
        let mut passed = owner().is_not_null();
        if self.needs_contact() {
            let mut contacts = Select::select();
            contacts.expr(Expr::value(1)).from(contact::Entity);
            contacts.and_where(contact::Column::TeamId.into_expr().eq(owner()));
            if let Some(method) = self.method() {
                contacts.and_where(contact::Column::Type.eq(method));
            }
            passed = passed.and(Expr::exists(contacts));
        }
        if let Some(key) = &self.tag_key {
            // The tags of the owner, as rows of the service.
            const OWNED: &str = "owned";
            let is_owner = Expr::col((OWNED, "owner_id")).eq(tag::Column::TeamId.into_expr());
            let mut tags = Rows::new(tag::Entity, tag::Column::ServiceId).and_where(tag::Column::Key.eq(key.as_str()));
            tags.from.join_as(JoinType::InnerJoin, service::Entity, OWNED, is_owner);
            tags.owner = Expr::col((OWNED, "id"));
            let (id, value) = (tag::Column::Id.into_expr(), tag::Column::Value.into_expr());
            passed = passed.and(has(&facts, &tags, id, value, self.tag_predicate.as_ref()).await?);
        }
        let name = Select::select()
            .column(team::Column::Name)
            .from(team::Entity)
            .and_where(team::Column::Id.into_expr().eq(owner()))
            .take();
        Ok(Question::new(passed, db::scalar(name)))
    }
}
