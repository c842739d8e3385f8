//! A service has an alert source.

use sea_orm::sea_query::ExprTrait;
use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of, has};
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::{alert_source, alert_source_service, check};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `AlertSourceUsageCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct AlertSourceUsage {
    pub(in crate::graphql::standards::check) alert_source_name_predicate: Option<Comparison>,
    /// A value of the SDL's `AlertSourceTypeEnum`.
    pub(in crate::graphql::standards::check) alert_source_type: Option<String>,
}

impl AlertSourceUsage {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        name: MaybeUndefined<PredicateUpdateInput>,
        system: MaybeUndefined<AlertSourceTypeEnum>,
    ) -> Result<()> {
        change.comparison("alertSourceNamePredicate", Of::Text, &mut self.alert_source_name_predicate, &name);
        if !system.is_undefined() {
            self.alert_source_type = system.value().map(|word| word.as_str().to_owned());
        }
        Ok(())
    }
}

impl Asks for AlertSourceUsage {
    fn wanted(&self) -> String {
        let system = self.alert_source_type.as_ref().map(|system| format!(" of the type {system}")).unwrap_or_default();
        match &self.alert_source_name_predicate {
            None => format!("an alert source{system}"),
            Some(comparison) if comparison.is_absence() => format!("no alert source{system}"),
            Some(comparison) => format!("an alert source{system} whose name {}", comparison.words()),
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        let has = |name: &str| format!("It has the alert source {}.", quoted(name));
        found.map_or_else(|| "It has no such alert source.".to_owned(), has)
    }

    async fn question(&self, _: &check::Model, facts: Facts<'_>) -> Result<Question> {
        use alert_source::Column;
        let mut sources = Rows::new(alert_source_service::Entity, alert_source_service::Column::ServiceId);
        let is_linked = Column::Id.into_expr().eq(alert_source_service::Column::AlertSourceId.into_expr());
        sources.from.inner_join(alert_source::Entity, is_linked);
        if let Some(system) = &self.alert_source_type {
            sources = sources.and_where(Column::Type.eq(system.as_str()));
        }
        let name = || Column::Name.into_expr();
        let comparison = self.alert_source_name_predicate.as_ref();
        let passed = has(&facts, &sources, Column::Id.into_expr(), name(), comparison).await?;
        Ok(Question::new(passed, first(&sources, name())))
    }
}
