//! The state of a request: what resolvers read and write with, and how internal errors are reported.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use sea_orm::EntityName;
use serde_json::Value;

use self::kept::Kept;
use crate::budget::Budget;
use crate::db::{self, Db, Snapshot, Transaction};
use crate::engine::plan::Plan;
use crate::engine::{self, Documents, Prepared, Relation, Response, request_error};
use crate::entity::{audit, deploy_number, service};
use crate::error::{Code, Error, Result, UserError};
use crate::graphql::Settings;
use crate::graphql::request::caller::Caller;
use crate::graphql::request::idempotency::Held;
use crate::graphql::request::places::{Lane, Place, Places, Turn};
use crate::graphql::request::rules::Rules;
use crate::graphql::standards::check::expressions;
use crate::spans;

mod kept;
mod mutation;
#[cfg(test)]
mod trial;

/// Shared by all requests, for the lifetime of the process: all of them, or those that reach the service at one address.
pub(in crate::graphql) struct Shared {
    pub(in crate::graphql) db: Db,
    pub(in crate::graphql) settings: Settings,
    pub(in crate::graphql) documents: Arc<Documents>,
    pub(in crate::graphql) rules: Arc<Rules>,
    pub(in crate::graphql) places: Arc<Places>,
}

impl Shared {
    /// Whether an operation has a mutation that changes many things.
    pub(in crate::graphql) fn takes_long(&self, plan: &Plan) -> bool {
        plan.root.fields.iter().any(|field| self.rules.is_bulk(field.name()))
    }

    /// The queue of an operation with mutations.
    pub(in crate::graphql) fn lane(&self, plan: &Plan) -> Lane {
        let is_long = plan.root.relations().count() > 1 || self.takes_long(plan);
        if is_long { Lane::LongChange } else { Lane::Change }
    }
}

/// The state of a request.
///
/// A query reads everything in one snapshot. So all parts of the response show the same state of the database, and only
/// one connection is borrowed instead of one for each statement. The payload of a mutation is read in a snapshot of its
/// own.
pub struct State {
    request: Arc<Request>,
    /// `None` where nothing is read: at the root of the mutations, and for introspection.
    snapshot: Option<Snapshot>,
    /// What resolvers keep of this snapshot for each other.
    kept: Kept,
    /// The place of a mutation while its payload is read. Field order matters: `snapshot` must be dropped first.
    /// Otherwise the next request could get the place while this one still holds its connection.
    _place: Option<Place>,
}

/// The state of a mutation: its write transaction.
pub struct Writing {
    request: Arc<Request>,
    /// Empty until the mutation [begins](MutationCtx::begin).
    transaction: OnceLock<Transaction>,
    changes_many: bool,
    /// Whether a mutation that changes many things has accounted for them itself.
    has_accounted: AtomicBool,
    /// The audit entry, which is stored with the commit.
    entry: OnceLock<audit::ActiveModel>,
    /// The row that so many others refer to that they must be shed before it is deleted.
    sheds: OnceLock<(&'static str, i64)>,
    /// Whether the transaction is rolled back in the end, whatever comes of it.
    is_trial: AtomicBool,
    /// Whether it changes what standards files govern, for them.
    governs: AtomicBool,
    /// The turn of a mutation that changes many things. Field order matters: it ends after the transaction.
    turn: OnceLock<Turn>,
}

/// What all states of a request share: the caller, the inputs of the mutations, the budget, the outcome.
pub struct Request {
    shared: Arc<Shared>,
    id: Box<str>,
    caller: Caller,
    inputs: Vec<Value>,
    estimate: u64,
    budget: Arc<Budget>,
    outcome: Arc<RequestOutcome>,
    /// What was found of the expressions of checks among the inputs.
    expressions: expressions::Found,
    /// The rows of each table that were shed for the present mutation.
    shed: Mutex<HashMap<String, u64>>,
}

/// The outcome of a request, which decides whether the client can retry it.
#[derive(Debug, Default)]
pub(in crate::graphql) struct RequestOutcome {
    /// Why the database could not serve a part of the request.
    reason: OnceLock<&'static str>,
    /// Whether a mutation was committed, or may have been.
    has_written: AtomicBool,
    /// The idempotency key that the request has claimed.
    claim: Option<Held>,
    /// The place of a request with mutations. It is freed when the key is settled, or before.
    place: Mutex<Option<Place>>,
    /// The mutations that the caller may not run.
    forbidden: Mutex<Vec<&'static str>>,
    /// Whether the request reads at the replica. If anything fails there, it is run again at the primary.
    is_at_replica: bool,
}

impl RequestOutcome {
    /// Creates the outcome of a request that has just begun.
    pub(in crate::graphql) fn new(claim: Option<Held>, place: Option<Place>) -> Self {
        Self { claim, place: Mutex::new(place), ..Self::default() }
    }

    fn place(&self) -> MutexGuard<'_, Option<Place>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forbidden_names(&self) -> MutexGuard<'_, Vec<&'static str>> {
        self.forbidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mutations that the caller may not run.
    pub(in crate::graphql) fn forbidden(&self) -> Vec<&'static str> {
        self.forbidden_names().clone()
    }

    /// Keeps the place of a request with mutations.
    pub(in crate::graphql) fn keep(&self, place: Place) {
        *self.place() = Some(place);
    }

    /// Whether the request may run mutations.
    pub(in crate::graphql) fn has_place(&self) -> bool {
        self.place().is_some()
    }

    /// Lets another request run mutations.
    fn give_way(&self, places: &Places) {
        let mut place = self.place();
        *place = place.take().map(|place| places.exchange(place));
    }

    /// Creates the outcome of a query that reads at the replica.
    pub(in crate::graphql) fn at_replica() -> Self {
        Self { is_at_replica: true, ..Self::default() }
    }

    /// Whether the database failed to serve a part of the request.
    pub(in crate::graphql) fn database_failed(&self) -> bool {
        self.reason.get().is_some()
    }

    /// Whether the request has changed something, or may have.
    pub(in crate::graphql) fn has_written(&self) -> bool {
        self.has_written.load(Ordering::Relaxed)
    }

    /// Why the database could not serve the request, if nothing was committed and the whole request can be retried.
    pub(in crate::graphql) fn unavailable(&self) -> Option<&'static str> {
        self.reason.get().copied().filter(|_| !self.has_written())
    }
}

/// The timeout for the writes of one mutation on PostgreSQL. The deadline of a query does not apply to them.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The same timeout for a mutation that changes many things.
pub const BULK_WRITE_TIMEOUT: Duration = Duration::from_secs(600);

/// The payload of a mutation is read in the slow queue if the request's estimate exceeds this number of objects.
const QUICK_ANSWER: u64 = 1_000;

impl State {
    /// Creates the state of a request, without a snapshot.
    pub(in crate::graphql) fn new(
        shared: Arc<Shared>,
        request_id: &str,
        caller: &Caller,
        prepared: &Prepared,
        budget: &Arc<Budget>,
        outcome: &Arc<RequestOutcome>,
    ) -> Self {
        let (inputs, estimate) = (prepared.inputs.clone(), prepared.estimate);
        let (caller, budget, outcome) = (caller.clone(), Arc::clone(budget), Arc::clone(outcome));
        let (id, expressions, shed) = (request_id.into(), expressions::Found::default(), Mutex::default());
        let request = Request { shared, id, caller, inputs, estimate, budget, outcome, expressions, shed };
        Self { request: Arc::new(request), snapshot: None, kept: Kept::default(), _place: None }
    }

    /// Opens the snapshot of a query. If that fails, returns the response to send. `once` says that the query may take
    /// a single statement.
    pub(in crate::graphql) async fn reading(self, once: bool) -> Result<Self, Response> {
        match self.request.open(once).await {
            Ok(snapshot) => Ok(Self { snapshot: Some(snapshot), ..self }),
            // Report the error once for the whole response, not once for each field.
            Err(error) => {
                let (message, code) = engine::State::report(&self, &error);
                Err(Response::failed(request_error(message, Vec::new(), code)))
            }
        }
    }

    /// Whether the query has taken several statements so far.
    pub(in crate::graphql) fn takes_several(&self) -> bool {
        self.snapshot.as_ref().is_some_and(Snapshot::has_run_several)
    }
}

impl Request {
    /// Opens the snapshot of a query, at the replica if the request is tried there.
    async fn open(&self, once: bool) -> Result<Snapshot> {
        let Self { shared, caller, budget, outcome, .. } = self;
        if outcome.is_at_replica
            && let Some(snapshot) = Box::pin(shared.db.begin_at_replica(once, caller.written(), budget)).await?
        {
            return Ok(snapshot);
        }
        if once { Ok(shared.db.read_once(budget).await?) } else { self.snapshot().await }
    }

    /// Sheds what refers to a row, in the place of a long change.
    async fn shed(&self, table: &str, id: i64) -> Result<()> {
        let Self { shared, caller, outcome, .. } = self;
        outcome.place().take();
        outcome.keep(shared.places.take(Lane::LongChange, caller.key()).await);
        if table == service::Entity.table_name() {
            deploy_number::leave_to_aliases_ahead(&shared.db, id).await?;
        }
        let shed = shared.db.shed(table, id).await?;
        for (table, rows) in shed {
            *self.shed_rows().entry(table).or_default() += rows;
        }
        Ok(())
    }

    fn shed_rows(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.shed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn snapshot(&self) -> Result<Snapshot> {
        Ok(self.shared.db.begin_read(Some(Arc::clone(&self.budget))).await?)
    }
}

impl engine::State for State {
    type Writing = Writing;

    async fn begin(&self, name: &str) -> Result<Writing> {
        let Request { shared, caller, .. } = &*self.request;
        shared.rules.check(name, caller.user.map(|(_, role)| role))?;
        if expressions::are_in(name) && self.request.expressions.is_empty() {
            // The mutation reports the mistakes.
            let inputs = self.request.inputs.iter().filter_map(|given| given.get("input")?.as_object());
            expressions::read_first(inputs, &self.request.expressions).await?;
        }
        let writing = Writing {
            request: Arc::clone(&self.request),
            transaction: OnceLock::new(),
            changes_many: shared.rules.is_bulk(name),
            has_accounted: AtomicBool::new(false),
            entry: OnceLock::new(),
            sheds: OnceLock::new(),
            is_trial: AtomicBool::new(false),
            governs: AtomicBool::new(false),
            turn: OnceLock::new(),
        };
        if !mutation::CHECKED_FIRST.contains(&name) {
            let _ = writing.transaction.set(shared.db.begin_change().await?.recorded());
        }
        Ok(writing)
    }

    async fn note(&self, writing: &Writing, name: &str, index: usize) -> Result<()> {
        let Request { inputs, outcome, .. } = &*self.request;
        // One that changes many things may have found that it changes nothing.
        let Some(transaction) = writing.transaction.get() else { return Ok(()) };
        if writing.changes_many && !writing.has_accounted.load(Ordering::Relaxed) {
            return Err(Error::internal(format!("{name} has @bulk and does not account for what it changes")));
        }
        if !writing.changes_many && !writing.is_trial.load(Ordering::Relaxed) {
            let input = inputs.get(index).unwrap_or(&Value::Null);
            // Boxed, because each wrapper around a future reserves space for it twice.
            Box::pin(writing.account(name, input)).await?;
        }
        if let Some(claim) = outcome.claim {
            Box::pin(claim.count_mutation(transaction)).await?;
        }
        Ok(())
    }

    async fn end(&self, writing: Writing, commit: bool) -> Result<()> {
        let Request { shared, inputs, outcome, .. } = &*self.request;
        let Writing { transaction, entry, sheds, is_trial, turn: _turn, .. } = writing;
        let Some(transaction) = transaction.into_inner() else { return Ok(()) };
        if commit && is_trial.into_inner() {
            shared.db.roll_back(transaction).await?;
            if inputs.len() == 1 {
                outcome.give_way(&shared.places);
            }
            return Ok(());
        }
        if !commit {
            shared.db.roll_back(transaction).await?;
            if let Some((table, id)) = sheds.into_inner() {
                Box::pin(self.request.shed(table, id)).await?;
            }
            return Ok(());
        }
        self.request.shed_rows().clear();
        // A request with several mutations keeps the payloads of those before.
        let give_way = || {
            if inputs.len() == 1 {
                outcome.give_way(&shared.places);
            }
        };
        let committed = match entry.into_inner() {
            Some(entry) => Box::pin(shared.db.commit_with(transaction, entry, give_way)).await,
            // It changes many things.
            None => shared.db.commit(transaction).await,
        };
        if committed.as_ref().map_or_else(|error| error.uncertain().is_some(), |()| true) {
            outcome.has_written.store(true, Ordering::Relaxed);
        }
        Ok(committed?)
    }

    async fn read(&self) -> Result<Self> {
        let request = &self.request;
        let lane = if request.estimate > QUICK_ANSWER { Lane::Slow } else { Lane::Quick };
        let place = request.shared.places.take(lane, request.caller.key()).await;
        let snapshot = request.snapshot().await?;
        Ok(Self { request: Arc::clone(request), snapshot: Some(snapshot), kept: Kept::default(), _place: Some(place) })
    }

    fn budget(&self) -> &Budget {
        &self.request.budget
    }

    async fn in_time<T: Send>(&self, name: &str, writes: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let Shared { db, rules, .. } = &*self.request.shared;
        let limit = if rules.is_bulk(name) { BULK_WRITE_TIMEOUT } else { WRITE_TIMEOUT };
        db.until(Instant::now() + limit, writes).await
    }

    fn traces(&self) -> bool {
        spans::is_on()
    }

    async fn trace(&self, relation: Relation, resolving: impl Future<Output = Option<Code>> + Send) {
        let span = spans::field(relation.parent, relation.field, relation.parents);
        if let Some(code) = span.instrument(resolving).await {
            span.fail(code.as_str());
        }
    }

    fn note_refused(&self, name: &'static str, errors: &[UserError]) {
        if errors.iter().any(|error| error.code == Code::Forbidden) {
            self.request.outcome.forbidden_names().push(name);
        }
    }

    fn report(&self, error: &Error) -> (String, Code) {
        if self.request.outcome.is_at_replica {
            tracing::info!(error = %error, "a query failed at the replica, and is run again at the primary");
            let _ = self.request.outcome.reason.set("The replica failed.");
            return (String::new(), Code::Unavailable);
        }
        tracing::error!(error = %error, "a resolver failed");
        // Without a snapshot, the error came from a write. Health checks must learn of a full disk at once.
        let cause = db::Error::cause_of(error);
        if let (Some(cause), None) = (cause, &self.snapshot) {
            self.request.shared.db.note_failed_write(cause);
        }
        let reason = cause.and_then(db::Error::refusal);
        if let Some(reason) = reason {
            let _ = self.request.outcome.reason.set(reason);
        }
        let code = if reason.is_some() { Code::Unavailable } else { Code::Internal };
        let sentence = reason.unwrap_or("Something went wrong on our side.");
        (format!("{sentence} The request was {}.", self.request.id), code)
    }

    fn lost_a_race(&self, error: &Error) -> bool {
        let lost = db::Error::cause_of(error).is_some_and(db::Error::is_lost_race);
        if lost {
            tracing::info!(error = %error, "others came between a mutation's statements");
        }
        lost
    }

    fn schema(&self) -> &Arc<Valid<Schema>> {
        self.request.shared.documents.schema()
    }
}

/// The context of a resolver.
pub type Ctx<'a> = engine::Context<'a, State>;

/// The context of a mutation's resolver.
pub type MutationCtx<'a> = engine::Context<'a, Writing>;

impl State {
    /// The snapshot that the response is read from. All statements see the same state of the database.
    ///
    /// # Panics
    /// At the root of the mutations. Their resolvers get a [`MutationCtx`].
    pub fn db(&self) -> &Snapshot {
        self.snapshot.as_ref().expect("whatever reads has a snapshot")
    }

    /// The caller of the request.
    pub fn caller(&self) -> &Caller {
        &self.request.caller
    }

    /// The configuration of this installation.
    pub fn settings(&self) -> &Settings {
        &self.request.shared.settings
    }

    /// Lets the request take more processor time than others: see [`Budget::allow`].
    pub fn allow(&self, more: Duration) {
        self.request.budget.allow(more);
    }
}
