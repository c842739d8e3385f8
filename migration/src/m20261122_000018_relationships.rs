//! Relationships between objects of the catalogue, their definitions, and the rules of component types.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial};

/// The tables that an end of a relationship can refer to, each with its two columns and their indexes.
const ENDS: [(&str, [&str; 2], [&str; 2]); 5] = [
    ("service", ["source_service_id", "target_service_id"], ["relationship_from_service", "relationship_to_service"]),
    ("system", ["source_system_id", "target_system_id"], ["relationship_from_system", "relationship_to_system"]),
    ("domain", ["source_domain_id", "target_domain_id"], ["relationship_from_domain", "relationship_to_domain"]),
    ("team", ["source_team_id", "target_team_id"], ["relationship_from_team", "relationship_to_team"]),
    (
        "infrastructure_resource",
        ["source_infrastructure_resource_id", "target_infrastructure_resource_id"],
        ["relationship_from_infrastructure_resource", "relationship_to_infrastructure_resource"],
    ),
];

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let definition = Table::create()
            .table("relationship_definition")
            .col(big_pk_auto("id"))
            .col(text("alias"))
            .col(text("name"))
            .col(text_null("description"))
            .col(big_integer("component_type_id"))
            // Lists, as JSON text.
            .col(text("allowed_types"))
            .col(text("allowed_categories"))
            .col(text("management_rules"))
            .col(integer_null("min_items"))
            .col(integer_null("max_items"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut cascade("relationship_definition", "component_type_id", "component_type"))
            .take();
        let mut relationship = Table::create();
        relationship.table("relationship").col(big_pk_auto("id")).col(text("type"));
        relationship.col(big_integer_null("relationship_definition_id"));
        relationship.foreign_key(&mut cascade("relationship", "relationship_definition_id", "relationship_definition"));
        for end in [0, 1] {
            for (target, columns, _) in ENDS {
                relationship.col(big_integer_null(columns[end]));
                relationship.foreign_key(&mut cascade("relationship", columns[end], target));
            }
            relationship.check(exactly_one(ENDS.map(|(_, columns, _)| columns[end])));
        }
        // The type, the definition and both ends as one text, which is unique.
        relationship.col(text("unique_key"));
        manager.create_table(definition).await?;
        manager.create_table(relationship.take()).await?;
        let of_type = ["component_type_id", "id"];
        let of_definition = ["relationship_definition_id", "id"];
        let own = [
            index("relationship_definition_by_alias", "relationship_definition", ["alias"]).unique().take(),
            index("relationship_definition_by_type", "relationship_definition", of_type),
            index("relationship_by_key", "relationship", ["unique_key"]).unique().take(),
            partial("relationship_by_definition", "relationship", of_definition, "relationship_definition_id"),
        ];
        create(manager, own).await?;
        for (_, columns, names) in ENDS {
            let [source, target] =
                [0, 1].map(|end| partial(names[end], "relationship", [columns[end], "id"], columns[end]));
            create(manager, [source, target]).await?;
        }
        for column in ["owner_rules", "system_rules"] {
            let rules = ColumnDef::new(column).text().not_null().default("[]").take();
            manager.alter_table(Table::alter().table("component_type").add_column(rules).take()).await?;
        }
        Ok(())
    })
}
