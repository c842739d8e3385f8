//! Aliases of domains. Each belongs to one domain at a time; [`AliasTable`](super::alias::AliasTable) assigns them.

super::alias::alias_table!("domain_alias", domain, "domain", domain_id DomainId, i64, |owner| *owner);
