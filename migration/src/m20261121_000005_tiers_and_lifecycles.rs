//! The four tiers and five lifecycles that every catalogue begins with.

use sea_orm_migration::prelude::*;

use crate::Done;

type Grade = (&'static str, &'static str, &'static str);

const TIERS: [Grade; 4] = [
    ("tier_1", "Mission Critical", "A failure costs revenue or reputation at once."),
    ("tier_2", "Customer Facing", "A failure makes the product worse for customers, but it still works."),
    ("tier_3", "Internal", "Colleagues notice a failure, customers do not."),
    ("tier_4", "Experimental", "A failure is of no consequence."),
];

const LIFECYCLES: [Grade; 5] = [
    ("pre_alpha", "Pre-alpha", "Being designed or built; not used by anyone."),
    ("alpha", "Alpha", "Used by those who build it; may change or vanish."),
    ("beta", "Beta", "Used by the first customers; not complete."),
    ("generally_available", "Generally Available", "Complete, supported, in use."),
    ("end_of_life", "End-of-life", "Being taken out of use; no new users."),
];

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        seed(manager, "tier", &TIERS).await?;
        seed(manager, "lifecycle", &LIFECYCLES).await
    })
}

async fn seed(manager: &SchemaManager<'_>, table: &'static str, grades: &[Grade]) -> Result<(), DbErr> {
    let mut insert = Query::insert();
    insert.into_table(table).columns(["alias", "name", "description", "index"]);
    for ((alias, name, description), index) in grades.iter().zip(1..) {
        insert.values_panic([(*alias).into(), (*name).into(), (*description).into(), Expr::val(index)]);
    }
    manager.execute(insert).await
}
