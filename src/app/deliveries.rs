//! The last deliveries to the webhook of an integration: deploys that were recorded, and the answers to other posts.

use maud::{Markup, html};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Deserialize;

use super::operations::DeployStatus;
use super::parts::{empty, external_link, short, status, time};
use super::visit::path;
use super::{Fault, Site};
use crate::db::Read;
use crate::entity::{Timestamp, delivery, deploy};
use crate::graphql::id;

/// Lists the last deliveries to a deploy endpoint. The API lists neither deploys nor answers by endpoint, so both are
/// read from the database.
pub async fn of_deploys(site: &Site, id: &str, now: Timestamp) -> Result<Markup, Fault> {
    let (db, number) = (site.db.read(), id::decode(id).map_or(0, |(_, number)| number));
    let deploys = deploy::Entity::find().filter(deploy::Column::IntegrationId.eq(number));
    let deploys = db.all(deploys.order_by_desc(deploy::Column::Id).limit(delivery::KEPT)).await?;
    let mut rows: Vec<(Timestamp, Markup)> =
        deploys.iter().map(|deploy| (deploy.created_at, recorded(deploy, now))).collect();
    rows.extend(delivery::last(db, number).await?.iter().map(|one| (one.at, answered(one, now, 2))));
    rows.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    rows.truncate(delivery::KEPT as usize);
    let rows: Vec<Markup> = rows.into_iter().map(|(_, row)| row).collect();
    Ok(section(&["Service", "Deploy"], &rows, "Post a deploy with one of the snippets above."))
}

/// Lists the last answers of an endpoint for API documents.
pub async fn of_documents(site: &Site, id: &str, now: Timestamp) -> Result<Markup, Fault> {
    let number = id::decode(id).map_or(0, |(_, number)| number);
    let answers = delivery::last(site.db.read(), number).await?;
    let rows: Vec<Markup> = answers.iter().map(|one| answered(one, now, 1)).collect();
    Ok(section(&["Result"], &rows, "Post a document with the snippet above."))
}

fn section(columns: &[&str], rows: &[Markup], first: &str) -> Markup {
    html! {
        h2 #deliveries { "Last deliveries" }
        @if rows.is_empty() {
            (empty("No deliveries yet.", html! { p { (first) } }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Last deliveries" {
                table {
                    thead { tr {
                        th scope="col" { "Received" } th scope="col" { "Status" }
                        @for column in columns { th scope="col" { (column) } }
                    } }
                    tbody { @for row in rows { (row) } }
                }
            }
        }
    }
}

fn recorded(deploy: &deploy::Model, now: Timestamp) -> Markup {
    let understood = deploy.deploy_status.map(|status| match status {
        deploy::Status::Succeeded => DeployStatus::Succeeded,
        deploy::Status::Failed => DeployStatus::Failed,
        deploy::Status::Cancelled => DeployStatus::Cancelled,
        deploy::Status::Queued => DeployStatus::Queued,
        deploy::Status::Running => DeployStatus::Running,
    });
    html! {
        tr {
            td { (time(deploy.created_at, now)) }
            td { span.mark.good { "202" } }
            td { @match deploy.service_id {
                Some(_) => a href=(path(["services", &deploy.service_alias])) { (deploy.service_alias) },
                None => { (deploy.service_alias) " " a href="/suggestions" { "unknown" } },
            } }
            td {
                (external_link(deploy.deploy_url.as_deref(), &format!("#{}", deploy.deploy_number))) " "
                (status(understood, deploy.status.as_deref())) " " bdi { (short(&deploy.description)) }
            }
        }
    }
}

/// The row of an answer. Its text spans the `columns` after the status.
fn answered(delivery: &delivery::Model, now: Timestamp, columns: usize) -> Markup {
    let class = if delivery.status < 300 { "mark none" } else { "mark bad" };
    html! {
        tr {
            td { (time(delivery.at, now)) }
            td { span class=(class) { (delivery.status) } }
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
}

/// What an answer says: its mistakes as a list, or its result.
fn said(answer: &str) -> Markup {
    let (body, is_cut) = read(answer);
    html! {
        @match body {
            Some(Body { errors, .. }) if !errors.is_empty() => ul.mistakes {
                @for mistake in &errors { li { (mistake.detail) } }
                @if is_cut { li.soft { "and more" } }
            },
            Some(Body { result: Some(result), message, .. }) => {
                code { (result) } @if let Some(message) = message { " " (message) }
            },
            _ => code { (answer) },
        }
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
        assert_eq!(said(r#"{"result":"created"}"#).into_string(), "<code>created</code>");
    }
}
