//! The time of each service's last deploy, for an order of services. Triggers keep it. Only [`derive_all`] writes it too,
//! after rows were stored without them.

use sea_orm::sea_query::ExprTrait;

use super::prelude::*;
use super::{deploy, service};

/// A row of `service_last_deploy`. Every service has one.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_last_deploy")]
pub struct Model {
    /// The service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// The latest `deployed_at` of its deploys; `None` without any.
    pub deployed_at: Option<Timestamp>,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity, left_out("derived from deploys"));

/// Derives all rows, after services and deploys were stored in bulk in the transaction `db`.
pub async fn derive_all(db: &dyn WriteHandle) -> Result<(), db::Error> {
    let service = || Expr::col(service::Column::Id.as_column_ref());
    let last = Query::select()
        .expr(Expr::col(deploy::Column::DeployedAt.as_column_ref()).max())
        .from(deploy::Entity)
        .and_where(Expr::col(deploy::Column::ServiceId.as_column_ref()).eq(service()))
        .take();
    let all = Query::select().expr(service()).expr(db::scalar(last)).from(service::Entity).take();
    let mut insert = Query::insert();
    insert.into_table(Entity).columns([Column::ServiceId, Column::DeployedAt]);
    insert.select_from(all).map_err(|error| db::Error::fault(error.to_string()))?;
    db.exec(Entity::delete_many()).await?;
    db.execute::<Entity>(&insert).await.map(drop)
}
