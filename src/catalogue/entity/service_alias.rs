//! Aliases of services. Each belongs to one service at a time; [`AliasTable`](super::alias::AliasTable) assigns them.

super::alias::alias_table!("service_alias", service, "service", service_id ServiceId, service::Writable, |owner| owner.id);
