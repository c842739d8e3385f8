//! What checks said of services last, how that has changed, and what is to be evaluated again.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let due = Table::create()
            .table("check_due")
            .col(big_pk_auto("id"))
            .col(text("what"))
            .col(big_integer("row_id"))
            .col(text("part"))
            .col(text("cause"))
            .col(boolean("is_quiet"))
            .take();
        let result = Table::create()
            .table("check_result")
            .col(big_pk_auto("id"))
            .col(big_integer("check_id"))
            .col(big_integer("service_id"))
            .col(text("status"))
            .col(big_integer("since"))
            .foreign_key(&mut cascade("check_result", "check_id", "check"))
            .foreign_key(&mut cascade("check_result", "service_id", "service"))
            .take();
        let level = Table::create()
            .table("service_level")
            .col(big_pk_auto("id"))
            .col(big_integer("service_id"))
            .col(big_integer("level_id"))
            .col(big_integer("since"))
            .foreign_key(&mut cascade("service_level", "service_id", "service"))
            .foreign_key(&mut cascade("service_level", "level_id", "level"))
            .take();
        let change = Table::create()
            .table("standing_change")
            .col(big_pk_auto("id"))
            .col(big_integer("service_id"))
            .col(big_integer_null("check_id"))
            .col(big_integer("at"))
            .col(text_null("before"))
            .col(text_null("after"))
            .col(text_null("message"))
            .col(text("cause"))
            .foreign_key(&mut cascade("standing_change", "service_id", "service"))
            .foreign_key(&mut cascade("standing_change", "check_id", "check"))
            .take();
        let day = Table::create()
            .table("standing_day")
            .col(big_pk_auto("id"))
            .col(integer("day"))
            .col(big_integer_null("check_id"))
            .col(big_integer_null("level_id"))
            .col(big_integer("services"))
            .col(big_integer("passed"))
            .col(big_integer("pending"))
            .foreign_key(&mut cascade("standing_day", "check_id", "check"))
            .foreign_key(&mut cascade("standing_day", "level_id", "level"))
            .take();
        for table in [due, result, level, change, day] {
            manager.create_table(table).await?;
        }
        let mut result = index("check_result_once", "check_result", ["service_id", "check_id"]);
        let mut level = index("service_level_once", "service_level", ["service_id"]);
        let mut day_of_check = index("standing_day_by_check", "standing_day", ["check_id", "day"]);
        let mut day_of_level = index("standing_day_by_level", "standing_day", ["level_id", "day"]);
        create(
            manager,
            [
                result.unique().take(),
                index("check_result_by_check", "check_result", ["check_id", "status"]),
                level.unique().take(),
                index("service_level_by_level", "service_level", ["level_id"]),
                index("standing_change_by_service", "standing_change", ["service_id", "at"]),
                index("standing_change_by_check", "standing_change", ["check_id"]),
                index("standing_change_by_time", "standing_change", ["at"]),
                day_of_check.unique().take(),
                day_of_level.unique().take(),
            ],
        )
        .await
    })
}
