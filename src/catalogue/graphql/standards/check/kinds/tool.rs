//! A service has a tool of a category.

use sea_orm::sea_query::ExprTrait;
use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of};
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::{check, tool};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `ToolUsageCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct ToolUsage {
    pub(in crate::graphql::standards::check) environment_predicate: Option<Comparison>,
    /// A value of the SDL's `ToolCategory`.
    pub(in crate::graphql::standards::check) tool_category: String,
    pub(in crate::graphql::standards::check) tool_name_predicate: Option<Comparison>,
    pub(in crate::graphql::standards::check) tool_url_predicate: Option<Comparison>,
}

impl ToolUsage {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        environment: MaybeUndefined<PredicateUpdateInput>,
        category: MaybeUndefined<ToolCategory>,
        name: MaybeUndefined<PredicateUpdateInput>,
        url: MaybeUndefined<PredicateUpdateInput>,
    ) -> Result<()> {
        change.word("toolCategory", &mut self.tool_category, category.map_value(ToolCategory::as_str));
        change.comparison("environmentPredicate", Of::Text, &mut self.environment_predicate, &environment);
        change.comparison("toolNamePredicate", Of::Text, &mut self.tool_name_predicate, &name);
        change.comparison("toolUrlPredicate", Of::Text, &mut self.tool_url_predicate, &url);
        Ok(())
    }
}

impl Asks for ToolUsage {
    fn wanted(&self) -> String {
        let mut wanted = format!("a tool of the category {}", self.tool_category);
        let parts = [
            ("name", &self.tool_name_predicate),
            ("URL", &self.tool_url_predicate),
            ("environment", &self.environment_predicate),
        ];
        let parts = parts.iter().filter_map(|(noun, one)| Some(format!("{noun} {}", one.as_ref()?.words())));
        let parts: Vec<String> = parts.collect();
        if !parts.is_empty() {
            wanted.push_str(" whose ");
            wanted.push_str(&parts.join(", and whose "));
        }
        wanted
    }

    fn said(&self, found: Option<&str>) -> String {
        match found {
            Some(name) => format!("It has the tool {}.", quoted(name)),
            None => format!("It has no tool of the category {}.", self.tool_category),
        }
    }

    async fn question(&self, _: &check::Model, facts: Facts<'_>) -> Result<Question> {
        use tool::Column;
        let tools =
            || Rows::new(tool::Entity, Column::ServiceId).and_where(Column::Category.eq(self.tool_category.as_str()));
        let mut passing = tools();
        for (column, comparison) in [
            (Column::DisplayName, &self.tool_name_predicate),
            (Column::Url, &self.tool_url_predicate),
            (Column::Environment, &self.environment_predicate),
        ] {
            if let Some(comparison) = comparison {
                let condition =
                    comparison.of_text(&facts, &tools(), Column::Id.into_expr(), column.into_expr()).await?;
                passing = passing.and_where(condition);
            }
        }
        // Of several tools, the message names one that passes.
        let name = |rows: &Rows| first(rows, Column::DisplayName.into_expr());
        Ok(Question::new(passing.exist_where(None), name(&passing).if_null(name(&tools()))))
    }
}
