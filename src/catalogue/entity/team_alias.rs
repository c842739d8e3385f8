//! Aliases of teams. Each belongs to one team at a time; [`AliasTable`](super::alias::AliasTable) assigns them.

super::alias::alias_table!("team_alias", team, "team", team_id TeamId, i64, |owner| *owner);
