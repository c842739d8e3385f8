//! Aliases of scorecards. Each belongs to one scorecard at a time; [`AliasTable`](super::alias::AliasTable) assigns them.

super::alias::alias_table!("scorecard_alias", scorecard, "scorecard", scorecard_id ScorecardId, i64, |owner| *owner);
