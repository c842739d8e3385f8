//! `rollcall standards missing`, `rollcall standards failing` and `rollcall standards list`: the checks, and how services stand
//! with them.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use spelling::nearest;

use super::list::tell_of_more;
use super::output::{Column, bold, has_styles, moment, print_rows, text};
use super::show::find_of;
use super::{MOST, nodes, server};
use crate::cli::console::{print, say};
use crate::cli::remote::Server;
use crate::config::{Asking, Output, Shown};
use crate::entity::text::one_line;
use crate::mcp::questions::{MISSING, NO_CHECKS, take_results, why_nothing};

const CHECKS: &str = "query($first: Int, $after: String) { account { rubric {
    checks(first: $first, after: $after) { nodes { id name enabled type level { name } category { id name } }
        pageInfo { hasNextPage endCursor } } } } }";

const SCORECARDS: &str = "query($first: Int, $after: String) { account {
    scorecards(first: $first, after: $after) { nodes { id name aliases categories { nodes { id } } }
        pageInfo { hasNextPage endCursor } } } }";

const CAMPAIGNS: &str = "query($first: Int, $after: String) { account {
    campaigns(first: $first, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } } } }";

const OF_CAMPAIGNS: &str = "query($first: Int, $after: String) { account {
    campaigns(first: $first, after: $after) { nodes { name status
        checks { nodes { id name enabled type level { name } category { name } } } }
        pageInfo { hasNextPage endCursor } } } }";

/// How services stand with a check, as a selection.
macro_rules! report {
    () => {
        "check { name enabled level { name } category { name } } services passed failed pending
        failing { status message service { name alias htmlUrl owner { name } } }"
    };
}

const OF_CHECK: &str = concat!("query($id: ID!) { account { checkReport(id: $id) { ", report!(), " } } }");

const OF_SCORECARD: &str =
    concat!("query($id: ID!) { account { scorecard(input: { id: $id }) { reports { ", report!(), " } } } }");

const OF_CAMPAIGN: &str = concat!("query($id: ID!) { account { campaign(id: $id) { reports { ", report!(), " } } } }");

/// Prints what a service lacks.
pub(in crate::cli) fn missing(words: &[String], asking: &Asking) -> Result<(), String> {
    let server = server(&asking.remote, asking.deadline)?;
    let found = find_of(&server, Shown::Service, &words.join(" "))?;
    let mut data = server.ask(MISSING, &json!({ "alias": found["alias"] }))?;
    let why = why_nothing(&data);
    let mut results = take_results(&mut data);
    let service = data["account"]["service"].take();
    let count = results.len();
    results.retain(|result| result["status"] != "passed");
    let name = text(service.get("name"));
    let well = || results.is_empty().then(|| format!("{name} passes all {count} checks that concern it"));
    if let Some(why) = why.map(str::to_owned).or_else(well) {
        return match asking.output {
            Output::Table => print(&format!("{}\n", one_line(&why))),
            form => {
                say(&why);
                print_rows(form, &COLUMNS, &[])
            }
        };
    }
    if asking.output != Output::Table {
        return print_rows(asking.output, &COLUMNS, &results);
    }
    let level = text(service.pointer("/maturityReport/overallLevel/name"));
    print(&told(&name, &level, count, &results, has_styles()))
}

/// The columns of CSV. A table has a few lines for each check instead: notes are long.
const COLUMNS: [Column; 6] = [
    ("check", "/check/name"),
    ("level", "/check/level/name"),
    ("status", "/status"),
    ("found", "/message"),
    ("notes", "/check/rawNotes"),
    ("part of", "/home/name"),
];

/// What a service lacks, for people: for each check what it found, and below that how to pass it.
fn told(name: &str, level: &str, count: usize, results: &[Json], has_styles: bool) -> String {
    let level = if level.is_empty() { String::new() } else { format!(" (level {level})") };
    let title = format!("{name}{level} does not pass {} of {count} checks", results.len());
    let mut told = format!("{}\n", bold(&one_line(&title).to_string(), has_styles));
    for result in results {
        let check = &result["check"];
        let home = match &*text(result.pointer("/home/name")) {
            "" => String::new(),
            name => format!("{} {name}", text(result.pointer("/home/kind"))),
        };
        let places = [text(check.pointer("/level/name")), home];
        let places: Vec<&str> = places.iter().map(String::as_str).filter(|place| !place.is_empty()).collect();
        let place = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
        let line = format!("{}{place}: {}", text(check.get("name")), text(result.get("status")));
        let from = match (&*text(result.get("status")), &*text(check.get("enableOn"))) {
            ("upcoming", from) if !from.is_empty() => format!(", counts from {}", moment(from)),
            _ => String::new(),
        };
        let _ =
            write!(told, "\n{}{}\n  {}\n", one_line(&line), one_line(&from), one_line(&text(result.get("message"))));
        for line in text(check.get("rawNotes")).lines().filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(told, "  {}", one_line(line));
        }
    }
    told
}

/// Prints the checks.
pub(in crate::cli) fn list(asking: &Asking) -> Result<(), String> {
    const COLUMNS: [Column; 6] = [
        ("check", "/name"),
        ("level", "/level/name"),
        ("category", "/category/name"),
        ("kind", "/type"),
        ("counts", "/enabled"),
        ("part of", "/partOf"),
    ];
    let server = server(&asking.remote, asking.deadline)?;
    let (mut checks, mut has_more) = nodes(&server, CHECKS, json!({}), "/account/rubric/checks", MOST)?;
    let (scorecards, _) = nodes(&server, SCORECARDS, json!({}), "/account/scorecards", MOST)?;
    let (campaigns, _) = nodes(&server, OF_CAMPAIGNS, json!({}), "/account/campaigns", MOST)?;
    for check in &mut checks {
        let is_own = |scorecard: &&Json| {
            let own = scorecard["categories"]["nodes"].as_array().into_iter().flatten();
            own.map(|category| &category["id"]).any(|id| *id == check["category"]["id"])
        };
        let name = scorecards.iter().find(is_own).map(|scorecard| format!("scorecard {}", text(scorecard.get("name"))));
        check["partOf"] = name.into();
    }
    for mut campaign in campaigns {
        let name = format!("campaign {} ({})", text(campaign.get("name")), text(campaign.get("status")));
        let Json::Array(own) = campaign["checks"]["nodes"].take() else { continue };
        checks.extend(own.into_iter().map(|mut check| {
            check["partOf"] = json!(name);
            check
        }));
    }
    has_more |= checks.len() > MOST;
    checks.truncate(MOST);
    if checks.is_empty() {
        say(NO_CHECKS);
    }
    print_rows(asking.output, &COLUMNS, &checks)?;
    tell_of_more(has_more, checks.len());
    Ok(())
}

/// Prints which services do not pass a check, or the checks of a scorecard or of a campaign.
pub(in crate::cli) fn failing(words: &[String], asking: &Asking) -> Result<(), String> {
    let (server, name) = (server(&asking.remote, asking.deadline)?, words.join(" "));
    let (checks, _) = nodes(&server, CHECKS, json!({}), "/account/rubric/checks", MOST)?;
    let (scorecards, _) = nodes(&server, SCORECARDS, json!({}), "/account/scorecards", MOST)?;
    let (campaigns, _) = nodes(&server, CAMPAIGNS, json!({}), "/account/campaigns", MOST)?;
    let columns = [
        ("service", "/service/name"),
        ("alias", "/service/alias"),
        ("owner", "/service/owner/name"),
        ("check", "/check/name"),
        ("level", "/check/level/name"),
        ("status", "/status"),
        ("found", "/message"),
    ];
    if checks.is_empty() && scorecards.is_empty() && campaigns.is_empty() {
        say(NO_CHECKS);
        return print_rows(asking.output, &columns, &[]);
    }
    let reports = reports(&server, &name, &[("check", checks), ("scorecard", scorecards), ("campaign", campaigns)])?;
    let mut rows = Vec::new();
    let mut said = Vec::new();
    for mut report in reports {
        let failing = report["failing"].take();
        said.extend(remark(&report, failing.as_array().map_or(0, Vec::len)));
        let Json::Array(failing) = failing else { continue };
        rows.extend(failing.into_iter().map(|mut result| {
            result["check"] = report["check"].clone();
            result
        }));
    }
    print_rows(asking.output, &columns, &rows)?;
    said.iter().for_each(|sentence| say(sentence));
    Ok(())
}

/// What the rows of a check do not say.
fn remark(report: &Json, shown: usize) -> Option<String> {
    let number = |field: &str| report[field].as_u64().unwrap_or_default();
    let (check, failing) = (text(report.pointer("/check/name")), number("failed") + number("pending"));
    match number("services") {
        0 => Some(format!("{check}: it concerns no service")),
        services if failing == 0 => Some(format!("{check}: all {services} services that it concerns pass it")),
        _ if failing > shown as u64 => Some(format!("{check}: the first {shown} of {failing} services")),
        _ if report["check"]["enabled"] == json!(false) => Some(format!("{check}: it does not count yet")),
        _ => None,
    }
}

/// How services stand with the checks of this name, or with those of the scorecard or the campaign that is called so.
fn reports(server: &Server, name: &str, all: &[(&'static str, Vec<Json>)]) -> Result<Vec<Json>, String> {
    let is_called = |node: &&Json| {
        let texts = node.get("aliases").and_then(Json::as_array).into_iter().flatten();
        let mut texts = texts.chain([&node["name"], &node["id"]]).filter_map(Json::as_str);
        texts.any(|text| text == name || text.to_lowercase() == name.to_lowercase())
    };
    let of_kind = |(kind, nodes): &(&'static str, Vec<Json>)| -> Vec<(&'static str, Json)> {
        nodes.iter().filter(is_called).map(|node| (*kind, node["id"].clone())).collect()
    };
    let called: Vec<(&str, Json)> = all.iter().flat_map(of_kind).collect();
    match &*called {
        [] => {
            let names = all.iter().flat_map(|(_, nodes)| nodes).filter_map(|one| one["name"].as_str());
            Err(format!("no check, scorecard or campaign is called {name}{}", similar(name, names)))
        }
        checks if checks.iter().all(|(kind, _)| *kind == "check") => {
            let of = |(_, id): &(&str, Json)| {
                let mut said = server.ask(OF_CHECK, &json!({ "id": id }))?;
                Ok::<_, String>(said["account"]["checkReport"].take())
            };
            checks.iter().map(of).collect()
        }
        [(kind, id)] => {
            let document = if *kind == "campaign" { OF_CAMPAIGN } else { OF_SCORECARD };
            let mut said = server.ask(document, &json!({ "id": id }))?;
            match said["account"][*kind]["reports"].take() {
                Json::Array(reports) if reports.is_empty() => Err(format!("the {kind} {name} has no checks yet")),
                Json::Array(reports) => Ok(reports),
                _ => Err(format!("no check, scorecard or campaign is called {name}")),
            }
        }
        several => {
            let several: Vec<String> = several.iter().map(|(kind, id)| format!("{kind} {}", text(Some(id)))).collect();
            Err(format!("several are called {name}: {}; name one by its id", several.join(", ")))
        }
    }
}

/// The most names that a refusal suggests.
const SUGGESTED: usize = 5;

/// Says which names are like this one: the nearest, and those that have one of its longer words.
fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    let words: Vec<String> =
        name.split_whitespace().filter(|word| word.chars().count() > 3).map(str::to_lowercase).collect();
    let mut found: Vec<&str> = nearest(name, names.clone()).into_iter().collect();
    for other in names {
        let lower = other.to_lowercase();
        if words.iter().any(|word| lower.contains(word.as_str())) && !found.contains(&other) {
            found.push(other);
        }
    }
    found.truncate(SUGGESTED);
    match found.is_empty() {
        true => "; rollcall standards list has their names".to_owned(),
        false => format!("; similar: {}", found.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_told_with_what_it_found_and_how_to_pass_it() {
        let result = json!({ "status": "failed", "message": "It has\nno owner.", "check": {
            "name": "Owned", "level": { "name": "Bronze" }, "rawNotes": "Ask in the chat.\n\nThen set it.",
        } });
        let told = told("Cart", "Beginner", 3, &[result], false);
        let expected = "Cart (level Beginner) does not pass 1 of 3 checks\n\nOwned (Bronze): failed\n  ";
        assert!(told.starts_with(expected), "{told}");
        assert!(told.ends_with("\n  Ask in the chat.\n  Then set it.\n") && told.lines().count() == 6, "{told}");
    }

    #[test]
    fn names_that_are_near_or_share_a_word_are_suggested() {
        let names = ["Has an owner", "Has a runbook", "Runbook is fresh", "On call"];
        let similar = |name: &str| similar(name, names.into_iter());
        assert_eq!(similar("Has an onwer"), "; similar: Has an owner");
        assert_eq!(similar("the runbook check"), "; similar: Has a runbook, Runbook is fresh");
        assert_eq!(similar("zz"), "; rollcall standards list has their names");
    }

    #[test]
    fn what_the_rows_of_a_check_do_not_say_is_said() {
        let of = |services: u64, failed: u64, pending: u64, enabled: bool| {
            let check = json!({ "name": "Owned", "enabled": enabled });
            json!({ "check": check, "services": services, "failed": failed, "pending": pending })
        };
        for (report, shown, expected) in [
            (of(0, 0, 0, true), 0, Some("Owned: it concerns no service")),
            (of(3, 0, 0, true), 0, Some("Owned: all 3 services that it concerns pass it")),
            (of(90, 60, 10, true), 50, Some("Owned: the first 50 of 70 services")),
            (of(3, 1, 0, false), 1, Some("Owned: it does not count yet")),
            (of(3, 1, 1, true), 2, None),
        ] {
            assert_eq!(remark(&report, shown).as_deref(), expected);
        }
    }
}
