//! The last deliveries to the webhook of an integration: deploys that were recorded, and the answers to other posts.

use std::collections::HashMap;

use maud::{Markup, html};
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde::Deserialize;

use super::operations::DeployStatusEnum;
use super::parts::{count, empty, external_link, short, status, time};
use super::reading::too_long;
use super::visit::{Visit, path};
use super::{Fault, Site};
use catalogue::db::{self, Read, ReadHandle};
use catalogue::entity::{ByIds, Timestamp, check, custom_event, custom_event_outcome, delivery, deploy};
use catalogue::graphql::field::id;

/// How many of the newest deploys of all endpoints are searched for those of one. No index has the deploys of an
/// endpoint in order: without this limit, all of them would be read.
pub const SEARCHED: i64 = 50_000;
/// How many of the newest deploys the list of all integrations searches for the last of each.
pub const LISTED: i64 = 5_000;

/// What integrations received.
pub struct Receipts {
    last: HashMap<i64, Timestamp>,
    failed: HashMap<i64, i64>,
    /// Whether the deploys that were searched are all that there are.
    pub are_all: bool,
}

impl Receipts {
    /// Reads what these integrations received last, and how many posts were refused after `since`.
    pub async fn read(db: &dyn ReadHandle, integrations: &[i64], since: Timestamp) -> Result<Self, db::Error> {
        use deploy::Column;
        let before = before(db, LISTED).await?;
        // By an index of the endpoints, all of their deploys would be read.
        let of_endpoint = || db::unindexed(db, Column::IntegrationId);
        let deploys = deploy::Entity::find().select_only().column(Column::IntegrationId);
        let deploys = deploys.column_as(Column::CreatedAt.max(), "at").filter(Column::Id.gt(before));
        let deploys = deploys.filter(of_endpoint().is_not_null()).group_by(of_endpoint());
        let mut newest: Vec<(i64, Timestamp)> =
            db.rows(deploys.as_query(), |row| Ok((row.get(0)?, Timestamp::from_micros(row.get(1)?)))).await?;
        let (of, at) = (delivery::Column::IntegrationId, delivery::Column::At);
        newest.extend(newest_of::<delivery::Entity>(db, integrations, of, at).await?);
        let events = (custom_event::Column::IntegrationId, custom_event::Column::At);
        newest.extend(newest_of::<custom_event::Entity>(db, integrations, events.0, events.1).await?);
        let mut last = HashMap::new();
        for (integration, at) in newest {
            let known = last.entry(integration).or_insert(at);
            *known = Ord::max(*known, at);
        }
        let refused =
            delivery::Entity::find().select_only().column(of).column_as(delivery::Column::Id.count(), "refused");
        let refused = refused.filter(db::any(db, of, integrations)).filter(at.gt(since));
        let refused = refused.filter(delivery::Column::Status.gte(REFUSED)).group_by(of);
        let failed: Vec<(i64, i64)> = db.rows(refused.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
        Ok(Self { last, failed: failed.into_iter().collect(), are_all: before == 0 })
    }

    /// When something was last posted to the integration, as far as is known.
    pub fn last(&self, integration: i64) -> Option<Timestamp> {
        self.last.get(&integration).copied()
    }

    /// The number of posts that were refused, among those that are kept.
    pub fn failed(&self, integration: i64) -> i64 {
        self.failed.get(&integration).copied().unwrap_or_default()
    }
}

/// The status of the answer to a post that was taken.
const TAKEN: i32 = 202;
/// The least status of an answer to a post that was refused.
const REFUSED: i32 = 400;

/// The newest time of each of these integrations, of the few rows that a table keeps for them.
async fn newest_of<E: EntityTrait>(
    db: &dyn ReadHandle,
    integrations: &[i64],
    integration: E::Column,
    at: E::Column,
) -> Result<Vec<(i64, Timestamp)>, db::Error> {
    let newest = E::find().select_only().column(integration).column_as(at.max(), "at");
    let newest = newest.filter(db::any(db, integration, integrations)).group_by(integration);
    db.rows(newest.as_query(), |row| Ok((row.get(0)?, Timestamp::from_micros(row.get(1)?)))).await
}

/// The id behind which the newest deploys begin, at most `most` of them. 0 if those are all that there are.
async fn before(db: &dyn ReadHandle, most: i64) -> Result<i64, db::Error> {
    use deploy::{Column, Entity};
    let newest = Entity::find().select_only().column(Column::Id).order_by_desc(Column::Id).limit(1);
    let newest: Vec<i64> = db.rows(newest.as_query(), |row| row.get(0)).await?;
    Ok(newest.first().map_or(0, |id| Ord::max(id - most, 0)))
}

/// Lists the last deliveries to a deploy endpoint, which may also take events. The API lists neither deploys nor answers by
/// endpoint, so both are read from the database.
pub async fn of_deploys(
    site: &Site,
    visit: &Visit,
    id: &str,
    takes_events: bool,
    now: Timestamp,
) -> Result<Markup, Fault> {
    let number = id::decode(id).map_or(0, |(_, number)| number);
    let reading = site.reading(visit).await?;
    let answers = reading.optional(|db| delivery::latest(db, number)).await?;
    let deploys = reading.optional(|db| deploys(db, number)).await?;
    let events = reading.optional(|db| custom_event::latest(db, number)).await?;
    let shown: Vec<i64> = events.iter().flatten().map(|event| event.id).collect();
    let outcomes = reading.optional(|db| outcomes(db, &shown)).await?.unwrap_or_default();
    let is_whole = answers.is_some() && deploys.is_some() && events.is_some();
    let (answers, (deploys, are_all)) = (answers.unwrap_or_default(), deploys.unwrap_or_default());
    let events = events.unwrap_or_default();
    let mut rows: Vec<(Timestamp, Markup)> =
        deploys.iter().map(|deploy| (deploy.created_at, recorded(deploy, now))).collect();
    rows.extend(answers.iter().map(|one| (one.at, answered(one, now, 2))));
    rows.extend(events.iter().map(|one| (one.at, received(one, &outcomes, now))));
    rows.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    rows.truncate(delivery::KEPT as usize);
    let rows: Vec<Markup> = rows.into_iter().map(|(_, row)| row).collect();
    let none = if are_all { "No deliveries yet." } else { "No deliveries lately." };
    let (what, next) = match takes_events {
        true => ("Event or deploy", "Post an event with the snippet above."),
        false => ("Deploy", "Post a deploy with one of the snippets above."),
    };
    Ok(section(&["Service", what], &rows, is_whole, (none, next)))
}

/// The last deploys of an endpoint among the newest of all, and whether those are all that there are.
async fn deploys(db: &dyn ReadHandle, number: i64) -> Result<(Vec<deploy::Model>, bool), Fault> {
    use deploy::{Column, Entity};
    let before = before(db, SEARCHED).await?;
    let of_endpoint = db::unindexed(db, Column::IntegrationId).eq(number);
    let deploys = Entity::find().filter(of_endpoint).filter(Column::Id.gt(before));
    let deploys = db.all(deploys.order_by_desc(Column::Id).limit(delivery::KEPT)).await?;
    Ok((deploys, before == 0))
}

/// Lists the last answers of an endpoint for API documents.
pub async fn of_documents(site: &Site, visit: &Visit, id: &str, now: Timestamp) -> Result<Markup, Fault> {
    let number = id::decode(id).map_or(0, |(_, number)| number);
    let answers = site.reading(visit).await?.optional(|db| delivery::latest(db, number)).await?;
    let rows: Vec<Markup> = answers.iter().flatten().map(|one| answered(one, now, 1)).collect();
    let without = ("No deliveries yet.", "Post a document with the snippet above.");
    Ok(section(&["Result"], &rows, answers.is_some(), without))
}

/// `is_whole` is whether all were read. `without` says that there are none, and what to do.
fn section(columns: &[&str], rows: &[Markup], is_whole: bool, without: (&str, &str)) -> Markup {
    html! {
        h2 #deliveries { "Last deliveries" }
        @if !is_whole { (too_long()) }
        @if rows.is_empty() {
            @if is_whole { (empty(without.0, html! { p { (without.1) } })) }
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Last deliveries" {
                table.lined {
                    thead { tr {
                        th scope="col" { "Received" } th scope="col" { "Answer" }
                        @for column in columns { th scope="col" { (column) } }
                    } }
                    tbody { @for row in rows { (row) } }
                }
            }
        }
    }
}

/// The status of an answer, and what it means.
fn mark(status: i32) -> Markup {
    let (class, word) = match status {
        TAKEN => ("mark brief good", " accepted"),
        REFUSED.. => ("mark brief bad", " refused"),
        _ => ("mark brief none", ""),
    };
    html! { span class=(class) { (status) (word) } }
}

fn recorded(deploy: &deploy::Model, now: Timestamp) -> Markup {
    let understood = match deploy.deploy_status {
        None => DeployStatusEnum::NoStatus,
        Some(deploy::Status::Succeeded) => DeployStatusEnum::Success,
        Some(deploy::Status::Failed) => DeployStatusEnum::Failure,
        Some(deploy::Status::Cancelled) => DeployStatusEnum::Canceled,
        Some(deploy::Status::Queued) => DeployStatusEnum::Queued,
        Some(deploy::Status::Running) => DeployStatusEnum::Running,
    };
    html! {
        tr {
            td { (time(deploy.created_at, now)) }
            td { (mark(TAKEN)) }
            td { @match deploy.service_id {
                Some(_) => a href=(path(["services", &deploy.service_alias])) { (deploy.service_alias) },
                None => { (deploy.service_alias) " " a.mark.warn href="/suggestions" { "unknown service" } },
            } }
            td {
                (external_link(deploy.deploy_url.as_deref(), &format!("#{}", deploy.deploy_number))) " "
                (status(understood, deploy.status.as_deref())) " " bdi { (short(&deploy.description)) }
            }
        }
    }
}

/// What became of an event, and the check that was evaluated.
type Judged = (custom_event_outcome::Model, Option<check::Model>);

/// What became of these events.
async fn outcomes(db: &dyn ReadHandle, events: &[i64]) -> Result<Vec<Judged>, Fault> {
    let outcomes = custom_event_outcome::of_events(db, events).await?;
    let checks = check::Entity::by_ids(db, outcomes.iter().map(|one| Some(one.check_id))).await?;
    Ok(outcomes.into_iter().zip(checks).collect())
}

/// What a check says of an event.
fn judged((outcome, check): &Judged) -> Markup {
    let name = check.as_ref().map_or("a check", |check| &check.name);
    let services = i64::from(outcome.passed) + i64::from(outcome.failed);
    html! {
        li {
            @match check {
                Some(check) => a href=(super::standard_parts::address(&id::Id::of_row::<check::Model>(check.id).text())) { (name) },
                None => (name),
            }
            ", " (count(services, "service"))
            @if services > 0 || outcome.unknown > 0 {
                ": " (outcome.passed) " passed, " (outcome.failed) " failed"
                @if outcome.unknown > 0 { ", " (outcome.unknown) " unknown" }
            }
            @if let Some(fault) = &outcome.fault { " " span.mark.bad { "cannot be evaluated" } " " (fault) }
        }
    }
}

/// The row of a custom event, with the beginning of its JSON, and what became of it.
fn received(event: &custom_event::Shown, outcomes: &[Judged], now: Timestamp) -> Markup {
    let own: Vec<&Judged> = outcomes.iter().filter(|(outcome, _)| outcome.event_id == event.id).collect();
    let is_cut = event.length as usize > event.start.chars().count();
    html! {
        tr {
            td { (time(event.at, now)) }
            td { (mark(TAKEN)) }
            td { "event" }
            td {
                code { (event.start) }
                @if is_cut { " " span.soft { "and more, " (count(event.length, "character")) " in all" } }
                @if !own.is_empty() { ul.plain { @for one in own { (judged(one)) } } }
            }
        }
    }
}

/// The row of an answer. Its text spans the `columns` after the status.
fn answered(delivery: &delivery::Model, now: Timestamp, columns: usize) -> Markup {
    html! {
        tr {
            td { (time(delivery.at, now)) }
            td { (mark(delivery.status)) }
            td colspan=(columns) { (said(&delivery.answer)) }
        }
    }
}

/// The body of an answer to a post.
#[derive(Deserialize)]
struct Body {
    result: Option<String>,
    message: Option<String>,
    #[serde(default)]
    errors: Vec<Mistake>,
}

#[derive(Deserialize)]
struct Mistake {
    detail: String,
    hint: Option<String>,
}

/// What an answer says: its mistakes as a list, or its result.
fn said(answer: &str) -> Markup {
    let (body, is_cut) = read(answer);
    html! {
        @match body {
            Some(Body { errors, .. }) if !errors.is_empty() => ul.mistakes {
                @for mistake in &errors { li { (mistake.detail) @if let Some(hint) = &mistake.hint { ". " (hint) } } }
                @if is_cut { li.soft { "and more" } }
            },
            Some(Body { result: Some(result), message, .. }) => {
                @if let Some(words) = message.as_deref().or_else(|| in_words(&result)) { (words) " " }
                small { code { (result) } }
            },
            _ => code { (answer) },
        }
    }
}

/// What a result means, where the answer has no message that says so.
fn in_words(result: &str) -> Option<&'static str> {
    match result {
        "created" => Some("The document is stored."),
        "replaced" => Some("It replaced the document from before."),
        _ => None,
    }
}

/// Parses a stored answer, and reports whether it was cut off: only its first thousand characters are stored. An answer
/// that was cut off yields its complete mistakes.
fn read(answer: &str) -> (Option<Body>, bool) {
    if let Ok(body) = serde_json::from_str(answer) {
        return (Some(body), false);
    }
    let complete = answer.rsplit_once("},").map(|(complete, _)| format!("{complete}}}]}}"));
    (complete.and_then(|complete| serde_json::from_str(&complete).ok()), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_was_cut_lists_its_complete_mistakes() {
        let mistake = r#"{"status":400,"title":"t","detail":"the <date> is wrong"}"#;
        let whole = format!("{{\"errors\":[{mistake},{mistake}]}}");
        let item = "<li>the &lt;date&gt; is wrong</li>";
        assert_eq!(said(&whole).into_string(), format!("<ul class=\"mistakes\">{item}{item}</ul>"));
        let cut = &whole[..whole.len() - 10];
        let more = "<li class=\"soft\">and more</li>";
        assert_eq!(said(cut).into_string(), format!("<ul class=\"mistakes\">{item}{more}</ul>"));
        assert_eq!(said("{\"errors\":[{\"st").into_string(), "<code>{&quot;errors&quot;:[{&quot;st</code>");
        // What engineers find in the answer is there, too.
        for (answer, expected) in [
            (r#"{"result":"created"}"#, "The document is stored. <small><code>created</code></small>"),
            (
                r#"{"result":"duplicate","message":"It is there."}"#,
                "It is there. <small><code>duplicate</code></small>",
            ),
            (r#"{"result":"other"}"#, "<small><code>other</code></small>"),
        ] {
            assert_eq!(said(answer).into_string(), expected);
        }
    }
}
