//! `rollcall standards missing` and `rollcall standards failing`: how services stand with the checks.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use spelling::nearest;

use super::output::{Column, bold, has_styles, moment, print_rows, text};
use super::show::find;
use super::{MOST, nodes, server};
use crate::cli::console::{print, say};
use crate::cli::remote::Server;
use crate::config::{Asking, Output};
use crate::entity::text::one_line;
use crate::mcp::questions::{MISSING, NO_CHECKS, why_nothing};

const CHECKS: &str = "query($first: Int, $after: String) { account { rubric {
    checks(first: $first, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } } } } }";

const SCORECARDS: &str = "query($first: Int, $after: String) { account {
    scorecards(first: $first, after: $after) { nodes { id name aliases } pageInfo { hasNextPage endCursor } } } }";

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

/// Prints what a service lacks.
pub(in crate::cli) fn missing(service: &str, asking: &Asking) -> Result<(), String> {
    let server = server(&asking.remote, asking.deadline)?;
    let (_, found) = find(&server, &["service".to_owned(), service.to_owned()])?;
    let mut data = server.ask(MISSING, &json!({ "alias": found["alias"] }))?;
    let why = why_nothing(&data);
    let mut service = data["account"]["service"].take();
    let mut results = match service["maturityReport"]["latestCheckResults"].take() {
        Json::Array(results) => results,
        _ => Vec::new(),
    };
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
const COLUMNS: [Column; 5] = [
    ("check", "/check/name"),
    ("level", "/check/level/name"),
    ("status", "/status"),
    ("found", "/message"),
    ("notes", "/check/rawNotes"),
];

/// What a service lacks, for people: for each check what it found, and below that how to pass it.
fn told(name: &str, level: &str, count: usize, results: &[Json], has_styles: bool) -> String {
    let level = if level.is_empty() { String::new() } else { format!(" (level {level})") };
    let title = format!("{name}{level} does not pass {} of {count} checks", results.len());
    let mut told = format!("{}\n", bold(&one_line(&title).to_string(), has_styles));
    for result in results {
        let check = &result["check"];
        let place = match &*text(check.pointer("/level/name")) {
            "" => String::new(),
            level => format!(" ({level})"),
        };
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

/// Prints which services do not pass a check, or the checks of a scorecard.
pub(in crate::cli) fn failing(name: &str, asking: &Asking) -> Result<(), String> {
    let server = server(&asking.remote, asking.deadline)?;
    let (checks, _) = nodes(&server, CHECKS, json!({}), "/account/rubric/checks", MOST)?;
    let (scorecards, _) = nodes(&server, SCORECARDS, json!({}), "/account/scorecards", MOST)?;
    let columns = [
        ("service", "/service/name"),
        ("alias", "/service/alias"),
        ("owner", "/service/owner/name"),
        ("check", "/check/name"),
        ("level", "/check/level/name"),
        ("status", "/status"),
        ("found", "/message"),
    ];
    if checks.is_empty() && scorecards.is_empty() {
        say(NO_CHECKS);
        return print_rows(asking.output, &columns, &[]);
    }
    let reports = reports(&server, name, &checks, &scorecards)?;
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

/// How services stand with the checks of this name, or with those of the scorecard that is called so.
fn reports(server: &Server, name: &str, checks: &[Json], scorecards: &[Json]) -> Result<Vec<Json>, String> {
    let is_called = |node: &&Json, others: &str| {
        let texts = node.get(others).and_then(Json::as_array).into_iter().flatten();
        let mut texts = texts.chain([&node["name"], &node["id"]]).filter_map(Json::as_str);
        texts.any(|text| text == name || text.to_lowercase() == name.to_lowercase())
    };
    let of_checks: Vec<&Json> = checks.iter().filter(|check| is_called(check, "")).collect();
    let of_scorecards: Vec<&Json> = scorecards.iter().filter(|one| is_called(one, "aliases")).collect();
    match (&*of_checks, &*of_scorecards) {
        ([], []) => {
            let names = checks.iter().chain(scorecards).filter_map(|one| one["name"].as_str());
            let nearest = nearest(name, names).map(|near| format!("; the nearest is {near}")).unwrap_or_default();
            Err(format!("no check or scorecard is called {name}{nearest}"))
        }
        (checks, []) => {
            let of = |check: &&Json| {
                let mut said = server.ask(OF_CHECK, &json!({ "id": check["id"] }))?;
                Ok::<_, String>(said["account"]["checkReport"].take())
            };
            checks.iter().map(of).collect()
        }
        ([], [one]) => {
            let mut said = server.ask(OF_SCORECARD, &json!({ "id": one["id"] }))?;
            match said["account"]["scorecard"]["reports"].take() {
                Json::Array(reports) if reports.is_empty() => Err(format!("the scorecard {name} has no checks yet")),
                Json::Array(reports) => Ok(reports),
                _ => Err(format!("no check or scorecard is called {name}")),
            }
        }
        (checks, scorecards) => {
            let kind = |kind: &'static str| move |one: &&Json| format!("{kind} {}", text(one.get("id")));
            let all: Vec<String> =
                checks.iter().map(kind("check")).chain(scorecards.iter().map(kind("scorecard"))).collect();
            Err(format!("several are called {name}: {}; name one by its id", all.join(", ")))
        }
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
