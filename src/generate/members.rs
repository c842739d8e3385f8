//! Generates the members of teams: the people whom deploys and entries of who is on call name.

use sea_orm::Set;

use super::{EPOCH, Ids, Waiting};
use crate::db::{Bulk, Write};
use crate::entity::{Timestamp, contact, team_membership, user};
use crate::error::Result;

/// The most people: deploys and entries of who is on call name `Person 1` to `Person 199`.
const PEOPLE: usize = 199;
/// The roles of the members of a team, one member each. In a large catalogue a person is in several teams.
const ROLES: [&str; 4] = ["Developer", "Developer", "Tester", "Product owner"];

/// Creates the members of the teams, each with a contact.
pub(super) async fn members(db: &Bulk, teams: &[i64], ids: &mut Ids) -> Result<()> {
    let people = people(db, PEOPLE.min(teams.len() * ROLES.len()), ids).await?;
    let mut rows = Waiting::<team_membership::Entity>::default();
    for (place, team) in teams.iter().enumerate() {
        for (seat, role) in ROLES.iter().enumerate() {
            rows.0.push(team_membership::ActiveModel {
                id: Set(ids.next::<team_membership::Entity>()),
                team_id: Set(*team),
                user_id: Set(people[(place * ROLES.len() + seat) % people.len()]),
                role: Set(Some((*role).to_owned())),
            });
        }
        rows.store_if_many(db).await?;
    }
    rows.store(db).await
}

/// Creates so many users, and returns their ids.
async fn people(db: &Bulk, count: usize, ids: &mut Ids) -> Result<Vec<i64>> {
    let now = Timestamp::from_micros(EPOCH);
    let (mut people, mut contacts) = (Vec::with_capacity(count), Waiting::<contact::Entity>::default());
    for number in 1..=count {
        let email = format!("person{number}@example.com");
        let person = user::ActiveModel {
            name: Set(format!("Person {number}")),
            email_key: Set(user::email_key(&email)),
            email: Set(email),
            role: Set(user::Role::User),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let person = db.insert(person).await?.id;
        contacts.0.push(contact::ActiveModel {
            id: Set(ids.next::<contact::Entity>()),
            r#type: Set("slack_handle".to_owned()),
            address: Set(format!("@person{number}")),
            is_default: Set(true),
            user_id: Set(Some(person)),
            ..Default::default()
        });
        people.push(person);
    }
    contacts.store(db).await?;
    Ok(people)
}
