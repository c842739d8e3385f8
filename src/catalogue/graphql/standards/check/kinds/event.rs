//! What the events of an integration say of a service. [`events`](super::super::events) evaluates them as they come.

use sea_orm::sea_query::ExprTrait;
use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::question::{Asks, Facts, Question};
use super::super::reported;
use crate::deploy::event::CUSTOM;
use crate::entity::text::DESCRIPTION;
use crate::entity::{check, integration};
use crate::evaluation::{Expressions, Language};
use crate::graphql::integration::with_events;
use crate::graphql::prelude::*;

/// The parameters of `CustomEventCheck`. The integration is a column of the check.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct CustomEvent {
    pub(in crate::graphql::standards::check) pass_pending: bool,
    pub(in crate::graphql::standards::check) result_message: Option<String>,
    pub(in crate::graphql::standards::check) service_selector: Option<String>,
    pub(in crate::graphql::standards::check) success_condition: Option<String>,
    /// The name of the integration when the check was written, for its sentences.
    integration: String,
}

impl CustomEvent {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        integration: MaybeUndefined<String>,
        pass_pending: MaybeUndefined<bool>,
        message: MaybeUndefined<String>,
        selector: MaybeUndefined<String>,
        condition: MaybeUndefined<String>,
    ) -> Result<()> {
        Change::flag(&mut self.pass_pending, pass_pending);
        for (field, language, stored, text) in [
            ("resultMessage", Language::Liquid, &mut self.result_message, message),
            ("serviceSelector", Language::Jq, &mut self.service_selector, selector),
            ("successCondition", Language::Jq, &mut self.success_condition, condition),
        ] {
            change.code(field, stored, &text, DESCRIPTION, matches!(language, Language::Jq));
            // A text that is refused in any case is not stored.
            let text = text.value().filter(|text| stored.as_ref() == Some(*text));
            if let Some(mistake) = text.and_then(|text| change.expressions.mistake(language, text)) {
                change.draft.problems.push(UserError::new(field, format!("{field}: {mistake}")));
            }
        }
        const INTEGRATION: &str = "integrationId";
        let found = match integration {
            MaybeUndefined::Undefined => return Ok(()),
            MaybeUndefined::Null => Err(must_not_be_null(INTEGRATION).into()),
            MaybeUndefined::Value(named) => id::require::<integration::Entity>(change.db, &named, INTEGRATION)
                .await
                .and_then(|found| Ok(with_events(found, INTEGRATION)?)),
        };
        if let Some(found) = change.draft.problems.take_any(found)? {
            self.integration = found.name;
            change.draft.row.integration_id = Set(Some(found.id));
        }
        Ok(())
    }

    pub(in crate::graphql::standards::check) fn expressions(self) -> Expressions {
        let Self { result_message, service_selector, success_condition, .. } = self;
        Expressions {
            selector: service_selector.unwrap_or_default(),
            condition: success_condition.unwrap_or_default(),
            message: result_message,
        }
    }
}

impl Asks for CustomEvent {
    fn wanted(&self) -> String {
        let or = if self.pass_pending { ", or none that names it" } else { "" };
        format!("an event of {} that meets the condition{or}", crate::error::quoted(&self.integration))
    }

    fn said(&self, found: Option<&str>) -> String {
        match reported::parts(found) {
            None => "No event has named it yet.".to_owned(),
            Some((at, _, "")) => format!("The event was received on {}.", at.minute()),
            Some((at, _, message)) => format!("{message} The event was received on {}.", at.minute()),
        }
    }

    async fn question(&self, check: &check::Model, facts: Facts<'_>) -> Result<Question> {
        let named = integration::Entity::by_ids(facts.db, [check.integration_id]).await?.pop().flatten();
        let Some(named) = named else {
            return Err(UserError::base("its integration was deleted").into());
        };
        // A check of an earlier release may have another one.
        if named.event_type.as_deref() != Some(CUSTOM) {
            return Err(UserError::base(format!("its integration takes no events: its type is not {CUSTOM}")).into());
        }
        let mut question = reported::question(check);
        if self.pass_pending
            && let Some(unknown) = question.pending.take()
        {
            question.passed = question.passed.or(unknown);
        }
        Ok(question)
    }
}
