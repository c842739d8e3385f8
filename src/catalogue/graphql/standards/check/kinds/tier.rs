//! A service depends on nothing that is less critical than itself. This kind has no parameters.

use sea_orm::sea_query::{Expr, ExprTrait, Order, Query as Select};
use sea_orm::{ColumnTrait, JoinType};
use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::question::{Asks, Facts, Question, first};
use crate::db;
use crate::entity::{check, service, service_dependency, tier};
use crate::error::Result;
use crate::graphql::filter::predicate::Rows;

/// The parameters of `DependencyTierCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct DependencyTier {}

impl DependencyTier {
    pub(in crate::graphql::standards::check) async fn give(&mut self, _: &mut Change<'_>) -> Result<()> {
        Ok(())
    }
}

/// What is found of a service without a tier. No service has this name.
const NO_TIER: &str = "";

/// The service that another one depends on.
const OTHER: &str = "other";

impl Asks for DependencyTier {
    fn wanted(&self) -> String {
        "only dependencies that are at least as critical".to_owned()
    }

    fn said(&self, found: Option<&str>) -> String {
        match found {
            None => "It depends on nothing less critical.".to_owned(),
            Some(NO_TIER) => "It has no tier.".to_owned(),
            Some(name) => format!("It depends on {name}, which is less critical."),
        }
    }

    async fn question(&self, _: &check::Model, _: Facts<'_>) -> Result<Question> {
        let tier = || service::Column::TierId.into_expr();
        let passed = tier().is_not_null().and(less_critical().exist_where(None).not());
        let mut in_order = less_critical();
        in_order.from.order_by_expr(service_dependency::Column::Id.into_expr(), Order::Asc);
        let name = first(&in_order, Expr::col((OTHER, "name")));
        let found = Expr::case(tier().is_null(), Expr::Constant(NO_TIER.into())).finally(name);
        Ok(Question { pending: Some(tier().is_null()), ..Question::new(passed, found.into()) })
    }
}

/// The dependencies on services that are less critical: their tier has a higher index than that of the service, or they
/// have none.
fn less_critical() -> Rows {
    const ITS: &str = "its_tier";
    use service_dependency::Column;
    let mut links = Rows::new(service_dependency::Entity, Column::SourceId);
    let is_other = Expr::col((OTHER, "id")).eq(Column::DestinationId.into_expr());
    links.from.join_as(JoinType::InnerJoin, service::Entity, OTHER, is_other);
    let is_its = Expr::col((ITS, "id")).eq(Expr::col((OTHER, "tier_id")));
    links.from.join_as(JoinType::LeftJoin, tier::Entity, ITS, is_its);
    let own = Select::select()
        .column(tier::Column::Index)
        .from(tier::Entity)
        .and_where(tier::Column::Id.into_expr().eq(service::Column::TierId.into_expr()))
        .take();
    let is_less = Expr::col((ITS, "index")).gt(db::scalar(own));
    links.and_where(Expr::col((OTHER, "tier_id")).is_null().or(is_less))
}
