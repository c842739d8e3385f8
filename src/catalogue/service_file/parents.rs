//! Makes teams parts of others, as documents of other catalogues say: each by its own parent, and by the children of
//! another. What contradicts that, or closes a circle, is left out with a note.

use std::collections::HashMap;

use sea_orm::sea_query::LockType;
use sea_orm::{ActiveModelTrait, IntoActiveModel};

use super::apply::Change;
use super::document::{Document, Subject};
use super::entity_ref::shown;
use super::names::{Found, Names};
use super::report::Problems;
use super::yaml::At;
use crate::db::{self, Transaction, Write};
use crate::entity::field_rule::Reference;
use crate::entity::{Timestamp, row_lock, team};
use crate::error::quoted;

/// How often the parts that would close a circle are tried again: another part of the same run may open it.
const ROUNDS: usize = 8;

/// A team that becomes a part of another.
struct Part<'a> {
    /// The index of the document that says so.
    number: usize,
    file: usize,
    said: &'a At<String>,
    child: i64,
    parent: i64,
}

/// Makes teams parts of others. Returns the teams that have changed, each with the index of the document that says so.
pub(super) async fn place(
    db: &Transaction,
    documents: &[Document],
    changes: &[Change],
    problems: &mut Problems,
) -> Result<Vec<(usize, team::Model)>, db::Error> {
    let mut pending = wanted(db, documents, changes, problems).await?;
    let mut changed = Vec::new();
    for round in 1..=ROUNDS {
        let (before, mut rest) = (changed.len(), Vec::new());
        for part in pending {
            let row = row_lock::row::<team::Entity>(db, part.child, LockType::Update).await?;
            if row.parent_team_id == Some(part.parent) {
                continue;
            }
            match team::check_parent(db, Some(part.child), part.parent).await {
                Err(error) => rest.push((part, error)),
                Ok(()) => {
                    let updated_at = Timestamp::now_after(row.updated_at);
                    let row = team::Model { parent_team_id: Some(part.parent), updated_at, ..row };
                    changed.push((part.number, db.update(row.into_active_model().reset_all()).await?));
                }
            }
        }
        if changed.len() == before || round == ROUNDS {
            for (part, error) in rest {
                problems.take(part.file, part.said.spot, error)?;
            }
            break;
        }
        pending = rest.into_iter().map(|(part, _)| part).collect();
    }
    Ok(changed)
}

/// What the documents of `changes` say of the parts of teams. A team has one parent: what its own document says counts
/// first.
async fn wanted<'a>(
    db: &Transaction,
    documents: &'a [Document],
    changes: &[Change],
    problems: &mut Problems,
) -> Result<Vec<Part<'a>>, db::Error> {
    let (mut names, mut all) = (Names::default(), Vec::new());
    let mut parents: HashMap<i64, i64> = HashMap::new();
    for is_own in [true, false] {
        for Change { number, row, .. } in changes {
            let Some(Document { file, subject: Subject::Team(team), .. }) = documents.get(*number) else { continue };
            let (file, number) = (*file, *number);
            let said = if is_own { team.parent.as_slice() } else { &team.children };
            for said in said {
                let found = match names.find(db, Reference::Team, &said.value).await? {
                    Found::One(found) => found,
                    missing => {
                        leave(file, said, is_own, missing, problems);
                        continue;
                    }
                };
                let (child, parent) = if is_own { (row.id, found) } else { (found, row.id) };
                match parents.get(&child) {
                    None => {
                        parents.insert(child, parent);
                        all.push(Part { number, file, said, child, parent });
                    }
                    Some(known) if *known == parent => {}
                    Some(_) => {
                        let team = quoted(&shown(&said.value)).to_string();
                        problems.leave(file, said.spot, format!("{team} is not taken: it is a part of another team"));
                    }
                }
            }
        }
    }
    Ok(all)
}

/// Adds a note about a team that is not there.
fn leave(file: usize, said: &At<String>, is_parent: bool, found: Found, problems: &mut Problems) {
    let what = if is_parent { "parent" } else { "part" };
    let name = shown(&said.value);
    let why = match found {
        Found::Several => format!("several teams are called {}", quoted(&name)),
        _ => Reference::Team.unknown(&name),
    };
    problems.leave(file, said.spot, format!("the {what} is not taken: {why}"));
}
