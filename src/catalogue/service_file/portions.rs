//! Splits large files of other catalogues into the portions that a server takes in one request.
//!
//! Documents of other catalogues are applied each for itself, so they need not be in one request. Those that others name
//! come first: teams, domains, systems, services. People go with each of their teams, and APIs with the services that
//! provide them. A portion has a file's text with empty lines for what is not in it, so that places stay right.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::iter;

use super::document::{Document, Subject};
use super::intake::{Bounds, Intake};
use super::joined;
use super::report::{Note, Problems};
use super::source::File;
use super::{read, yaml};
use crate::entity::text;

/// The largest portion: of documents that describe something, a quarter of what a request may have, so that the changes of
/// others wait less long.
const DOCUMENTS: usize = 250;
/// The most list entries of a portion.
const ENTRIES: usize = 2_500;
/// The largest text of a portion, in bytes, unless a single document is larger. JSON may double it.
const TEXT: usize = 200 << 10;
/// The most documents of a portion, whatever they are.
const PLACES: usize = 900;
/// The largest text that is sent whole, in bytes.
const WHOLE: usize = 600 << 10;

/// The portions of files.
pub struct Portions {
    /// The files of each portion, in the order in which they are applied.
    pub portions: Vec<Vec<File>>,
    /// The notes that documents give together, whatever portion they are in.
    joined: HashSet<(String, u64, u64, String)>,
}

impl Portions {
    /// Splits files that are more than `bounds` allow in one request. Returns `None` for less, and for files with documents
    /// of our own form, which are applied all or nothing.
    pub fn split(files: &[File], bounds: &Bounds) -> Option<Self> {
        let (mut problems, mut intake) = (Problems::default(), Intake::new(None));
        for file in files {
            let source = problems.file(&file.path);
            read::read(source, file.content.as_ref().ok()?, &mut intake, &mut problems);
        }
        let mut documents = intake.documents;
        let is_other = problems.is_empty() && documents.iter().all(|document| problems.is_lenient(document.file));
        if !is_other {
            return None;
        }
        let subjects = documents.iter().filter(|document| document.has_subject()).count();
        let entries: usize = documents.iter().map(Document::entries).sum();
        let bytes: usize = files.iter().flat_map(|file| &file.content).map(String::len).sum();
        let is_whole = subjects <= bounds.documents && entries <= bounds.entries && files.len() <= text::ENTRIES;
        if is_whole && bytes <= WHOLE {
            return None;
        }
        let portions = Units::new(files, &documents).portions(files);
        if portions.len() < 2 {
            return None;
        }
        let mut together = Problems::default();
        for file in files {
            together.file(&file.path);
        }
        joined::join(&mut documents, &mut together);
        let joined = together.notes().1.into_iter().map(|note| (note.path, note.line, note.column, note.message));
        Some(Self { portions, joined: joined.collect() })
    }

    /// Whether a note of a portion is right for all of them: it may say that the run has no other document, which is in
    /// another portion.
    pub fn keeps(&self, note: &Note) -> bool {
        let key = (note.path.clone(), note.line, note.column, note.message.clone());
        !joined::is_about_the_run(&note.message) || self.joined.contains(&key)
    }
}

/// A document as it is written: the index of its file, and its place among the parts of the file.
type DocumentPosition = (usize, usize);

/// What is sent together.
#[derive(Default)]
struct Unit {
    /// What it describes: what others name has a lower rank. Documents of one thing have one rank and one number.
    rank: (u8, usize),
    documents: usize,
    /// The documents that complete it.
    others: BTreeSet<DocumentPosition>,
}

/// How large a portion is.
#[derive(Clone, Copy, Default)]
struct Size {
    documents: usize,
    entries: usize,
    text: usize,
    places: usize,
}

impl Size {
    fn plus(self, other: Self) -> Self {
        Self {
            documents: self.documents + other.documents,
            entries: self.entries + other.entries,
            text: self.text + other.text,
            places: self.places + other.places,
        }
    }

    fn is_too_large(self) -> bool {
        let Self { documents, entries, text, places } = self;
        documents > DOCUMENTS || entries > ENTRIES || text > TEXT || places > PLACES
    }
}

/// The documents of files, each with what it needs.
struct Units<'t> {
    texts: Vec<Vec<(u64, &'t str)>>,
    all: BTreeMap<DocumentPosition, Unit>,
    /// The number of list entries of each.
    entries: HashMap<DocumentPosition, usize>,
}

impl<'t> Units<'t> {
    fn new(files: &'t [File], documents: &[Document]) -> Self {
        let text = |file: &'t File| file.content.as_deref().unwrap_or_default();
        let texts: Vec<Vec<(u64, &str)>> = files.iter().map(|file| yaml::parts(text(file))).collect();
        let places = texts.iter().enumerate().flat_map(|(file, parts)| (0..parts.len()).map(move |part| (file, part)));
        // What has no document is sent once, for its notes.
        let mut all: BTreeMap<DocumentPosition, Unit> =
            places.map(|place| (place, Unit { rank: (u8::MAX, 0), ..Unit::default() })).collect();
        let place = |document: &Document| {
            let file = Problems::file_of(document.file);
            let before = |(line, _): &(u64, &str)| *line < document.spot.line;
            (file, texts.get(file).map_or(0, |parts| parts.partition_point(before)).saturating_sub(1))
        };
        let mut needed: HashMap<&str, Vec<DocumentPosition>> = HashMap::new();
        for document in documents {
            match &document.subject {
                Subject::Person(person) => {
                    let teams = person.teams.iter().map(|team| team.value.as_str());
                    for name in iter::once(person.name.value.as_str()).chain(teams) {
                        needed.entry(name).or_default().push(place(document));
                    }
                }
                Subject::Api(api) => needed.entry(&api.name.value).or_default().push(place(document)),
                _ => {}
            }
        }
        let (mut first, mut attached, mut entries) = (HashMap::new(), HashSet::new(), HashMap::new());
        for (number, document) in documents.iter().enumerate() {
            *entries.entry(place(document)).or_default() += document.entries();
            let Some((rank, key)) = subject(document) else { continue };
            let others = names(document).filter_map(|name| needed.get(name)).flatten().copied();
            let unit = all.entry(place(document)).or_default();
            unit.rank = unit.rank.min((rank, *first.entry((rank, key)).or_insert(number)));
            unit.documents += 1;
            unit.others.extend(others);
            attached.extend(unit.others.iter().copied());
        }
        // People and APIs that go with others are not sent alone.
        all.retain(|place, unit| unit.documents > 0 || !attached.contains(place));
        Self { texts, all, entries }
    }

    fn portions(&self, files: &[File]) -> Vec<Vec<File>> {
        let mut units: Vec<(&DocumentPosition, &Unit)> = self.all.iter().collect();
        units.sort_by_key(|(place, unit)| (unit.rank, **place));
        let (mut portions, mut portion, mut last) = (Vec::new(), BTreeSet::new(), (0, 0));
        let mut size = Size::default();
        for (place, unit) in units {
            let own = iter::once(place).chain(&unit.others).copied();
            let more = own.clone().filter(|place| !portion.contains(place)).map(|place| self.size(place));
            let more = more.fold(Size { documents: unit.documents, ..Size::default() }, Size::plus);
            if size.plus(more).is_too_large() && !portion.is_empty() && (unit.rank != last || unit.documents == 0) {
                portions.push(self.files(files, &portion));
                portion = BTreeSet::new();
                let all = own.clone().map(|place| self.size(place));
                size = all.fold(Size { documents: unit.documents, ..Size::default() }, Size::plus);
            } else {
                size = size.plus(more);
            }
            portion.extend(own);
            last = unit.rank;
        }
        if !portion.is_empty() {
            portions.push(self.files(files, &portion));
        }
        portions
    }

    fn size(&self, place: DocumentPosition) -> Size {
        let text = self.texts.get(place.0).and_then(|parts| parts.get(place.1)).map_or(0, |(_, part)| part.len());
        Size { documents: 0, entries: self.entries.get(&place).copied().unwrap_or_default(), text, places: 1 }
    }

    /// The files of a portion, with empty lines for the documents that are not in it.
    fn files(&self, files: &[File], portion: &BTreeSet<DocumentPosition>) -> Vec<File> {
        let mut of_portion = Vec::new();
        for (number, (file, parts)) in files.iter().zip(&self.texts).enumerate() {
            let mut text = String::new();
            for (place, (_, part)) in parts.iter().enumerate() {
                match portion.contains(&(number, place)) {
                    true => text += part,
                    false => text.extend(iter::repeat_n('\n', part.matches('\n').count())),
                }
            }
            let text = text.trim_end_matches('\n');
            if !text.is_empty() {
                of_portion.push(File { content: Ok(format!("{text}\n")), ..file.clone() });
            }
        }
        of_portion
    }
}

/// The rank of what a document describes, and the alias that finds it.
fn subject(document: &Document) -> Option<(u8, &str)> {
    Some(match &document.subject {
        Subject::Team(team) => (0, &team.group.naming.found_by().value),
        Subject::Domain(domain) => (1, &domain.naming.found_by().value),
        Subject::System(system) => (2, &system.naming.found_by().value),
        Subject::Repository(repository) => (3, &repository.alias.value),
        Subject::Service(service) => (4, &service.naming.found_by().value),
        Subject::Person(_) | Subject::Api(_) => return None,
    })
}

/// The names by which people and APIs belong to what a document describes.
fn names(document: &Document) -> impl Iterator<Item = &str> {
    let (own, others): (Option<&str>, Vec<&str>) = match &document.subject {
        Subject::Team(team) => {
            let members = team.members.iter().flatten().map(|member| member.user.value.as_str());
            (Some(team.group.naming.found_by().value.as_str()), members.collect())
        }
        Subject::Service(service) => (None, service.apis.iter().map(|api| api.value.as_str()).collect()),
        _ => (None, Vec::new()),
    };
    own.into_iter().chain(others)
}
