//! Applies what teams have beside fields and tags: contacts, members, properties and parts.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use super::apply::Change;
use super::document::{Document, Member, Person, Subject, TeamDocument};
use super::entity_ref::shown;
use super::lists;
use super::parents;
use super::properties::{Definitions, assign};
use super::report::Problems;
use super::yaml::Spot;
use crate::db::{self, Read, RowOf, Transaction, Write};
use crate::entity::{contact, delete_by_ids, property, property_definition, row_lock, team, team_membership, user};
use crate::error::quoted;

/// Writes the contacts, the members, the properties and the parts of the teams in `changes`, and adds the teams that become
/// parts.
pub(super) async fn apply(
    db: &Transaction,
    documents: &[Document],
    definitions: &Definitions,
    changes: &mut Vec<Change>,
    problems: &mut Problems,
) -> Result<(), db::Error> {
    let people = people(db, documents, problems).await?;
    for change in changes.iter_mut() {
        let Some(Document { file, subject: Subject::Team(document), .. }) = documents.get(change.number) else {
            continue;
        };
        let TeamDocument { group, contacts, members, properties, parent: _, children: _ } = &**document;
        if let Some(wanted) = contacts {
            change.is_changed |= lists::contacts(db, contact::Column::TeamId, change.row.id, wanted).await?;
        }
        if let Some(wanted) = members {
            change.is_changed |= join(db, change.row.id, *file, wanted, &people, problems).await?;
        }
        if let Some(wanted) = properties {
            let owner = (property::Column::TeamId, change.row.id);
            let refuses = property_definition::Model::refuses_teams;
            change.is_changed |= assign(db, owner, (*file, wanted), definitions, refuses, problems).await?;
        }
        if problems.is_lenient(*file) {
            continue;
        }
        let spot = group.fields.iter().find(|given| matches!(given.rule.column, team::Column::ParentTeamId));
        let spot = spot.map_or(group.naming.name.spot, |given| given.said.spot);
        check_parents(db, change.row.id, *file, spot, problems).await?;
    }
    let adopted = parents::place(db, documents, changes, problems).await?;
    // A new parent changes a team, even one without a document: the audit and the permissions must see that change.
    let teams = changes.iter().enumerate().filter(|(_, change)| change.is_of::<team::Entity>());
    let mut teams: HashMap<i64, usize> = teams.map(|(place, change)| (change.row.id, place)).collect();
    for (number, team) in adopted {
        match teams.get(&team.id) {
            Some(place) => changes[*place].is_changed = true,
            None => {
                teams.insert(team.id, changes.len());
                let (row, name) = (RowOf::new::<team::Entity>(team.id), team.alias);
                changes.push(Change { number, row, name, is_created: false, is_changed: true, is_behind: false });
            }
        }
    }
    Ok(())
}

/// Refuses a team that is a part of itself, or that would have too many teams above it or above one of its parts.
async fn check_parents(
    db: &Transaction,
    id: i64,
    file: usize,
    spot: Spot,
    problems: &mut Problems,
) -> Result<(), db::Error> {
    let parent = row_lock::row::<team::Entity>(db, id, LockType::NoKeyUpdate).await?.parent_team_id;
    let checked = match parent {
        Some(parent) => team::check_parent(db, Some(id), parent).await,
        None => team::check_parts(db, id, 0).await,
    };
    match checked {
        Err(error) => problems.take(file, spot, error),
        Ok(()) => Ok(()),
    }
}

/// Returns the email addresses of the people in the documents, by name. Skips people who are not users.
async fn people<'a>(
    db: &Transaction,
    documents: &'a [Document],
    problems: &mut Problems,
) -> Result<HashMap<&'a str, &'a str>, db::Error> {
    let mut people = HashMap::new();
    for Document { file, spot, subject, .. } in documents {
        let Subject::Person(Person { name, email, teams: _ }) = subject else { continue };
        let mut leave = |why: String| {
            problems.leave(*file, *spot, format!("the user {} is not taken: {why}", quoted(&shown(&name.value))));
        };
        match email {
            None => leave("it has no email address".to_owned()),
            Some(email) if user::by_email(db, email).await?.is_none() => {
                leave(format!("no user has the email address {}; invite them on the page Users", quoted(email)));
            }
            Some(email) => drop(people.entry(name.value.as_str()).or_insert(email.as_str())),
        }
    }
    Ok(people)
}

/// Replaces the members of a team. A listed member without a role keeps the present one.
async fn join(
    db: &Transaction,
    team: i64,
    file: usize,
    wanted: &[Member],
    people: &HashMap<&str, &str>,
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    use team_membership::{ActiveModel, Column, Entity};
    let present = db.all(Entity::find().filter(Column::TeamId.eq(team))).await?;
    let mut present: HashMap<i64, _> = present.into_iter().map(|one| (one.user_id, one)).collect();
    let (mut is_changed, mut seen) = (false, HashSet::with_capacity(wanted.len()));
    for Member { user: named, role, is_person } in wanted {
        let email = match is_person {
            true => people.get(named.value.as_str()).copied(),
            false => Some(named.value.as_str()),
        };
        let found = match email {
            Some(email) => user::by_email(db, email).await?,
            None => None,
        };
        let Some(found) = found else {
            let message = match is_person {
                true => format!("the member is not taken: no user of this run is {}", quoted(&shown(&named.value))),
                false => format!("no user has the email address {}", quoted(&named.value)),
            };
            match is_person {
                true => problems.leave(file, named.spot, message),
                false => problems.add(file, named.spot, message),
            }
            continue;
        };
        if !seen.insert(found.id) {
            problems.add(file, named.spot, "this member occurs twice");
            continue;
        }
        match present.remove(&found.id) {
            Some(one) if role.is_none() || one.role == *role => continue,
            Some(one) => {
                db.update(ActiveModel { role: Set(role.clone()), ..one.into() }).await?;
            }
            None => {
                let row = ActiveModel {
                    team_id: Set(team),
                    user_id: Set(found.id),
                    role: Set(role.clone()),
                    ..Default::default()
                };
                db.exec(Entity::insert(row)).await?;
            }
        }
        is_changed = true;
    }
    let rest: Vec<i64> = present.values().map(|one| one.id).collect();
    is_changed |= delete_by_ids::<Entity>(db, Column::Id, &rest).await?;
    Ok(is_changed)
}
