//! Aliases of infrastructure resources. Each belongs to one resource at a time;
//! [`AliasTable`](super::alias::AliasTable) assigns them.

super::alias::alias_table!("infrastructure_resource_alias", infrastructure_resource, "infrastructure resource", infrastructure_resource_id InfrastructureResourceId, i64, |owner| *owner);
