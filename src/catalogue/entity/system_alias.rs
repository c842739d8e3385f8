//! Aliases of systems. Each belongs to one system at a time; [`AliasTable`](super::alias::AliasTable) assigns them.

super::alias::alias_table!("system_alias", system, "system", system_id SystemId, i64, |owner| *owner);
