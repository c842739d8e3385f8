//! Rehearses files: copies the rows that their documents name to a database in memory, where they are then applied as
//! they would be to the real one. Nobody waits for a rehearsal, and it locks nothing.
//!
//! What applying reads must be among the copies: whatever a document names, whatever the subjects of the documents have,
//! and whatever these refer to.

use std::collections::BTreeSet;

use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, ModelTrait, QueryFilter, QuerySelect, QueryTrait,
    Value,
};

use super::Options;
use super::document::{
    Dependency, Document, GroupDocument, Link, Member, Named as Entity, Naming, Person, Relationship,
    RepositoryDocument, ServiceDocument, Subject, TeamDocument,
};
use super::entity_ref::EntityRef;
use super::names::{Found, Names};
use super::properties::Definitions;
use crate::db::{self, Read, Snapshot, Table, Transaction, Write};
use crate::entity::alias::{AliasTable, slug};
use crate::entity::field_rule::{FieldRule, Reference};
use crate::entity::user::email_key;
use crate::entity::{
    Timestamp, component_type, contact, domain, domain_alias, infrastructure_resource, infrastructure_resource_alias,
    lifecycle, property, property_definition, relationship, relationship_definition, repository, service,
    service_alias, service_dependency, service_repository, system, system_alias, tag, team, team_alias,
    team_membership, tier, tool, user,
};

/// The number of rows that are copied in one statement.
const AT_ONCE: usize = 500;

/// How many levels of teams are copied above and below a team. More are a mistake.
const LEVELS: usize = 22;

/// The tables whose new rows get ids that matter: they are part of names, or the rows are stored unless they are there. A
/// rehearsal gives the ids that come next, so that no new row has the id of one that is not among the copies.
const NUMBERED: [&str; 10] = [
    "service",
    "team",
    "system",
    "domain",
    "repository",
    "service_alias",
    "team_alias",
    "system_alias",
    "domain_alias",
    "service_repository",
];

/// Copies what the documents need from `seen` to `copy`.
pub(super) async fn copy(
    seen: &Snapshot,
    copy: &Transaction,
    documents: &[Document],
    definitions: &Definitions,
    options: &Options<'_>,
) -> Result<(), db::Error> {
    let mut named = Named::default();
    documents.iter().for_each(|document| named.add(document));
    let copier = Copier { seen, copy };
    for table in NUMBERED {
        db::give_ids_after(copy, table, db::last_id(seen, table).await?).await?;
    }
    copier.copy_all(&named, definitions, options).await
}

/// The names in documents, by what they are names of. What is only referred to is copied alone, and a subject with all
/// that belongs to it.
#[derive(Default)]
struct Named {
    services: Aliases,
    teams: Aliases,
    systems: Aliases,
    domains: Aliases,
    resources: BTreeSet<String>,
    repositories: BTreeSet<String>,
    emails: BTreeSet<String>,
    relationship_definitions: BTreeSet<String>,
    /// What fields refer to.
    references: Vec<(Reference, String)>,
    /// Teams that get a new parent.
    children: Vec<String>,
}

/// Aliases of subjects, and others.
#[derive(Default)]
struct Aliases {
    subjects: BTreeSet<String>,
    /// The slugs of names: a group may be found by one, and a new subject may get one.
    slugs: BTreeSet<String>,
    others: BTreeSet<String>,
}

impl Aliases {
    /// Adds the names of a subject, and the slugs that it may get.
    fn add(&mut self, naming: &Naming, noun: &str) {
        let Naming { name, key, aliases, entity } = naming;
        let given = aliases.iter().flatten().chain([name]).chain(key).map(|alias| alias.value.clone());
        self.subjects.extend(given);
        // An entity may get its short name, or its whole one.
        let mut names = vec![name.value.clone()];
        if let Some(Entity { entity, short }) = entity {
            let others = [entity.to_string(), entity.short(), short.value.clone()];
            names.extend(others.iter().cloned());
            self.subjects.extend(others);
        }
        for slug in names.iter().map(|name| slug(name, noun)) {
            self.others.extend((2..10).map(|number| format!("{slug}_{number}")));
            self.slugs.insert(slug);
        }
    }

    /// Adds what a reference may mean: an alias, or a name that is written a little differently.
    fn refer(&mut self, name: &str) {
        let short = EntityRef::parse_full(name).map_or_else(|| name.to_lowercase(), |entity| entity.short());
        self.others.insert(slug(&short, ""));
        self.others.insert(short);
        self.others.insert(name.to_owned());
    }
}

impl Named {
    fn add(&mut self, document: &Document) {
        // Destructured without `..`, so that no key of a document is forgotten.
        match &document.subject {
            Subject::Service(document) => self.add_service(document),
            Subject::Repository(RepositoryDocument { name: _, alias, fields, tags: _ }) => {
                self.repositories.insert(alias.value.clone());
                fields.iter().for_each(|given| self.refer(given.rule, &given.said.value));
            }
            Subject::Team(document) => {
                let TeamDocument { group, contacts: _, members, properties: _, parent, children } = &**document;
                let GroupDocument { naming, fields, tags: _ } = group;
                self.teams.add(naming, team_alias::Entity::NOUN);
                fields.iter().for_each(|given| self.refer(given.rule, &given.said.value));
                for Member { user, role: _, is_person: _ } in members.iter().flatten() {
                    self.emails.insert(email_key(&user.value));
                }
                self.references.extend(parent.iter().map(|parent| (Reference::Team, parent.value.clone())));
                self.children.extend(children.iter().map(|child| child.value.clone()));
            }
            Subject::System(GroupDocument { naming, fields, tags: _ }) => {
                self.systems.add(naming, system_alias::Entity::NOUN);
                fields.iter().for_each(|given| self.refer(given.rule, &given.said.value));
            }
            Subject::Domain(GroupDocument { naming, fields, tags: _ }) => {
                self.domains.add(naming, domain_alias::Entity::NOUN);
                fields.iter().for_each(|given| self.refer(given.rule, &given.said.value));
            }
            Subject::Person(Person { name: _, email, teams: _ }) => {
                self.emails.extend(email.as_deref().map(email_key));
            }
            Subject::Api(_) => {}
        }
    }

    fn add_service(&mut self, document: &ServiceDocument) {
        let ServiceDocument {
            naming,
            fields,
            tags: _,
            repositories,
            tools: _,
            contacts: _,
            dependencies,
            properties: _,
            relationships,
            apis: _,
        } = document;
        self.services.add(naming, service_alias::Entity::NOUN);
        fields.iter().for_each(|given| self.refer(given.rule, &given.said.value));
        for Link { alias, repository: _, base_directory: _, display_name: _ } in repositories.iter().flatten() {
            self.repositories.insert(alias.value.clone());
        }
        for Dependency { alias, notes: _ } in dependencies.iter().flatten() {
            self.services.refer(&alias.value);
        }
        for Relationship { definition, target, kind: _ } in relationships.iter().flatten() {
            self.relationship_definitions.insert(definition.value.clone());
            for aliases in [
                &mut self.services.others,
                &mut self.teams.others,
                &mut self.systems.others,
                &mut self.domains.others,
                &mut self.resources,
            ] {
                aliases.insert(target.value.clone());
            }
        }
    }

    /// Adds the name of a row that a field refers to.
    fn refer<C>(&mut self, rule: &FieldRule<C>, value: &Value) {
        if let (Some(to), Value::String(Some(name))) = (rule.value.reference(), value) {
            self.references.push((to, name.to_string()));
        }
    }
}

type Ids = BTreeSet<i64>;

/// Ids of rows, by their table.
#[derive(Default)]
struct Things {
    services: Ids,
    teams: Ids,
    systems: Ids,
    domains: Ids,
    resources: Ids,
    repositories: Ids,
    relationship_definitions: Ids,
    property_definitions: Ids,
    tiers: Ids,
    lifecycles: Ids,
    component_types: Ids,
    users: Ids,
}

struct Copier<'c> {
    seen: &'c Snapshot,
    copy: &'c Transaction,
}

impl Copier<'_> {
    async fn copy_all(&self, named: &Named, definitions: &Definitions, options: &Options<'_>) -> Result<(), db::Error> {
        let mut needed = self.referred(&named.references).await?;
        let children: Vec<_> = named.children.iter().map(|child| (Reference::Team, child.clone())).collect();
        let mut teams = self.referred(&children).await?.teams;
        let by_name = self.texts::<team::Entity>(team::Column::Name, &named.teams.subjects).await?;
        teams.extend(by_name.iter().map(|team| team.id));
        let subjects = Things {
            services: self.subjects::<service_alias::Entity>(&named.services, Ids::new()).await?,
            teams: self.subjects::<team_alias::Entity>(&named.teams, teams).await?,
            systems: self.subjects::<system_alias::Entity>(&named.systems, Ids::new()).await?,
            domains: self.subjects::<domain_alias::Entity>(&named.domains, Ids::new()).await?,
            ..Things::default()
        };
        needed.services = self.owners::<service_alias::Entity>(&named.services.others).await?;
        self.ids::<service_alias::Entity>(service_alias::Column::ServiceId, &needed.services).await?;
        needed.teams.extend(self.owners::<team_alias::Entity>(&named.teams.others).await?);
        needed.systems.extend(self.owners::<system_alias::Entity>(&named.systems.others).await?);
        needed.domains.extend(self.owners::<domain_alias::Entity>(&named.domains.others).await?);
        needed.resources = self.owners::<infrastructure_resource_alias::Entity>(&named.resources).await?;
        needed.property_definitions = definitions.ids().collect();
        needed.services.extend(&subjects.services);
        needed.teams.extend(&subjects.teams);
        needed.systems.extend(&subjects.systems);
        needed.domains.extend(&subjects.domains);
        if let (Some(repository), true) = (&options.origin.repository, options.releases_missing) {
            use service::{Column, Entity};
            let locked = Column::LockedRepository.eq(repository).and(Column::LockedBy.is_not_null());
            self.rows::<Entity>(locked).await?;
        }
        self.parts(&subjects, &mut needed).await?;
        self.teams(needed.teams.clone(), &subjects.teams, &named.emails).await?;
        self.rest(named, needed).await
    }

    /// Finds what names refer to, as applying does, and copies its aliases.
    async fn referred(&self, references: &[(Reference, String)]) -> Result<Things, db::Error> {
        let (mut names, mut found) = (Names::default(), Things::default());
        for (to, name) in references {
            let id = match names.find(self.seen, *to, name).await? {
                Found::One(id) => id,
                Found::Several => {
                    self.all_names(*to).await?;
                    continue;
                }
                Found::Nothing => continue,
            };
            let ids = match to {
                Reference::Team => &mut found.teams,
                Reference::System => &mut found.systems,
                Reference::Domain => &mut found.domains,
                Reference::Tier => &mut found.tiers,
                Reference::Lifecycle => &mut found.lifecycles,
                Reference::ComponentType => &mut found.component_types,
                Reference::User => &mut found.users,
            };
            ids.insert(id);
        }
        self.ids::<team_alias::Entity>(team_alias::Column::TeamId, &found.teams).await?;
        self.ids::<system_alias::Entity>(system_alias::Column::SystemId, &found.systems).await?;
        self.ids::<domain_alias::Entity>(domain_alias::Column::DomainId, &found.domains).await?;
        Ok(found)
    }

    /// Copies all names of a table, because some are so alike that a reference may mean several.
    async fn all_names(&self, of: Reference) -> Result<(), db::Error> {
        let all = || Expr::cust("1 = 1");
        match of {
            Reference::Team => {
                self.rows::<team::Entity>(all()).await?;
                self.rows::<team_alias::Entity>(all()).await?;
            }
            Reference::System => {
                self.rows::<system::Entity>(all()).await?;
                self.rows::<system_alias::Entity>(all()).await?;
            }
            Reference::Domain => {
                self.rows::<domain::Entity>(all()).await?;
                self.rows::<domain_alias::Entity>(all()).await?;
            }
            Reference::Tier => drop(self.rows::<tier::Entity>(all()).await?),
            Reference::Lifecycle => drop(self.rows::<lifecycle::Entity>(all()).await?),
            Reference::ComponentType => drop(self.rows::<component_type::Entity>(all()).await?),
            Reference::User => {}
        }
        Ok(())
    }

    /// Copies what belongs to the subjects, and adds what that refers to.
    async fn parts(&self, subjects: &Things, needed: &mut Things) -> Result<(), db::Error> {
        let Things { services, teams, systems, domains, .. } = subjects;
        for one in self.ids::<service_dependency::Entity>(service_dependency::Column::SourceId, services).await? {
            needed.services.insert(one.destination_id);
        }
        for link in self.ids::<service_repository::Entity>(service_repository::Column::ServiceId, services).await? {
            needed.repositories.insert(link.repository_id);
        }
        self.ids::<tool::Entity>(tool::Column::ServiceId, services).await?;
        for one in self.ids::<relationship::Entity>(relationship::Column::SourceServiceId, services).await? {
            needed.relationship_definitions.extend(one.relationship_definition_id);
            needed.services.extend(one.target_service_id);
            needed.teams.extend(one.target_team_id);
            needed.systems.extend(one.target_system_id);
            needed.domains.extend(one.target_domain_id);
            needed.resources.extend(one.target_infrastructure_resource_id);
        }
        use tag::Column::{DomainId, ServiceId, SystemId, TeamId};
        for (owner, ids) in [(ServiceId, services), (TeamId, teams), (SystemId, systems), (DomainId, domains)] {
            self.ids::<tag::Entity>(owner, ids).await?;
        }
        for (owner, ids) in [(contact::Column::ServiceId, services), (contact::Column::TeamId, teams)] {
            self.ids::<contact::Entity>(owner, ids).await?;
        }
        for (owner, ids) in [(property::Column::ServiceId, services), (property::Column::TeamId, teams)] {
            let own = self.ids::<property::Entity>(owner, ids).await?;
            needed.property_definitions.extend(own.iter().map(|one| one.definition_id));
        }
        Ok(())
    }

    /// Copies all that is needed except teams, and what is referred to by a name.
    async fn rest(&self, named: &Named, needed: Things) -> Result<(), db::Error> {
        let services = self.ids::<service::Entity>(service::Column::Id, &needed.services).await?;
        self.ids::<system::Entity>(system::Column::Id, &needed.systems).await?;
        self.ids::<domain::Entity>(domain::Column::Id, &needed.domains).await?;
        self.ids::<infrastructure_resource::Entity>(infrastructure_resource::Column::Id, &needed.resources).await?;
        let described = self.texts::<repository::Entity>(repository::Column::DefaultAlias, &named.repositories).await?;
        let described = described.iter().map(|repository| repository.id).collect();
        self.ids::<tag::Entity>(tag::Column::RepositoryId, &described).await?;
        self.ids::<repository::Entity>(repository::Column::Id, &needed.repositories).await?;
        self.ids::<tier::Entity>(tier::Column::Id, &needed.tiers).await?;
        self.ids::<lifecycle::Entity>(lifecycle::Column::Id, &needed.lifecycles).await?;
        self.ids::<user::Entity>(user::Column::Id, &needed.users).await?;
        self.definitions(needed.property_definitions).await?;
        use relationship_definition::{Column, Entity};
        let mut used = self.texts::<Entity>(Column::Alias, &named.relationship_definitions).await?;
        used.extend(self.ids::<Entity>(Column::Id, &needed.relationship_definitions).await?);
        let mut types = needed.component_types;
        types.extend(services.iter().filter_map(|service| service.type_id));
        types.extend(used.iter().map(|definition| definition.component_type_id));
        self.rows::<component_type::Entity>(component_type::Column::IsDefault.eq(true)).await?;
        self.ids::<component_type::Entity>(component_type::Column::Id, &types).await?;
        Ok(())
    }

    /// Copies teams, all teams above and below them, and the members of the subjects.
    async fn teams(&self, mut teams: Ids, subjects: &Ids, emails: &BTreeSet<String>) -> Result<(), db::Error> {
        use team::{Column, Entity};
        let members = self.ids::<team_membership::Entity>(team_membership::Column::TeamId, subjects).await?;
        let members = members.iter().map(|one| one.user_id).collect();
        self.ids::<user::Entity>(user::Column::Id, &members).await?;
        self.texts::<user::Entity>(user::Column::EmailKey, emails).await?;
        let (mut above, mut below) = (teams.clone(), subjects.clone());
        for _ in 0..LEVELS {
            let rows = self.ids::<Entity>(Column::Id, &above).await?;
            above = rows.iter().filter_map(|row| row.parent_team_id).filter(|id| teams.insert(*id)).collect();
        }
        for _ in 0..LEVELS {
            let rows = self.ids::<Entity>(Column::ParentTeamId, &below).await?;
            below = rows.iter().map(|row| row.id).filter(|id| teams.insert(*id)).collect();
        }
        Ok(())
    }

    /// Copies the aliases of property definitions: the values were checked, and schemas are large.
    async fn definitions(&self, ids: Ids) -> Result<(), db::Error> {
        use property_definition::{Column, Entity, Model};
        let ids: Vec<i64> = ids.into_iter().collect();
        let select = Entity::find().select_only().columns([Column::Id, Column::Alias]);
        let select = select.filter(db::any(self.seen, Column::Id, &ids));
        let aliases: Vec<(i64, String)> =
            self.seen.rows(select.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
        let no_time = Timestamp::from_micros(0);
        let named = |(id, alias): (i64, String)| Model {
            id,
            name: alias.clone(),
            alias,
            description: None,
            schema: String::new(),
            allowed_in_config_files: true,
            property_display_status: String::new(),
            locked_status: String::new(),
            is_of_teams: false,
            component_type_id: None,
            created_at: no_time,
            updated_at: no_time,
        };
        self.insert::<Entity>(aliases.into_iter().map(named).collect()).await
    }

    /// Copies the aliases of these names. Returns the ids of their owners.
    async fn owners<T>(&self, names: &BTreeSet<String>) -> Result<Ids, db::Error>
    where
        T: AliasTable + Table<Model: IntoActiveModel<T::ActiveModel> + Clone + Sync, ActiveModel: Send>,
    {
        let rows = self.texts::<T>(T::VALUE, names).await?;
        Ok(rows.iter().filter_map(owner_of::<T>).collect())
    }

    /// Copies all aliases of subjects: of the owners of these names, and of `others`. Returns their ids.
    async fn subjects<T>(&self, names: &Aliases, others: Ids) -> Result<Ids, db::Error>
    where
        T: AliasTable + Table<Model: IntoActiveModel<T::ActiveModel> + Clone + Sync, ActiveModel: Send>,
    {
        let mut owners = others;
        owners.extend(self.owners::<T>(&names.subjects).await?);
        owners.extend(self.owners::<T>(&names.slugs).await?);
        self.ids::<T>(T::OWNER, &owners).await?;
        Ok(owners)
    }

    /// Copies the rows in which `column` holds one of these ids.
    async fn ids<E>(&self, column: E::Column, ids: &Ids) -> Result<Vec<E::Model>, db::Error>
    where
        E: Table<Model: IntoActiveModel<E::ActiveModel> + Clone + Sync, ActiveModel: Send>,
    {
        let ids: Vec<i64> = ids.iter().copied().collect();
        match ids.is_empty() {
            true => Ok(Vec::new()),
            false => self.rows::<E>(db::any(self.seen, column, &ids)).await,
        }
    }

    /// Copies the rows in which `column` holds one of these texts.
    async fn texts<E>(&self, column: E::Column, texts: &BTreeSet<String>) -> Result<Vec<E::Model>, db::Error>
    where
        E: Table<Model: IntoActiveModel<E::ActiveModel> + Clone + Sync, ActiveModel: Send>,
    {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        match texts.is_empty() {
            true => Ok(Vec::new()),
            false => self.rows::<E>(db::any_text(self.seen, column, &texts)).await,
        }
    }

    /// Copies the rows that meet a condition, and returns them.
    async fn rows<E>(&self, condition: Expr) -> Result<Vec<E::Model>, db::Error>
    where
        E: Table<Model: IntoActiveModel<E::ActiveModel> + Clone + Sync, ActiveModel: Send>,
    {
        let rows = self.seen.all(E::find().filter(condition)).await?;
        self.insert::<E>(rows.clone()).await?;
        Ok(rows)
    }

    /// Stores rows, except those that were stored before.
    async fn insert<E>(&self, rows: Vec<E::Model>) -> Result<(), db::Error>
    where
        E: Table<Model: IntoActiveModel<E::ActiveModel> + Clone + Sync, ActiveModel: Send>,
    {
        for some in rows.chunks(AT_ONCE) {
            let some = some.iter().map(|row| row.clone().into_active_model().reset_all());
            let unless_there = OnConflict::new().do_nothing().to_owned();
            self.copy.exec(E::insert_many(some).on_conflict(unless_there)).await?;
        }
        Ok(())
    }
}

/// The owner of an alias.
fn owner_of<T: AliasTable>(row: &T::Model) -> Option<i64> {
    if let Value::BigInt(id) = row.get(T::OWNER) { id } else { None }
}
