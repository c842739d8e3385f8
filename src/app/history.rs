//! The history of a service, a team, a system or a domain: what was changed of it and of what belongs to it, by whom.

use maud::{Markup, html};

use super::csv::{File, Row, Source};
use super::form::{self, Mistakes};
use super::layout::{Head, page as framed};
use super::parts::{begins_at, cursor_text, empty, link, page_links, short, time};
use super::rights::Reach;
use super::visit::{Session, Visit, path};
use super::words::{self, Addresses};
use super::{Answer, Fault, Site, names, revert};
use catalogue::db::ReadHandle;
use catalogue::entity::audit::Model;
use catalogue::entity::{ByAlias, TimeCursor, Timestamp, domain, service, system, team};
use catalogue::graphql::history::{self as changes, Object};

/// The number of changes on a page.
const PAGE: usize = 50;
/// The number of changes that a file reads at once. Their texts are in memory until they are sent.
const PORTION: usize = 200;
/// The maximum number of entries of the audit, of the object itself and of what belongs to it each, among which a page looks
/// for those of a kind.
pub const SEARCHED: usize = 1_000;

/// The kinds of changes: the word in the address, its label, the SDL type of what is changed, and the word for it among
/// the changed fields.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("links", "Links", "Tool", "tools"),
    ("contacts", "Contacts", "Contact", "contacts"),
    ("dependencies", "Dependencies", "ServiceDependency", "dependencies"),
    ("relationships", "Relationships", "Relationship", "relationships"),
    ("repositories", "Repositories", "ServiceRepository", "repositories"),
    ("properties", "Properties", "Property", "properties"),
    ("tags", "Tags", "Tag", "tags"),
    ("aliases", "Aliases", "Alias", "aliases"),
    ("members", "Members", "TeamMembership", "members"),
];

/// The object whose history is shown.
pub struct Subject {
    /// Its SDL type.
    pub class: &'static str,
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// The path of its page.
    pub address: String,
    /// The team whose members may change it.
    pub owner: Option<i64>,
    /// Whether a service file governs it.
    pub is_locked: bool,
}

impl Subject {
    /// The object.
    pub fn object(&self) -> Object {
        (self.class, self.id)
    }
}

/// Shows the history.
pub async fn page(site: &Site, visit: &Visit, session: &Session, part: &str, alias: &str) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let after = begins_at(&visit.query, &mut mistakes);
    let kind = kind(visit, &mut mistakes);
    let reading = site.reading(visit).await?;
    let subject = reading.required(|db| find(db, part, alias)).await?;
    let (entries, next) = reading.required(|db| entries(db, subject.object(), kind, after, PAGE)).await?;
    let addresses = reading.required(|db| words::addresses(db, &entries)).await?;
    let entries = reading.required(|db| names::told(db, entries)).await?;
    let may = !subject.is_locked && Reach::read(site, session).await?.includes_number(subject.owner);
    let (now, here) = (Timestamp::now(), format!("{}/history", subject.address));
    let next = next.map(cursor_text);
    let main = html! {
        (filters(visit, &here, &mistakes))
        @if entries.is_empty() {
            @if kind.is_empty() { (empty("No changes yet.", html! { p { "Changes will appear here." } })) }
            @else { (empty("No changes match.", html! { p { a href=(here) { "All changes" } } })) }
        } @else {
            (table(&entries, &subject, (&addresses, may), now))
        }
        (page_links(visit, &here, next.as_deref()))
    };
    let title = format!("History of {}", subject.name);
    let file = link(&format!("{here}.csv"), &visit.query.without("after").query());
    let head = Head {
        actions: html! { a.button.quiet href=(file) { "Download CSV" } },
        ..Head::below(visit, &title, &[(&*subject.address, &*subject.name)])
    };
    Ok(Answer::checked(&mistakes, framed(visit, &head, main)))
}

/// The same as a file.
pub async fn file(site: &Site, visit: &Visit, part: &str, alias: &str) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    kind(visit, &mut mistakes);
    mistakes.refused()?;
    let about = site.reading(visit).await?.required(|db| find(db, part, alias)).await?.object();
    let list = List { site: site.clone(), visit: visit.clone(), about, after: None };
    Ok(Answer::file(File::begin("history.csv", &["at", "who", "change", "what", "details", "action"], list).await?))
}

/// The changes of a file.
struct List {
    site: Site,
    visit: Visit,
    about: Object,
    after: Option<TimeCursor>,
}

impl Source for List {
    async fn next(&mut self) -> Result<(Vec<Row>, bool), Fault> {
        let Self { site, visit, about, after } = self;
        let (reading, kind, from) = (site.reading(visit).await?, visit.query.get("kind"), *after);
        let (entries, next) = reading.required(|db| entries(db, *about, kind, from, PORTION)).await?;
        let addresses = reading.required(|db| words::addresses(db, &entries)).await?;
        *after = next;
        Ok((entries.iter().map(|entry| cells(entry, &addresses)).collect(), next.is_some()))
    }
}

/// The row of a change, in the words of the page. Programs find the name of the mutation in the last cell.
fn cells(entry: &Model, addresses: &Addresses) -> Row {
    let what = entry.subject_name.clone().or_else(|| words::ends(entry, addresses)).unwrap_or_default();
    let (who, details) = (words::actor_name(entry).to_owned(), words::lines(entry).replace('\n', "; "));
    vec![entry.at.to_string(), who, words::done(entry), what, details, entry.action.clone()]
}

/// Finds the object with this alias.
pub async fn find(db: &dyn ReadHandle, part: &str, alias: &str) -> Result<Subject, Fault> {
    let at = |first: &str| path([part, first]);
    let found = match part {
        "services" => service::Entity::by_alias(db, alias).await?.map(|one| Subject {
            class: "Service",
            id: one.id,
            address: at(&one.slug),
            owner: one.owner_id,
            is_locked: one.locked_by.is_some(),
            name: one.name,
        }),
        "teams" => team::Entity::by_alias(db, alias).await?.map(|one| Subject {
            class: "Team",
            id: one.id,
            address: at(&one.alias),
            owner: Some(one.id),
            is_locked: false,
            name: one.name,
        }),
        "systems" => system::Entity::by_alias(db, alias).await?.map(|one| Subject {
            class: "System",
            id: one.id,
            address: at(&one.slug),
            owner: one.owner_id,
            is_locked: false,
            name: one.name,
        }),
        _ => domain::Entity::by_alias(db, alias).await?.map(|one| Subject {
            class: "Domain",
            id: one.id,
            address: at(&one.slug),
            owner: one.owner_id,
            is_locked: false,
            name: one.name,
        }),
    };
    let noun = match part {
        "services" => "service",
        "teams" => "team",
        "systems" => "system",
        _ => "domain",
    };
    found.ok_or_else(|| Fault::unknown(noun, alias))
}

/// Returns at most `most` entries of a kind about an object, and about what belongs to it or belonged to it, after a place,
/// newest first, and where to go on.
async fn entries(
    db: &dyn ReadHandle,
    object: Object,
    kind: &str,
    after: Option<TimeCursor>,
    most: usize,
) -> Result<(Vec<Model>, Option<TimeCursor>), Fault> {
    let each = if kind.is_empty() { most + 1 } else { SEARCHED };
    let part = changes::Part { start: None, after, each, most };
    Ok(changes::entries(db, object, part, |entry| is_of_kind(entry, kind)).await?)
}

/// Whether an entry is of the kind with this word. All are of no kind.
fn is_of_kind(entry: &Model, kind: &str) -> bool {
    let Some((.., class, list)) = KINDS.iter().find(|(word, ..)| *word == kind) else { return true };
    let noun = entry.action.to_lowercase();
    entry.subject_class.as_deref() == Some(*class)
        || noun.starts_with(&class.to_lowercase())
        || words::changed(entry).is_some_and(|changed| changed.contains_key(*list))
}

/// The kind of changes that the address wants: all of them, if it names none.
fn kind<'v>(visit: &'v Visit, mistakes: &mut Mistakes) -> &'v str {
    let word = visit.query.get("kind");
    if !word.is_empty() && KINDS.iter().all(|(known, ..)| *known != word) {
        mistakes.push("kind", "Choose one of the listed kinds. These are all changes.");
        return "";
    }
    word
}

fn filters(visit: &Visit, here: &str, mistakes: &Mistakes) -> Markup {
    let mut kinds = vec![("", "all changes")];
    kinds.extend(KINDS.iter().map(|(word, label, ..)| (*word, *label)));
    html! {
        (mistakes.summary(&["kind"]))
        form.filters method="get" action=(here) role="search" {
            (form::select("kind", "Changes of", "", &kinds, &visit.query, mistakes))
            button { "Show" }
        }
    }
}

/// The entries. `may` says that the visitor may revert them.
fn table(entries: &[Model], about: &Subject, (addresses, may): (&Addresses, bool), now: Timestamp) -> Markup {
    // What was done to the object itself names it only if the words end without a noun: "applied a file to".
    let is_said = |entry: &Model| {
        entry.subject_class.as_deref() == Some(about.class) && !matches!(&*entry.action, "apply" | "release")
    };
    // What leads here is changed where it comes from.
    let may = |entry: &Model| may && entry.owners().next().is_none_or(|owner| owner == about.object());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Changes" {
            table.stacked {
                thead { tr { th scope="col" { "Change" } th scope="col" { "Details" } th.number scope="col" { "When" } } }
                tbody { @for entry in entries {
                    tr {
                        th scope="row" {
                            (words::done(entry)) " "
                            @if !is_said(entry) { (words::subject(entry, addresses)) " " (words::connected(entry, addresses)) }
                            small { "by " bdi { (short(words::actor_name(entry))) } }
                        }
                        td { (words::details(entry)) (revert::reverted(entry)) @if may(entry) { (revert::offer(entry)) } }
                        td.number { (time(entry.at, now)) }
                    }
                } }
            }
        }
    }
}
