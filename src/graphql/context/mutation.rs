//! What the resolver of a mutation does with its transaction.

use super::super::permit;
use super::Writing;
use crate::db::{self, Committed, Db, Transaction};
use crate::entity::audit::Subject;
use crate::error::Result;

impl Writing {
    /// The mutation's transaction. It is committed if the mutation succeeds, and rolled back if it fails.
    ///
    /// # Panics
    /// Before [`Self::begin`], in a mutation that begins its transaction itself.
    pub fn db(&self) -> &Transaction {
        self.transaction.get().expect("a mutation has a transaction")
    }

    /// The database, for what a mutation reads before it begins.
    pub fn database(&self) -> &Db {
        &self.request.shared.db
    }

    /// Begins the transaction of a mutation that has read and checked what takes long. One that changes many things waits
    /// for its turn.
    pub async fn begin(&self) -> Result<()> {
        let Writing { request, transaction, may_share, changes_many, turn, .. } = self;
        if *changes_many {
            let _ = turn.set(request.shared.places.turn().await);
        }
        let _ = transaction.set(request.shared.db.begin_change(*may_share).await?);
        Ok(())
    }

    /// Called before a row is deleted, and after whatever refuses that. If very many rows refer to it, fails as a lost race:
    /// they are shed in portions, while others write, and then the mutation is tried again. `class` is the SDL type.
    ///
    /// # Errors
    /// The caller may not delete it.
    pub async fn shed_first(&self, table: &'static str, class: &str, id: i64) -> Result<()> {
        let db = self.db();
        if !db::has_many_dependents(db, table, id).await? {
            return Ok(());
        }
        let subject = Subject::new(class, Some(id), "");
        permit::check(db, db, self.caller(), "", &subject).await?;
        let _ = self.sheds.set((table, id));
        Err(db::Error::LostRace.into())
    }

    /// The number of rows of a table that were shed before.
    pub fn shed_of(&self, table: &str) -> u64 {
        self.request.shed_rows().get(table).copied().unwrap_or_default()
    }

    /// Reads committed data: what others see until the mutation's transaction commits.
    pub fn committed(&self) -> Committed<'_> {
        self.request.shared.db.committed(self.db())
    }
}
