//! Creates and changes checks: what the inputs of all kinds have in common.

use std::ops::RangeInclusive;

use sea_orm::{ActiveEnum, PrimaryKeyTrait};

use super::comparison::{self, Comparison, Of};
use super::expressions::Found;
use super::question::Asks;
use crate::entity::check::{Column, Entity, Kind, MOST, Model};
use crate::entity::{category, filter, level};
use crate::graphql::field::id::Class;
use crate::graphql::prelude::*;

/// A check that is created or changed.
pub(super) struct Change<'a> {
    pub(super) db: &'a Transaction,
    /// What was found of the expressions of the request.
    pub(super) expressions: &'a Found,
    pub(super) draft: Draft<Entity>,
    before: Option<Model>,
}

/// The fields that the inputs of all kinds have.
pub(super) struct Common {
    pub(super) category_id: MaybeUndefined<String>,
    pub(super) enable_on: MaybeUndefined<Timestamp>,
    pub(super) enabled: MaybeUndefined<bool>,
    pub(super) filter_id: MaybeUndefined<String>,
    pub(super) level_id: MaybeUndefined<String>,
    pub(super) name: MaybeUndefined<String>,
    pub(super) notes: MaybeUndefined<String>,
    pub(super) owner_id: MaybeUndefined<String>,
}

impl<'a> Change<'a> {
    /// Begins a new check.
    pub(super) fn new(ctx: &'a MutationCtx<'_>, kind: Kind) -> Self {
        let mut draft = Draft::<Entity>::new();
        draft.row.kind = Set(kind);
        draft.row.enabled = Set(false);
        Self { db: ctx.db(), expressions: ctx.expressions(), draft, before: None }
    }

    /// Begins a change of the check of this kind that has this id. Returns its parameters too.
    pub(super) async fn open<A: Asks>(ctx: &'a MutationCtx<'_>, kind: Kind, id: &str) -> Result<(Self, A)> {
        let db = ctx.db();
        let row = id::require::<Entity>(&db.locking(LockType::Update), id, "id").await?;
        if row.kind != kind {
            let message = format!("this is a check of type {}, not {}", row.kind.to_value(), kind.to_value());
            return Err(UserError::new("id", message).into());
        }
        let own = super::parameters(&row);
        Ok((Self { db, expressions: ctx.expressions(), draft: Draft::from_row(row.clone()), before: Some(row) }, own))
    }

    /// Sets the common fields.
    pub(super) async fn set(&mut self, common: Common) -> Result<()> {
        let Common { category_id, enable_on, enabled, filter_id, level_id, name, notes, owner_id } = common;
        let Self { db, draft, before, .. } = self;
        draft.set(Column::Name, &name);
        draft.set(Column::Notes, &notes);
        draft.set(Column::EnableAt, &enable_on);
        if !enabled.is_undefined() {
            let enabled = enabled.value().copied().unwrap_or_default();
            draft.row.enabled = Set(enabled);
            let has_begun = before.as_ref().is_some_and(|row| row.counts(Timestamp::now()));
            if !enabled && has_begun && enable_on.is_undefined() {
                draft.row.enable_at = Set(None);
            }
        }
        draft.refer(db, Column::OwnerId, &owner_id).await?;
        if let Some(key) = self.key::<category::Entity>("categoryId", &category_id).await? {
            self.draft.row.category_id = Set(key);
        }
        if let Some(key) = self.key::<level::Entity>("levelId", &level_id).await? {
            self.draft.row.level_id = Set(key);
        }
        match &filter_id {
            MaybeUndefined::Null => self.draft.row.filter_id = Set(None),
            given => {
                if let Some(key) = self.key::<filter::Entity>("filterId", given).await? {
                    self.draft.row.filter_id = Set(Some(key));
                }
            }
        }
        Ok(())
    }

    /// Finds the row that a field names. `None` if the field is absent or wrong.
    pub(super) async fn key<E>(&mut self, field: &'static str, given: &MaybeUndefined<String>) -> Result<Option<i64>>
    where
        E: Class<Model: HasId, PrimaryKey: PrimaryKeyTrait<ValueType = i64>>,
    {
        let found = match given {
            MaybeUndefined::Undefined => return Ok(None),
            MaybeUndefined::Null => Err(must_not_be_null(field).into()),
            MaybeUndefined::Value(id) => id::require::<E>(self.db, id, field).await.map(|row| row.id()),
        };
        self.draft.problems.take_any(found)
    }

    /// Sets a parameter that is a short text. Null and the empty text clear it, or are an error if it is required.
    pub(super) fn text(
        &mut self,
        field: &'static str,
        stored: &mut Option<String>,
        given: &MaybeUndefined<String>,
        most: usize,
        is_required: bool,
    ) {
        let checked = match given {
            MaybeUndefined::Undefined => return,
            MaybeUndefined::Null if is_required => Err(must_not_be_null(field)),
            MaybeUndefined::Null => Ok(None),
            MaybeUndefined::Value(given) if is_required => text::required(field, given, most).map(Some),
            MaybeUndefined::Value(given) => text::optional(field, given, most),
        };
        if let Some(checked) = self.draft.problems.take(checked) {
            *stored = checked;
        }
    }

    /// Sets a parameter that is a long text: code, or a template. Null and the empty text clear it, or are an error if it
    /// is required.
    pub(super) fn code(
        &mut self,
        field: &'static str,
        stored: &mut Option<String>,
        given: &MaybeUndefined<String>,
        most: usize,
        is_required: bool,
    ) {
        let nothing = || UserError::new(field, format!("{field} must not be blank"));
        let checked = match given {
            MaybeUndefined::Undefined => return,
            MaybeUndefined::Null if is_required => Err(must_not_be_null(field)),
            MaybeUndefined::Null => Ok(None),
            MaybeUndefined::Value(given) if text::is_nothing(given) && is_required => Err(nothing()),
            MaybeUndefined::Value(given) if given.is_empty() => Ok(None),
            MaybeUndefined::Value(given) => text::long(field, given, most).map(Some),
        };
        if let Some(checked) = self.draft.problems.take(checked) {
            *stored = checked;
        }
    }

    /// Sets a parameter that is a word of an enum and required.
    pub(super) fn word(&mut self, field: &'static str, stored: &mut String, given: MaybeUndefined<&'static str>) {
        match given {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.draft.problems.push(must_not_be_null(field)),
            MaybeUndefined::Value(word) => word.clone_into(stored),
        }
    }

    /// Sets a parameter that is true or false; null means false.
    pub(super) fn flag(stored: &mut bool, given: MaybeUndefined<bool>) {
        if !given.is_undefined() {
            *stored = given.value().copied().unwrap_or_default();
        }
    }

    /// Sets a parameter that is a list of 1 to [`text::FEW`] short texts, each of which `check` takes. Null is an error if
    /// it is required.
    pub(super) fn texts(
        &mut self,
        field: &'static str,
        stored: &mut Option<Vec<String>>,
        given: &MaybeUndefined<Vec<String>>,
        is_required: bool,
        check: impl Fn(&str) -> Result<String, String>,
    ) {
        let given = match given {
            MaybeUndefined::Undefined => return,
            MaybeUndefined::Null if is_required => return self.draft.problems.push(must_not_be_null(field)),
            MaybeUndefined::Null => return *stored = None,
            MaybeUndefined::Value(given) => given,
        };
        if given.len() > text::FEW || is_required && given.is_empty() {
            let message = format!("{field} has {} texts; 1 to {} are allowed", given.len(), text::FEW);
            return self.draft.problems.push(UserError::new(field, message));
        }
        let one = |(place, one): (usize, &String)| {
            let checked = text::required(field, one, text::SHORT)
                .and_then(|one| check(&one).map_err(|why| UserError::new(field, format!("{}: {why}", quoted(&one)))));
            checked.map_err(|error| UserError::new(place.to_string(), error.message).within(field))
        };
        let all: Result<Vec<_>, _> = given.iter().enumerate().map(one).collect();
        if let Some(all) = self.draft.problems.take(all) {
            *stored = Some(all).filter(|all| !all.is_empty());
        }
    }

    /// Sets a parameter that is a comparison.
    pub(super) fn comparison(
        &mut self,
        field: &'static str,
        of: Of,
        stored: &mut Option<Comparison>,
        given: &MaybeUndefined<PredicateUpdateInput>,
    ) {
        let done = comparison::given(self.db, of, stored, given).map_err(|error| error.within(field));
        self.draft.problems.take(done);
    }

    /// Stores the check with its parameters.
    pub(super) async fn done(self, own: &impl Asks) -> Result<CheckResponsePayload> {
        let Self { db, draft, before, .. } = self;
        let mut row = draft.done()?;
        row.parameters = Set(serde_json::to_string(own)?);
        let row = if before.is_some() {
            db.update(row).await?
        } else {
            let now = Timestamp::now();
            (row.created_at, row.updated_at) = (Set(now), Set(now));
            let row = db.insert(row).await?;
            refuse_too_many(db).await?;
            row
        };
        Ok(CheckResponsePayload { check: Some(Check::from(row)), ..Default::default() })
    }
}

/// Sets a parameter that is a comparison of texts and required.
pub(super) fn required_comparison(
    change: &mut Change<'_>,
    field: &'static str,
    stored: &mut Option<Comparison>,
    given: &MaybeUndefined<PredicateUpdateInput>,
) {
    if given.is_null() {
        return change.draft.problems.push(must_not_be_null(field));
    }
    change.comparison(field, Of::Text, stored, given);
}

/// Fails if there are more checks than allowed. Call it after the insert.
pub(super) async fn refuse_too_many(db: &Transaction) -> Result<()> {
    if db.count(Entity::find()).await? > MOST as u64 {
        return Err(UserError::base(format!("no check can be added: there are at most {MOST}")).into());
    }
    Ok(())
}

/// Checks a whole number.
pub(super) fn within(field: &'static str, given: i32, range: RangeInclusive<i32>) -> Result<i32, UserError> {
    if range.contains(&given) {
        return Ok(given);
    }
    let (least, most) = range.into_inner();
    Err(UserError::new(field, format!("{field} must be from {least} to {most}")))
}

/// A row that is known by an id.
pub(super) trait HasId {
    fn id(&self) -> i64;
}

impl HasId for category::Model {
    fn id(&self) -> i64 {
        self.id
    }
}

impl HasId for level::Model {
    fn id(&self) -> i64 {
        self.id
    }
}

impl HasId for filter::Model {
    fn id(&self) -> i64 {
        self.id
    }
}

/// A field of an input, whether it is required there or not.
pub(super) trait Given<T> {
    fn given(self) -> MaybeUndefined<T>;
}

impl<T> Given<T> for MaybeUndefined<T> {
    fn given(self) -> MaybeUndefined<T> {
        self
    }
}

impl Given<bool> for Option<bool> {
    fn given(self) -> MaybeUndefined<bool> {
        self.map_or(MaybeUndefined::Null, MaybeUndefined::Value)
    }
}

impl Given<PredicateUpdateInput> for PredicateInput {
    fn given(self) -> MaybeUndefined<PredicateUpdateInput> {
        let Self { r#type, value } = self;
        // A predicate that is given as a whole has no value unless it says so.
        let value = if value.is_undefined() { MaybeUndefined::Null } else { value };
        MaybeUndefined::Value(PredicateUpdateInput { r#type: MaybeUndefined::Value(r#type), value })
    }
}

impl Given<PredicateUpdateInput> for MaybeUndefined<PredicateInput> {
    fn given(self) -> MaybeUndefined<PredicateUpdateInput> {
        match self {
            MaybeUndefined::Undefined => MaybeUndefined::Undefined,
            MaybeUndefined::Null => MaybeUndefined::Null,
            MaybeUndefined::Value(given) => given.given(),
        }
    }
}

impl Given<ManualCheckFrequencyUpdateInput> for MaybeUndefined<ManualCheckFrequencyInput> {
    fn given(self) -> MaybeUndefined<ManualCheckFrequencyUpdateInput> {
        self.map_value(|given| {
            let ManualCheckFrequencyInput { frequency_time_scale, frequency_value, starting_date } = given;
            ManualCheckFrequencyUpdateInput {
                frequency_time_scale: MaybeUndefined::Value(frequency_time_scale),
                frequency_value: MaybeUndefined::Value(frequency_value),
                starting_date: MaybeUndefined::Value(starting_date),
            }
        })
    }
}

/// Fields that are required in some inputs.
macro_rules! required {
    ($($type:ty),*) => {$(
        impl Given<$type> for $type {
            fn given(self) -> MaybeUndefined<$type> {
                MaybeUndefined::Value(self)
            }
        }
    )*};
}

required!(
    String,
    i32,
    bool,
    CheckCodeIssueConstraintEnum,
    DeployMetricsCheckMetricEnum,
    HasDocumentationSubtypeEnum,
    HasDocumentationTypeEnum,
    PackageConstraintEnum,
    PackageManagerEnum,
    ServicePropertyTypeEnum,
    ToolCategory,
    Vec<String>
);
