//! Digests: what has happened in a day or a week, in one message.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::message::{Message, cut, for_people, link, plain};
use super::page::Pages;
use super::page_of;
use super::told::{Said, moment};
use crate::db::{self, ReadHandle};
use crate::entity::event_delivery::Model as Delivery;
use crate::entity::event_subscription::{Digest, Form, Model as Subscription};
use crate::entity::{ByIds, Timestamp, event};

/// The hour, in UTC, at which digests are made: every day, or every Monday.
pub const HOUR: u8 = 7;

/// The most lines of a digest. Further events are counted.
pub const LINES: usize = 100;

/// About the longest text of a digest for a chat, in characters, which also bounds its lines: Mattermost takes 16,383.
pub const TEXT: usize = 12_000;

/// About the longest message for a chat, in bytes: Microsoft Teams takes 28 KB.
pub const BODY: usize = 20 << 10;

const SECOND: i64 = 1_000_000;
const HOURS: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOURS;

/// The next time of a digest after `now`.
pub fn next(digest: Digest, now: Timestamp) -> Timestamp {
    let hour = i64::from(HOUR) * HOURS;
    let day = (now.as_micros() - hour).div_euclid(DAY) + 1;
    let day = match digest {
        Digest::Daily => day,
        // The first day of 1970 was a Thursday, three days after a Monday.
        Digest::Weekly => day + (-(day + 3)).rem_euclid(7),
    };
    Timestamp::from_micros(day * DAY + hour)
}

/// The order in which deliveries are told: those about one subject together, in the order of the first of each.
fn grouped(mut collected: Vec<Delivery>) -> Vec<Delivery> {
    let mut first = HashMap::new();
    for one in &collected {
        first.entry(one.subject.clone()).or_insert(one.id);
    }
    collected.sort_by_key(|one| (first.get(&one.subject).copied(), one.id));
    collected
}

/// The digest of what was collected for a subscription. Its id is the same each time that it is sent.
pub(super) async fn message(
    db: &dyn ReadHandle,
    own: &Subscription,
    collected: Vec<Delivery>,
    app_url: &Arc<str>,
) -> Result<Message, db::Error> {
    let (count, first) = (collected.len(), collected.iter().map(|one| one.id).min().unwrap_or_default());
    let mut told = grouped(collected);
    told.truncate(LINES);
    let ids = told.iter().map(|one| Some(one.event_id));
    let events: BTreeMap<i64, event::Model> =
        event::Entity::by_ids(db, ids).await?.into_iter().flatten().map(|event| (event.id, event)).collect();
    let head = format!("{} of {}: {}", called(own.digest), own.name, counted(count));
    let pages = Pages::find(db, app_url, &events.values().collect::<Vec<_>>()).await?;
    let text = text(own.form, &head, count, &told, &events, &pages, &page_of(app_url, own.id));
    Ok(for_people(format!("dig_{first}"), cut(&plain(Form::Email)(&head), super::SUBJECT), own.form, text))
}

fn called(digest: Option<Digest>) -> &'static str {
    match digest {
        Some(Digest::Daily) => "Daily digest",
        Some(Digest::Weekly) => "Weekly digest",
        None => "Digest",
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 event".to_owned() } else { format!("{count} events") }
}

/// The text: a line for each event, and how many more there are.
fn text(
    form: Form,
    head: &str,
    count: usize,
    told: &[Delivery],
    events: &BTreeMap<i64, event::Model>,
    pages: &Pages,
    page: &str,
) -> String {
    let mut text = format!("{}\n", plain(form)(head));
    let (mut length, mut size, mut lines) = (text.chars().count(), written(&text), 0);
    let groups = told.chunk_by(|one, other| one.subject == other.subject);
    'all: for group in groups {
        text.push('\n');
        let mut place = None;
        for one in group {
            let Some(event) = events.get(&one.event_id) else { continue };
            let said = Said::new(event, one.kind, pages);
            let line = format!("- {} {}\n", moment(event.at), said.line(form).replace(['\n', '\r'], " "));
            length += line.chars().count();
            size += written(&line);
            if form != Form::Email && (length > TEXT || size > BODY) && lines > 0 {
                break 'all;
            }
            text.push_str(&line);
            (lines, place) = (lines + 1, said.page().or(place));
        }
        if let Some(url) = place.filter(|_| form == Form::Email) {
            text.push_str(&format!("  {url}\n"));
        }
    }
    if lines < count {
        let more = count - lines;
        let seen = match form {
            Form::Email => page.to_owned(),
            _ => link(form, "see the subscription", page),
        };
        text.push_str(&format!("\nand {more} more: {seen}\n"));
    }
    text
}

/// The bytes that a text takes in JSON, about.
fn written(text: &str) -> usize {
    serde_json::Value::from(text).to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a time")
    }

    #[test]
    fn digests_are_made_in_the_morning_of_each_day_or_of_monday() {
        // 2026-11-30 is a Monday.
        for (now, daily, weekly) in [
            ("2026-11-29T23:00:00Z", "2026-11-30T07:00:00Z", "2026-11-30T07:00:00Z"),
            ("2026-11-30T06:59:59Z", "2026-11-30T07:00:00Z", "2026-11-30T07:00:00Z"),
            ("2026-11-30T07:00:00Z", "2026-12-01T07:00:00Z", "2026-12-07T07:00:00Z"),
            ("2026-12-01T06:00:00Z", "2026-12-01T07:00:00Z", "2026-12-07T07:00:00Z"),
            ("2026-12-06T07:00:00Z", "2026-12-07T07:00:00Z", "2026-12-07T07:00:00Z"),
            ("1969-12-31T12:00:00Z", "1970-01-01T07:00:00Z", "1970-01-05T07:00:00Z"),
        ] {
            assert_eq!(next(Digest::Daily, at(now)), at(daily), "{now}");
            assert_eq!(next(Digest::Weekly, at(now)), at(weekly), "{now}");
        }
    }
}
