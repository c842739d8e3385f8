//! What the resolver of a mutation does with its transaction.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use apollo_compiler::Schema;
use serde_json::{Map, Value};

use super::Writing;
use crate::db::{self, Before, Db, MOST_CHANGED, Reader, RowOf, Table, Transaction};
use crate::engine::input::{Input, InputError, from_json};
use crate::entity::change::Account;
use crate::error::{Result, UserError};
use crate::graphql::Settings;
use crate::graphql::request::caller::Caller;
use crate::graphql::request::note;
use crate::graphql::request::permit;
use crate::graphql::standards::check::expressions::Found;
use crate::graphql::standards::standards_file::refuse_locked;

/// Mutations that begin their transaction themselves, by [`Writing::begin`], once they have read and checked what takes
/// long. The rest begin with it.
pub(super) const CHECKED_FIRST: &[&str] = &[
    "changeRevert",
    "componentTypeCreate",
    "componentTypeUpdate",
    "propertyAssign",
    "propertyDefinitionCreate",
    "propertyDefinitionUpdate",
    "serviceCreate",
    "serviceFilesApply",
    "servicesUpdate",
    "standardsApply",
    "teamPropertyDefinitionCreate",
    "teamPropertyDefinitionUpdate",
    "teamPropertyDefinitionsAssign",
];

impl Writing {
    /// Fails unless the caller has the role that `mutation` needs.
    pub fn require_role_of(&self, mutation: &str) -> Result<()> {
        self.request.shared.rules.check(mutation, self.request.caller.user.map(|(_, role)| role))
    }

    /// The caller of the request.
    pub fn caller(&self) -> &Caller {
        &self.request.caller
    }

    /// The configuration of this installation.
    pub fn settings(&self) -> &Settings {
        &self.request.shared.settings
    }

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
        let Writing { request, transaction, changes_many, turn, .. } = self;
        if *changes_many {
            let _ = turn.set(request.shared.places.turn().await);
        }
        // One that changes many things compares them itself.
        let begun = request.shared.db.begin_change().await?;
        let _ = transaction.set(if *changes_many { begun } else { begun.recorded() });
        Ok(())
    }

    /// Begins a transaction that is rolled back in the end: it only finds out what would happen.
    pub async fn begin_trial(&self) -> Result<()> {
        self.is_trial.store(true, Ordering::Relaxed);
        let begun = self.request.shared.db.begin_change().await?;
        let _ = self.transaction.set(begun.recorded());
        Ok(())
    }

    /// Says that a mutation that changes many things has checked the permissions for them and written their audit.
    pub fn accounted(&self) {
        self.has_accounted.store(true, Ordering::Relaxed);
    }

    /// Says that the mutation changes what standards files govern, for them.
    pub fn govern(&self) {
        self.governs.store(true, Ordering::Relaxed);
    }

    /// What was found of the expressions of the request, before its transactions.
    pub(in crate::graphql) fn expressions(&self) -> &Found {
        &self.request.expressions
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        self.request.shared.documents.schema()
    }

    /// Reads fields that come from a file as the input of another mutation.
    pub fn input<T: Input>(&self, ty: &str, fields: Map<String, Value>) -> Result<T> {
        let read = from_json(self.schema(), crate::graphql::schema::info::SCALARS, ty, fields.into());
        read.map_err(|InputError { message, path }| {
            let place = path.join(".");
            let message = match &*message {
                "is required" => format!("{place} is required"),
                _ if place.is_empty() => message,
                _ => format!("{place}: {message}"),
            };
            let path = if path.is_empty() { vec!["base".to_owned()] } else { path };
            let path = path.into_iter().map(Cow::Owned).collect();
            UserError { path, ..UserError::base(message) }.into()
        })
    }

    /// Called before a row is deleted, and after whatever refuses that. If very many rows refer to it, fails as a lost race:
    /// they are shed in portions, while others write, and then the mutation is tried again.
    ///
    /// # Errors
    /// The caller may not delete it.
    pub async fn shed_first<E: Table>(&self, id: i64) -> Result<()> {
        let (db, row) = (self.db(), RowOf::new::<E>(id));
        if !db::has_many_dependents(db, row.table.name(), id).await? {
            return Ok(());
        }
        permit::check_row(Before::Committed(self.committed()), db, self.caller(), row).await?;
        let _ = self.sheds.set((row.table.name(), id));
        Err(db::Error::LostRace.into())
    }

    /// All that the mutation has changed so far.
    ///
    /// # Errors
    /// That is too much.
    pub async fn changed(&self) -> Result<Account> {
        let account =
            Account::complete(Before::Committed(self.committed()), self.db()).await.map_err(note::let_pass)?;
        let message = || format!("this changes more than {MOST_CHANGED} things; change fewer at a time");
        Ok(account.ok_or_else(|| UserError::base(message()))?)
    }

    /// Does all that follows from the changes of the mutation `name`: checks whether the caller may make them, writes the
    /// audit, and refreshes the search.
    pub(super) async fn account(&self, name: &str, input: &Value) -> Result<()> {
        let (db, before) = (self.db(), Before::Committed(self.committed()));
        let (rules, wanted) = (&*self.request.shared.rules, &self.request.shared.settings.events);
        let account = self.changed().await?;
        let account = match self.governs.load(Ordering::Relaxed) {
            true => account.beside_times(),
            false => {
                refuse_locked(&account)?;
                account
            }
        };
        permit::check(before, db, self.caller(), &account).await?;
        // The files of standards are in their repository, and each of the changes that follow from them in an entry.
        let named = self.governs.load(Ordering::Relaxed).then(|| without_texts(input.clone()));
        let input = named.as_ref().unwrap_or(input);
        let noted = note::note(before, db, &self.caller().actor, (name, input), (rules, wanted), &account).await;
        let _ = self.entry.set(noted.map_err(note::let_pass)?);
        if account.is_searched() {
            db::find::refresh(db).await?;
        }
        Ok(())
    }

    /// The number of rows of a table that were shed before.
    pub fn shed_of(&self, table: &str) -> u64 {
        self.request.shed_rows().get(table).copied().unwrap_or_default()
    }

    /// Reads committed data: what others see until the mutation's transaction commits.
    pub fn committed(&self) -> &Reader {
        self.request.shared.db.committed()
    }
}

/// An input with the names of files, and without their texts.
fn without_texts(mut input: Value) -> Value {
    for file in input["input"]["files"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        file.remove("text");
    }
    input
}
