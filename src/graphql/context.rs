//! What every resolver is given: the database, the settings, and how internal errors are told.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use sea_orm::DatabaseTransaction;

use super::caller::{self, Caller};
use super::document::{Documents, Prepared, request_error};
use super::execute::Response;
use super::places::{Lane, Place, Places};
use super::{Settings, execute};
use crate::budget::Budget;
use crate::db::{self, Connection, Db, Snapshot};
use crate::entity::audit;
use crate::error::{Code, Error, Result};

/// What lives as long as the process.
pub(super) struct Shared {
    pub(super) db: Db,
    pub(super) settings: Settings,
    pub(super) documents: Documents,
    pub(super) places: Places,
}

/// What lives as long as a request, or, inside a mutation, as its transaction.
///
/// A query reads in one transaction, so that all parts of its answer are of one moment, and on one connection, which
/// costs less than to borrow one for each statement. So does what is selected of a mutation's answer.
pub struct State {
    shared: Arc<Shared>,
    transaction: Transaction,
    request_id: Arc<str>,
    asked: Arc<Asked>,
    budget: Arc<Budget>,
    /// The place of a mutation's answer, while it is read. After the transaction, so that it is given back later.
    _place: Option<Place>,
}

/// What the statements of a state have in common.
enum Transaction {
    None,
    Read(Snapshot),
    Write(DatabaseTransaction),
}

/// Who asks, and what was given to the mutations.
struct Asked {
    caller: Caller,
    inputs: Vec<serde_json::Value>,
    estimate: u64,
}

/// A mutation's answer of more objects than this is read among the slow requests.
const QUICK_ANSWER: u64 = 1_000;

impl State {
    /// The state of a request before it has asked the database anything.
    pub(super) fn new(
        shared: Arc<Shared>,
        request_id: &str,
        caller: &Caller,
        prepared: &Prepared,
        budget: &Arc<Budget>,
    ) -> Self {
        let (inputs, estimate) = (prepared.inputs.clone(), prepared.estimate);
        let asked = Arc::new(Asked { caller: caller.clone(), inputs, estimate });
        let (request_id, budget) = (request_id.into(), Arc::clone(budget));
        Self { shared, transaction: Transaction::None, request_id, asked, budget, _place: None }
    }

    /// The state of a query.
    pub(super) async fn reading(self) -> Result<Self, Response> {
        match self.shared.db.begin_read(Some(Arc::clone(&self.budget))).await {
            Ok(snapshot) => Ok(Self { transaction: Transaction::Read(snapshot), ..self }),
            // Once for the whole answer, not once for each part of it.
            Err(error) => {
                let message = execute::State::report(&self, &error.into());
                Err(Response::failed(request_error(message, Vec::new(), Code::Internal)))
            }
        }
    }

    fn with(&self, transaction: Transaction, place: Option<Place>) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            transaction,
            request_id: Arc::clone(&self.request_id),
            asked: Arc::clone(&self.asked),
            budget: Arc::clone(&self.budget),
            _place: place,
        }
    }
}

impl execute::State for State {
    async fn begin(&self) -> Result<Self> {
        Ok(self.with(Transaction::Write(self.shared.db.begin_write().await?), None))
    }

    async fn read(&self) -> Result<Self> {
        let lane = if self.asked.estimate > QUICK_ANSWER { Lane::Slow } else { Lane::Quick };
        let place = self.shared.places.take(lane, self.asked.caller.who()).await;
        let snapshot = self.shared.db.begin_read(Some(Arc::clone(&self.budget))).await?;
        Ok(self.with(Transaction::Read(snapshot), Some(place)))
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    async fn note(&self, name: &str, index: usize, subject: &[u8]) -> Result<()> {
        let Transaction::Write(transaction) = &self.transaction else { return Ok(()) };
        let Asked { caller, inputs, .. } = &*self.asked;
        let input = inputs.get(index).unwrap_or(&serde_json::Value::Null);
        let payload = serde_json::from_slice(subject).unwrap_or_default();
        let (subject, detail) = (caller::subject(&payload, input), caller::shortened(input).to_string());
        Ok(audit::record(transaction, &caller.actor, name, subject, detail).await?)
    }

    async fn end(self, commit: bool) -> Result<()> {
        match self.transaction {
            Transaction::Write(transaction) if commit => Ok(self.shared.db.commit(transaction).await?),
            Transaction::Write(transaction) => Ok(transaction.rollback().await?),
            Transaction::Read(_) | Transaction::None => Ok(()),
        }
    }

    fn report(&self, error: &Error) -> String {
        tracing::error!(request_id = %self.request_id, error = %error, "a resolver failed");
        // A full disk is soon known to the client who waits for it.
        let cause = if let Error::Internal(cause) = error { cause.downcast_ref() } else { None };
        if let (Some(cause), Transaction::None) = (cause, &self.transaction) {
            self.shared.db.note_failed_write(cause);
        }
        let sentence = cause.and_then(db::refusal).unwrap_or("Something went wrong on our side.");
        format!("{sentence} The request was {}.", self.request_id)
    }

    fn lost_a_race(&self, error: &Error) -> bool {
        let Error::Internal(cause) = error else { return false };
        let lost = cause.downcast_ref().is_some_and(db::is_lost_race);
        if lost {
            tracing::info!(request_id = %self.request_id, error = %error, "others came between a mutation's statements");
        }
        lost
    }

    fn schema(&self) -> &Arc<Valid<Schema>> {
        self.shared.documents.schema()
    }
}

/// The context of a resolver of this API.
pub type Ctx<'a> = execute::Context<'a, State>;

impl Ctx<'_> {
    /// The connection to read by; inside a mutation its transaction, which is committed when the mutation succeeds and
    /// rolled back when it fails.
    pub fn db(&self) -> Connection<'_> {
        match &self.state.transaction {
            Transaction::Write(transaction) => Connection::Transaction(transaction),
            Transaction::Read(snapshot) => Connection::Snapshot(snapshot),
            Transaction::None => Connection::Reader(self.state.shared.db.read()),
        }
    }

    /// Whether the client selects anything of a connection's rows.
    pub fn selects_rows(&self) -> bool {
        ["nodes", "edges", "pageInfo"].iter().any(|field| self.selects(field))
    }

    /// Whether the client selects a connection's count.
    pub fn selects_count(&self) -> bool {
        ["totalCount", "filteredCount"].iter().any(|field| self.selects(field))
    }

    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.state.asked.caller
    }

    /// What is known of this installation.
    pub fn settings(&self) -> &Settings {
        &self.state.shared.settings
    }
}
