//! What the example company asks of its services: levels, checks, a scorecard and a campaign, of which some services miss
//! something.

use async_graphql::{Request, ServerError, Variables};
use serde_json::{Value, json};

use crate::db::Db;
use crate::entity::Timestamp;
use crate::error::{Error, Result};
use crate::graphql::request::caller::Caller;
use crate::graphql::standards::check::history;
use crate::graphql::{Catalogue, Settings, Unavailable};

const DAY: i64 = 24 * 3_600 * 1_000_000;

/// The file that describes them, which is released at once, so that they can be edited.
const PATH: &str = "demo.yml";

const APPLY: &str = "mutation($files: [ServiceFileInput!]!, $path: String!) {
    applied: standardsApply(input: { files: $files }) { errors { message } }
    released: standardsRelease(input: { path: $path }) { errors { message } }
}";

/// The text of the file. The campaign began three weeks ago, and has five left.
fn text(now: Timestamp) -> String {
    let day = |days: i64| -> String {
        let at = Timestamp::from_micros(now.as_micros() + days * DAY);
        at.to_string().chars().take(10).collect()
    };
    let check = |name: &str, r#type: &str, [level, category]: [&str; 2], own: Value, notes: &str| {
        let mut check = json!({ "name": name, "type": r#type, "level": level, "category": category, "enabled": true,
            "owner": "platform", "notes": notes });
        if let (Some(check), Value::Object(own)) = (check.as_object_mut(), own) {
            check.extend(own);
        }
        check
    };
    let mut less_critical = json!({ "name": "Needs nothing less critical", "type": "dependency_tier", "level": "Silver",
        "scorecard": "Ready for the sale", "owner": "commerce", "enabled": true });
    less_critical["notes"] =
        "On the day of the sale, what a critical service depends on must be as available as it is.".into();
    let standards = json!({
        "levels": [
            { "name": "Beginner", "description": "Where every service begins." },
            { "name": "Bronze", "description": "People know what it is, and whose." },
            { "name": "Silver", "description": "Whoever is called at night can help." },
            { "name": "Gold", "description": "Changes reach production often." },
        ],
        "categories": [
            { "name": "Ownership", "description": "Who is responsible for a service." },
            { "name": "Operation", "description": "What helps when a service fails." },
            { "name": "Delivery", "description": "How changes reach production." },
        ],
        "filters": [
            { "name": "Critical", "predicates": [{ "key": "tier_index", "type": "equals", "value": 1 }] },
        ],
        "scorecards": [
            { "name": "Ready for the sale", "owner": "commerce", "filter": "Critical",
              "description": "What must hold for our most important services before the sale in winter." },
        ],
        "checks": [
            check("Has an owner", "has_owner", ["Bronze", "Ownership"], json!({}),
                "Set the team that answers for it."),
            check("Has a tier", "service_property", ["Bronze", "Ownership"], json!({ "service_property": "tier_index" }),
                "Say how much depends on it."),
            check("Has a runbook", "tool_usage", ["Silver", "Operation"], json!({ "tool_category": "runbooks" }),
                "Add a link of the category Runbooks: what to do when it fails."),
            check("Has no critical code issue", "code_issue", ["Silver", "Operation"],
                json!({ "constraint": "any", "severity": ["critical"] }), "Mend it, or update what brings it in."),
            check("Was deployed in the last 14 days", "has_recent_deploy", ["Gold", "Delivery"], json!({ "days": 14 }),
                "A service that is not deployed for long is hard to deploy."),
            less_critical,
        ],
        "campaigns": [
            { "name": "A runbook for every service", "owner": "platform", "checks": ["Has a runbook"],
              "project_brief": "By then, nobody who is called at night has to search.",
              "start_date": day(-21), "target_date": day(35) },
        ],
    });
    json!({ "version": 1, "standards": standards }).to_string()
}

/// Creates the standards, and evaluates them once.
pub(super) async fn create(db: &Db, now: Timestamp) -> Result<()> {
    let settings = Settings::new("", "");
    let wanted = settings.events.clone();
    let catalogue = Catalogue::new(db.clone(), settings);
    let caller = Caller::command_line();
    let variables = json!({ "files": [{ "path": PATH, "text": text(now) }], "path": PATH });
    let request = Request::new(APPLY).variables(Variables::from_json(variables));
    let first = |errors: Vec<ServerError>| {
        Error::internal(errors.first().map_or_else(String::new, |error| error.message.clone()))
    };
    let prepared = catalogue.prepare(&request).map_err(first)?;
    let response = catalogue.execute(&prepared, &caller, "rollcall demo", None).await;
    let response = response.map_err(|Unavailable(reason)| Error::internal(reason))?;
    let said: Value = serde_json::from_slice(&response.text)?;
    for part in ["applied", "released"] {
        if said["data"][part]["errors"].as_array().is_none_or(|errors| !errors.is_empty()) {
            return Err(Error::internal(format!("the standards of the demo are wrong: {said}")));
        }
    }
    history::settle(db, &wanted).await
}
