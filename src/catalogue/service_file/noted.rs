//! Keeps what was not taken from the document of each service, so that the service shows it.

use std::collections::{BTreeMap, HashMap};

use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, QueryFilter, Set};

use super::document::Document;
use super::report::{self, Problems};
use super::yaml::Spot;
use crate::db::{self, Transaction, Write};
use crate::entity::ByIds;
use crate::entity::service_file_note::{ActiveModel, Column, Entity, NOTES, Note, SENTENCE};

/// Where the YAML documents of each file begin: the numbers of lines before them.
pub(super) type Parts = Vec<Vec<u64>>;

/// The notes about the documents of these services, by service. A service without any has none.
pub(super) fn by_service(
    services: &[(i64, usize)],
    documents: &[Document],
    parts: &Parts,
    notes: &[report::Note],
) -> BTreeMap<i64, Vec<Note>> {
    let part = |file: usize, line: u64| {
        parts.get(file).map_or(0, |begins| begins.partition_point(|begin| *begin < line)).saturating_sub(1)
    };
    // Of each YAML document, the subjects by their places. Most have one.
    let mut subjects: HashMap<(usize, usize), Vec<(Spot, usize)>> = HashMap::new();
    for (number, document) in documents.iter().enumerate() {
        let file = Problems::file_of(document.file);
        subjects.entry((file, part(file, document.spot.line))).or_default().push((document.spot, number));
    }
    subjects.values_mut().for_each(|subjects| subjects.sort_unstable());
    let service: HashMap<usize, i64> = services.iter().map(|(service, number)| (*number, *service)).collect();
    let mut found: BTreeMap<i64, (Vec<Note>, usize)> = BTreeMap::new();
    for note in notes {
        let spot = Spot { line: note.line, column: note.column };
        let Some(subjects) = subjects.get(&(note.file, part(note.file, note.line))) else { continue };
        let before = subjects.partition_point(|(begin, _)| *begin <= spot);
        // Of a document with one subject, everything is about that.
        let Some((_, number)) = subjects.get(before.saturating_sub(1)) else { continue };
        let Some((service, document)) = service.get(number).zip(documents.get(*number)) else { continue };
        let (kept, more) = found.entry(*service).or_default();
        match kept.len() < NOTES {
            true => kept.push(Note {
                path: note.path.clone(),
                line: note.line,
                column: note.column,
                key: document.key_at(spot).map(str::to_owned),
                message: note.message.chars().take(SENTENCE).collect(),
            }),
            false => *more += 1,
        }
    }
    let all = found.into_iter().map(|(service, (mut kept, more))| {
        if let (1.., Some(last)) = (more, kept.last_mut()) {
            (last.key, last.message) = (None, format!("there are {} more notes", more + 1));
        }
        (service, kept)
    });
    all.collect()
}

/// The services among these whose stored notes are others, each with the text to store; `None` for no notes.
pub(super) async fn different(
    db: &Transaction,
    services: &[(i64, usize)],
    mut notes: BTreeMap<i64, Vec<Note>>,
) -> Result<BTreeMap<i64, Option<String>>, db::Error> {
    let stored = Entity::by_ids(db, services.iter().map(|(service, _)| Some(*service))).await?;
    let mut different = BTreeMap::new();
    for ((service, _), stored) in services.iter().zip(stored) {
        let text = notes.remove(service).map(|notes| serde_json::to_string(&notes).unwrap_or_default());
        if text != stored.map(|row| row.notes) {
            different.insert(*service, text);
        }
    }
    Ok(different)
}

/// Stores notes, or that there are none.
pub(super) async fn store(db: &Transaction, notes: BTreeMap<i64, Option<String>>) -> Result<(), db::Error> {
    let (mut gone, mut rows) = (Vec::new(), Vec::new());
    for (service, text) in notes {
        match text {
            Some(text) => rows.push(ActiveModel { service_id: Set(service), notes: Set(text) }),
            None => gone.push(service),
        }
    }
    if !gone.is_empty() {
        db.exec(Entity::delete_many().filter(db::any(db, Column::ServiceId, &gone))).await?;
    }
    if !rows.is_empty() {
        let again = OnConflict::column(Column::ServiceId).update_column(Column::Notes).to_owned();
        db.exec(Entity::insert_many(rows).on_conflict(again)).await?;
    }
    Ok(())
}
