//! What a new service begins with: its links, contacts, dependencies, repositories and properties. All of it is checked
//! before the service is made, so that one answer tells every mistake.

use super::{service_dependency, service_repository, tool};
use crate::entity::service::Writable;
use crate::entity::{contact as contacts_table, service_dependency as dependencies_table, tool as tools_table};
use crate::graphql::field::draft;
use crate::graphql::prelude::*;
use crate::graphql::property;
use crate::graphql::team::contact;

/// The maximum number of parts of each kind.
const MOST: usize = text::FEW;

/// What the input names.
pub(super) struct Wanted {
    tools: Vec<ToolInput>,
    contacts: Vec<ContactInput>,
    dependencies: Vec<ServiceDependencyInput>,
    repositories: Vec<ServiceRepositoryInput>,
    properties: Vec<ServicePropertyInput>,
}

/// The same, checked.
pub(super) struct Parts {
    tools: Vec<tools_table::ActiveModel>,
    contacts: Vec<contacts_table::ActiveModel>,
    dependencies: Vec<(i64, dependencies_table::ActiveModel)>,
    repositories: Vec<service_repository::NewLink>,
    properties: Vec<property::Checked>,
}

impl Wanted {
    pub fn new(
        tools: MaybeUndefined<Vec<ToolInput>>,
        contacts: MaybeUndefined<Vec<ContactInput>>,
        dependencies: MaybeUndefined<Vec<ServiceDependencyInput>>,
        repositories: MaybeUndefined<Vec<ServiceRepositoryInput>>,
        properties: MaybeUndefined<Vec<ServicePropertyInput>>,
    ) -> Self {
        Self {
            tools: tools.take().unwrap_or_default(),
            contacts: contacts.take().unwrap_or_default(),
            dependencies: dependencies.take().unwrap_or_default(),
            repositories: repositories.take().unwrap_or_default(),
            properties: properties.take().unwrap_or_default(),
        }
    }

    /// Reads the values of the properties, before the mutation begins to write. More than allowed are not read.
    pub async fn read_values(&self, db: &dyn ReadHandle) -> Result<Vec<property::Ahead>> {
        let mut read = Vec::with_capacity(self.properties.len());
        for ServicePropertyInput { definition, value } in self.properties.iter().take(MOST) {
            read.push(property::ahead(db, definition, &value.0, true).await?);
        }
        Ok(read)
    }

    /// Checks all parts.
    pub async fn check(self, db: &Transaction, values: Vec<property::Ahead>) -> Result<Parts> {
        let Self { tools, contacts, dependencies, repositories, properties } = self;
        let mut problems = Problems::default();
        for (field, given) in [
            ("tools", tools.len()),
            ("dependencies", dependencies.len()),
            ("repositories", repositories.len()),
            ("properties", properties.len()),
        ] {
            if given > MOST {
                problems.push(UserError::new(field, format!("a new service has at most {MOST} {field}")));
            }
        }
        let mut parts = Parts {
            tools: Vec::new(),
            contacts: problems.take_any(contact::checked("a new service", &contacts))?.unwrap_or_default(),
            dependencies: Vec::new(),
            repositories: Vec::new(),
            properties: Vec::new(),
        };
        for (place, input) in tools.into_iter().take(MOST).enumerate() {
            parts.tools.extend(problems.take_any(placed("tools", place, tool::checked(input)))?);
        }
        for (place, input) in dependencies.iter().take(MOST).enumerate() {
            parts.dependencies.extend(problems.take_any(placed("dependencies", place, need(db, input).await))?);
        }
        for (place, input) in repositories.iter().take(MOST).enumerate() {
            let checked = service_repository::checked(db, input).await;
            parts.repositories.extend(problems.take_any(placed("repositories", place, checked))?);
        }
        for (place, (input, ahead)) in properties.iter().zip(values).enumerate() {
            let checked = property::checked(db, ahead, &input.definition).await;
            parts.properties.extend(problems.take_any(placed("properties", place, checked))?);
        }
        problems.none()?;
        Ok(parts)
    }
}

impl Parts {
    /// Gives the parts to a service that was just made.
    pub async fn write(self, db: &Transaction, service: &Writable) -> Result<()> {
        let Self { tools, contacts, dependencies, repositories, properties } = self;
        for (place, row) in tools.into_iter().enumerate() {
            placed("tools", place, tool::insert(db, service, row).await)?;
        }
        contact::add_all(db, contacts, contacts_table::Column::ServiceId, service.id).await?;
        for (place, (on, row)) in dependencies.into_iter().enumerate() {
            placed("dependencies", place, service_dependency::insert(db, service, on, row).await)?;
        }
        for (place, link) in repositories.into_iter().enumerate() {
            placed("repositories", place, service_repository::insert(db, service, link).await)?;
        }
        for (place, value) in properties.into_iter().enumerate() {
            placed("properties", place, property::give(db, service, value).await)?;
        }
        Ok(())
    }
}

/// Checks a dependency: the key of the other service, and the other columns.
async fn need(db: &Transaction, input: &ServiceDependencyInput) -> Result<(i64, dependencies_table::ActiveModel)> {
    let ServiceDependencyInput { service, notes } = input;
    let mut problems = Problems::default();
    let on = problems.take_any(identifier::require_in::<Service>(db, "service", service).await)?;
    let notes = problems.take(draft::text::<dependencies_table::Entity>(dependencies_table::Column::Notes, notes));
    problems.none()?;
    let on = on.ok_or_else(|| Error::internal("a service was neither found nor missed"))?;
    let notes = notes.flatten().flatten();
    Ok((on.id, dependencies_table::ActiveModel { notes: Set(notes), ..Default::default() }))
}

/// Moves the mistakes of a part to its place in the input.
fn placed<T>(field: &'static str, place: usize, checked: Result<T>) -> Result<T> {
    checked.map_err(|error| error.map_user(|error| error.within(place.to_string()).within(field)))
}
