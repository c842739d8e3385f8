//! Entries of the audit on pages: who changed what, and how. [`words`](catalogue::graphql::history::words) has the words.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value as Json;

use super::Fault;
use super::visit::path;
use catalogue::db::ReadHandle;
use catalogue::entity::action::spaced;
use catalogue::entity::audit::{ActorKind, Model};
use catalogue::entity::token::REPLACED;
use catalogue::entity::{ByIds, domain, service, system, team};
use catalogue::graphql::history::words::{NOTHING, meant, sides};
pub use catalogue::graphql::history::words::{changed, done, field_name, in_words, lines, reverted, text_in_words};

/// An object: its SDL type and its id.
pub type Thing = (String, i64);

/// The pages of objects: the path and the current name.
pub type Addresses = HashMap<Thing, (String, String)>;

/// The subject of an entry.
pub fn thing(entry: &Model) -> Option<Thing> {
    entry.subject_class.clone().zip(entry.subject_id)
}

/// What the subject of an entry belongs to.
pub fn owners(entry: &Model) -> impl Iterator<Item = Thing> {
    entry.owners().map(|(class, id)| (class.to_owned(), id))
}

/// Finds the pages of the subjects of entries, and of what these belong to.
pub async fn addresses(db: &dyn ReadHandle, entries: &[Model]) -> Result<Addresses, Fault> {
    let things: Vec<Thing> = entries.iter().flat_map(|entry| thing(entry).into_iter().chain(owners(entry))).collect();
    addresses_of(db, &things).await
}

/// Finds the pages of objects.
pub async fn addresses_of(db: &dyn ReadHandle, things: &[Thing]) -> Result<Addresses, Fault> {
    let ids_of =
        |class: &str| -> Vec<i64> { things.iter().filter(|(own, _)| own == class).map(|(_, id)| *id).collect() };
    let mut found = Addresses::new();
    for label in service::labels(db, &ids_of("Service")).await? {
        found.insert(("Service".to_owned(), label.id), (path(["services", &label.slug]), label.name));
    }
    let some = |ids: Vec<i64>| ids.into_iter().map(Some).collect::<Vec<_>>();
    for team in team::Entity::by_ids(db, some(ids_of("Team"))).await?.into_iter().flatten() {
        found.insert(("Team".to_owned(), team.id), (path(["teams", &team.alias]), team.name));
    }
    for system in system::Entity::by_ids(db, some(ids_of("System"))).await?.into_iter().flatten() {
        found.insert(("System".to_owned(), system.id), (path(["systems", &system.slug]), system.name));
    }
    for domain in domain::Entity::by_ids(db, some(ids_of("Domain"))).await?.into_iter().flatten() {
        found.insert(("Domain".to_owned(), domain.id), (path(["domains", &domain.slug]), domain.name));
    }
    Ok(found)
}

/// Who made a change, without the address and the session that the audit keeps. A token that was replaced is the one with
/// its description to whoever reads what it did.
pub fn actor_name(entry: &Model) -> &str {
    let name = entry.public_actor();
    match entry.actor_kind {
        ActorKind::Token => name.strip_prefix(REPLACED).unwrap_or(name),
        _ => name,
    }
}

/// The subject, with a link if it has a page.
pub fn subject(entry: &Model, addresses: &Addresses) -> Markup {
    let known = thing(entry).and_then(|thing| addresses.get(&thing));
    html! {
        @match known {
            Some((address, name)) => a href=(address) { (name) },
            None => @if let Some(name) = &entry.subject_name { bdi { (name) } },
        }
    }
}

/// What the subject of an entry belongs to, with links: `of Cart`.
pub fn belonging(entry: &Model, addresses: &Addresses) -> Markup {
    match entry.other_owner_id {
        Some(_) => connected(entry, addresses),
        None => html! { @for owner in owners(entry) { "of " (linked(&owner, addresses)) } },
    }
}

/// The two things that the subject of an entry connects, with links: `Cart → Bus`. Nothing if it does not connect two.
pub fn connected(entry: &Model, addresses: &Addresses) -> Markup {
    let ends: Vec<Thing> = owners(entry).collect();
    html! { @if let [from, to] = &*ends { (linked(from, addresses)) " → " (linked(to, addresses)) } }
}

/// The same as plain text.
pub fn ends(entry: &Model, addresses: &Addresses) -> Option<String> {
    let names: Vec<String> = owners(entry).map(|end| name_of(&end, addresses)).collect();
    (names.len() > 1).then(|| names.join(" → "))
}

fn linked(thing: &Thing, addresses: &Addresses) -> Markup {
    let name = name_of(thing, addresses);
    html! { @match addresses.get(thing) { Some((address, _)) => a href=(address) { (name) }, None => bdi { (name) } } }
}

/// The name of an object. Of one without a page, or that was deleted, what it is and its number.
fn name_of(thing: &Thing, addresses: &Addresses) -> String {
    let (class, id) = thing;
    addresses.get(thing).map_or_else(|| format!("{} {id}", spaced(class)), |(_, name)| name.clone())
}

/// The names of the changed fields, at most three.
pub fn fields(entry: &Model) -> Option<String> {
    const MOST: usize = 3;
    let changed = changed(entry)?;
    let names: Vec<String> = changed.keys().take(MOST).map(|name| field_name(name)).collect();
    let more = if changed.len() > MOST { " and more" } else { "" };
    (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
}

/// The changed fields with their old and new values.
pub fn details(entry: &Model) -> Markup {
    let changed = changed(entry).unwrap_or_default();
    let class = entry.subject_class.as_deref();
    html! { @for (field, change) in &changed { div { span.soft { (field_name(field)) ": " } (values(class, field, change)) } } }
}

/// The old and the new value of a field of an object of a class, or what was added to a list and removed from it.
pub fn values(class: Option<&str>, field: &str, change: &Json) -> Markup {
    let said = |value: Option<&Json>| value.map_or(Json::Null, |value| meant(class, field, value));
    let spoken = |value: Json| if class == Some("Service") { spoken(field, value) } else { value };
    let entries = |name: &str| change.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    html! {
        @if let Some([old, new]) = sides(class, field, change) {
            (value(&spoken(old))) " → " (value(&spoken(new)))
        } @else {
            @for added in entries("added") { "+ " (value(&said(Some(&added)))) " " }
            @for removed in entries("removed") { "− " (value(&said(Some(&removed)))) " " }
        }
    }
}

/// The value of a field that the audit has as the alias of a tier or a stage, in words: `tier_2` is `tier 2`.
fn spoken(field: &str, value: Json) -> Json {
    match value {
        Json::String(alias) if matches!(field, "tier" | "lifecycle") => alias.replace('_', " ").into(),
        value => value,
    }
}

/// A value in words.
pub fn value(value: &Json) -> Markup {
    html! { @if value.is_null() { span.soft { (NOTHING) } } @else { (in_words(value)) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::entity::Timestamp;

    #[test]
    fn an_entry_names_the_token_that_was_replaced_and_the_tier_as_people_do() {
        let entry = |actor_kind, actor_name: &str| Model {
            id: 1,
            action: "serviceUpdate".to_owned(),
            subject_class: Some("Service".to_owned()),
            subject_id: Some(1),
            subject_name: None,
            actor_kind,
            actor_id: None,
            actor_name: actor_name.to_owned(),
            detail: r#"{"changed":{"tier":{"old":"tier_2","new":"tier_4"},"language":{"old":"a_b","new":null}}}"#
                .to_owned(),
            kept: None,
            owner_class: None,
            owner_id: None,
            other_owner_class: None,
            other_owner_id: None,
            at: Timestamp::now(),
        };
        let replaced = entry(ActorKind::Token, "replaced: nightly import");
        assert_eq!(actor_name(&replaced), "nightly import");
        assert_eq!(actor_name(&entry(ActorKind::Visitor, "replaced: x")), "replaced: x");
        let shown = details(&replaced).into_string();
        assert!(shown.contains("tier 2 → tier 4") && shown.contains("a_b → "), "{shown}");
    }
}
