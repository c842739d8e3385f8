//! The forms of checks: one for each kind, and what they send.

use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{KINDS, create, ids, services};

/// The word of a kind in addresses.
fn word(kind: &str) -> String {
    let mut word = String::new();
    for letter in kind.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

async fn check(app: &TestApp, place: &str) -> Value {
    let id = place.rsplit('/').next().expect("an id");
    let query = "query($id: ID!) { account { check(id: $id) {
        name enabled enableOn rawNotes description level { name } category { name } filter { name } owner { alias }
        ... on TagDefinedCheck { tagKey tagPredicate { type value } }
        ... on ManualCheck { updateRequiresComment updateFrequency { frequencyTimeScale frequencyValue startingDate } }
        ... on CodeIssueCheck { constraint issueType maxAllowed resolutionTime { unit value } }
        ... on HasRecentDeployCheck { days }
        ... on DeployMetricsCheck { metric maxAllowed days environments }
        ... on ServicePropertyCheck { serviceProperty propertyDefinition { name } propertyValuePredicate { type value } }
    } } }";
    app.query(query, json!({ "id": id })).await["data"]["account"]["check"].clone()
}

#[tokio::test]
async fn every_kind_of_check_has_a_form_that_says_what_it_asks() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let browser = Browser::of(app, Role::StandardsAdmin).await;
    let list = browser.page("/new/check").await;
    for (kind, ..) in KINDS {
        let address = format!("/new/check/{}", word(kind));
        assert!(list.contains(&format!("href=\"{address}\"")), "{address}: {list}");
        let page = browser.page(&address).await;
        for part in ["name=\"levelId\"", "name=\"enabled\"", "name=\"notes\"", "<main"] {
            assert!(page.contains(part), "{kind} {part}: {page}");
        }
        let asks = page.split("<p>").nth(1).and_then(|lead| lead.split("</p>").next()).unwrap_or_default();
        assert!(asks.starts_with("Asks ") && asks.ends_with('.'), "{kind}: {asks}");
        // What null means to programs is nobody's question here, nor are the names of their fields.
        let main = page.split_once("<main").expect("a main part").1;
        assert!(!main.contains(" null"), "{kind}: {main}");
        for label in main.split("<label for=").skip(1).filter_map(|rest| rest.split_once('>')?.1.split('<').next()) {
            let is_name = |word: &str| word.contains('_') || word.contains("redicate") || word == "Id";
            assert!(!label.split(' ').any(is_name), "{kind}: {label}");
        }
        for option in main.split("</option>").filter_map(|rest| rest.rsplit('>').next()) {
            assert!(!option.contains('_'), "{kind}: {option}");
        }
    }
    assert_eq!(browser.get("/new/check/nothing").await.status, 404);
    let viewer = Browser::of(app, Role::User).await;
    for page in ["/new/check", "/new/check/tag-defined", "/new/level"] {
        assert_eq!(viewer.get(page).await.status, 403, "{page}");
    }
}

#[tokio::test]
async fn a_form_begins_with_what_is_looked_for_and_presets_only_what_works() {
    let endpoint = services().await;
    let browser = Browser::of(&endpoint.app, Role::StandardsAdmin).await;
    let page = browser.page("/new/check/package-version").await;
    let at = |field: &str| page.find(&format!(" name=\"{field}\"")).unwrap_or_else(|| panic!("{field}: {page}"));
    let order = [
        "packageName",
        "packageManager",
        "packageConstraint",
        "missingPackageResult",
        "name",
        "categoryId",
        "levelId",
        "ownerId",
        "filterId",
        "enabled",
        "notes",
    ];
    assert!(order.map(at).is_sorted(), "{page}");
    for (field, preset) in [("packageManager", "cargo"), ("packageConstraint", "exists")] {
        let first = page[at(field)..].split("<option value=\"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!(first, Some(preset), "{field}");
    }
    let managers = &page[at("packageManager")..at("packageConstraint")];
    assert!(managers.find("\"pypi\"") < managers.find("\"alpm\""), "{managers}");
    assert!(page.contains("A check counts only when it is switched on."), "{page}");
    // Labels are not said twice.
    for hint in ["The category.", "Its name", "1 to 255 characters"] {
        assert!(!page.contains(hint), "{hint}: {page}");
    }
    // What asks nothing begins with its name.
    let level = browser.page("/new/level").await;
    assert!(level.find(" name=\"name\"") < level.find(" name=\"index\""), "{level}");
}

#[tokio::test]
async fn a_form_sends_what_was_filled_in_and_shows_it_again() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    let (level, category) = (ids["Bronze"].as_str().expect("an id"), ids["Safety"].as_str().expect("an id"));
    let mut browser = Browser::of(app, Role::StandardsAdmin).await;
    let found = data(app, "{ account { propertyDefinitions { nodes { id } } } }").await;
    let class = found["account"]["propertyDefinitions"]["nodes"][0]["id"].as_str().expect("an id").to_owned();
    let common = [
        ("levelId", level),
        ("categoryId", category),
        ("ownerId", "Core"),
        ("notes", "Do it.\r\nSoon."),
        ("enabled", "yes"),
    ];
    for (kind, own, expected) in [
        (
            "TagDefined",
            vec![("tagKey", "env"), ("tagPredicate.type", "equals"), ("tagPredicate.value", "prod")],
            json!({ "tagKey": "env", "tagPredicate": { "type": "equals", "value": "prod" } }),
        ),
        (
            "Manual",
            vec![
                ("updateRequiresComment", "yes"),
                ("updateFrequency.frequencyTimeScale", "week"),
                ("updateFrequency.frequencyValue", "2"),
                ("updateFrequency.startingDate", "2026-01-05"),
            ],
            json!({ "updateRequiresComment": true, "updateFrequency": {
                "frequencyTimeScale": "week", "frequencyValue": 2, "startingDate": "2026-01-05T00:00:00Z"
            } }),
        ),
        (
            "CodeIssue",
            vec![
                ("constraint", "any"),
                ("issueType", "vuln\r\nlicence\r\n"),
                ("maxAllowed", "3"),
                ("resolutionTime.unit", "day"),
                ("resolutionTime.value", "7"),
            ],
            json!({ "constraint": "any", "issueType": ["vuln", "licence"], "maxAllowed": 3, "resolutionTime": { "unit": "day", "value": 7 } }),
        ),
        ("HasRecentDeploy", vec![("days", "30")], json!({ "days": 30 })),
        (
            "DeployMetrics",
            vec![
                ("metric", "change_lead_time"),
                ("maxAllowed", "24"),
                ("days", ""),
                ("environments", "Production\r\nstaging\r\n"),
            ],
            json!({ "metric": "change_lead_time", "maxAllowed": 24, "days": 30, "environments": ["Production", "staging"] }),
        ),
        (
            "ServiceProperty",
            vec![("serviceProperty", "custom_property"), ("propertyDefinition.id", &class)],
            json!({ "serviceProperty": "custom_property", "propertyDefinition": { "name": "Data class" } }),
        ),
    ] {
        let form: Vec<(&str, &str)> = [("name", kind)].into_iter().chain(common).chain(own).collect();
        let made = browser.post(&format!("/new/check/{}", word(kind)), &form).await;
        let place = made.place().to_owned();
        let stored = check(app, &place).await;
        for (field, value) in expected.as_object().expect("fields") {
            assert_eq!(&stored[field], value, "{kind}.{field}");
        }
        assert_eq!((&stored["name"], &stored["rawNotes"]), (&json!(kind), &json!("Do it.\nSoon.")));
        assert_eq!((&stored["enabled"], &stored["owner"]["alias"]), (&json!(true), &json!("core")));
        // Its own form, sent as it is, changes nothing.
        let edit = format!("{place}/edit");
        let page = browser.page(&edit).await;
        assert!(page.contains("value=\"Core\""), "the owner's name: {page}");
        let form = filled(&page);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(browser.post(&edit, &form).await.place(), place, "{form:?}");
        assert_eq!(check(app, &place).await, stored, "{form:?}");
        // An emptied field is cleared.
        let form: Vec<(&str, &str)> = form
            .into_iter()
            .map(|(name, value)| (name, if name == "notes" || name == "ownerId" { "" } else { value }))
            .collect();
        browser.post(&edit, &form).await.place();
        let cleared = check(app, &place).await;
        assert_eq!((&cleared["rawNotes"], &cleared["owner"]), (&Value::Null, &Value::Null));
        for (what, is_on) in [("no", false), ("yes", true)] {
            assert_eq!(browser.post(&format!("{place}/switch"), &[("enabled", what)]).await.place(), place);
            let switched = check(app, &place).await;
            assert_eq!(switched["enabled"], json!(is_on));
            for (field, value) in expected.as_object().expect("fields") {
                assert_eq!(&switched[field], value, "{kind}.{field}");
            }
        }
        assert_eq!(browser.post(&format!("{place}/delete"), &[]).await.place(), "/standards");
        assert_eq!(check(app, &place).await, Value::Null);
    }
}

/// The fields of the form on a page, with their values.
fn filled(page: &str) -> Vec<(String, String)> {
    let form = page.split("/edit\">").nth(1).and_then(|form| form.split("</form>").next()).expect("a form");
    let text = |text: &str| {
        let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        plain.trim_start_matches('\n').to_owned()
    };
    let attribute = |tag: &str, name: &str| {
        let start = tag.find(&format!(" {name}=\""))? + name.len() + 3;
        Some(text(tag[start..].split('"').next()?))
    };
    let mut fields = Vec::new();
    for part in form.split('<') {
        let (tag, rest) = part.split_once('>').unwrap_or((part, ""));
        let name = || attribute(tag, "name").expect("a name");
        match tag.split(' ').next() {
            Some("input") => fields.push((name(), attribute(tag, "value").unwrap_or_default())),
            Some("textarea") => fields.push((name(), text(rest))),
            Some("select") => fields.push((name(), String::new())),
            Some("option") => {
                let own: &mut (String, String) = fields.last_mut().expect("a select");
                if tag.ends_with(" selected") {
                    own.1 = attribute(tag, "value").unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    fields
}

#[tokio::test]
async fn a_mistake_is_shown_beside_its_field_and_the_rest_is_kept() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    let (level, category) = (ids["Bronze"].as_str().expect("an id"), ids["Safety"].as_str().expect("an id"));
    let mut browser = Browser::of(app, Role::StandardsAdmin).await;
    for (kind, own, field, said) in [
        ("has-recent-deploy", [("days", "soon"), ("name", "Kept")], "days", "Must be a whole number"),
        ("has-recent-deploy", [("days", "100000"), ("name", "Kept")], "days", "Days must be"),
        ("has-recent-deploy", [("days", ""), ("name", "Kept")], "days", "Must be given"),
        ("tag-defined", [("tagPredicate.value", "x"), ("notes", "Kept")], "tagPredicate.type", "Must be given"),
        ("tag-defined", [("tagKey", ""), ("notes", "Kept")], "tagKey", "Tag key "),
        ("tag-defined", [("tagKey", "env"), ("ownerId", "nobody at all, Kept")], "ownerId", "nobody at all"),
        ("tag-defined", [("tagPredicate.type", "odd"), ("notes", "Kept")], "tagPredicate.type", "Must be one of"),
    ] {
        let form: Vec<(&str, &str)> = [("levelId", level), ("categoryId", category)].into_iter().chain(own).collect();
        let refused = browser.post(&format!("/new/check/{kind}"), &form).await;
        assert_eq!(refused.status, 422, "{own:?} {}", refused.text());
        let wrong = format!("id=\"wrong-{field}\"");
        let said_there = refused
            .text()
            .split(&wrong)
            .nth(1)
            .is_some_and(|rest| rest.split("</p>").next().is_some_and(|own| own.contains(said)));
        assert!(said_there, "{own:?} {}", refused.text());
        assert!(refused.text().contains("Kept"), "{own:?}");
    }
}

#[tokio::test]
async fn a_preview_says_who_would_pass_and_saves_nothing() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    let (level, category) = (ids["Bronze"].as_str().expect("an id"), ids["Safety"].as_str().expect("an id"));
    let mut browser = Browser::of(app, Role::StandardsAdmin).await;
    let common =
        [("name", "Env"), ("levelId", level), ("categoryId", category), ("ownerId", "Core"), ("do", "preview")];
    let form = |own: &[(&'static str, &'static str)]| -> Vec<(&str, &str)> { [&common[..], own].concat() };
    let shown = browser.post("/new/check/tag-defined", &form(&[("tagKey", "env")])).await;
    let page = shown.text().to_owned();
    for expected in [
        "A service passes if it has a tag &quot;env&quot;.",
        "Nothing is saved. Of 3 services, 2 would pass, 1 would fail.",
        "href=\"/services/bare\"",
        "It has no tag &quot;env&quot;.",
        "href=\"/services/bare/edit#tag\"",
        "value=\"Env\"",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let shown = browser.post("/new/check/manual", &form(&[("updateRequiresComment", "no")])).await;
    assert!(
        shown.text().contains("0 would pass, 0 would fail, and of 3 nothing would be known yet."),
        "{}",
        shown.text()
    );
    // What the API refuses is said, in the words of the form.
    let refused = browser.post("/new/check/has-recent-deploy", &form(&[("days", "100000")])).await;
    assert!(refused.text().contains("Days must be from 1 to"), "{}", refused.text());
    let query = "{ account { rubric { checks { nodes { name } } levels { totalCount } } } }";
    assert_eq!(data(app, query).await["account"]["rubric"]["checks"]["nodes"], json!([]));
    // Of a check that there is, with other fields.
    let made = create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    let edit = format!("/standards/{}/edit", made["id"].as_str().expect("an id"));
    let shown = browser.post(&edit, &form(&[("tagKey", "none")])).await;
    assert!(shown.text().contains("Of 3 services, 0 would pass, 3 would fail."), "{}", shown.text());
    let page = browser.page(&edit).await;
    assert!(page.contains("value=\"env\""), "{page}");
    let crumbs =
        format!("<a href=\"/standards\">Standards</a> / <a href=\"{}\">Env</a></p>", edit.replace("/edit", ""));
    assert!(page.contains("<h1>Edit Env</h1>") && page.contains(&crumbs), "{page}");
    // A file governs it: it is changed there.
    let lock = "mutation($input: StandardsApplyInput!) { standardsApply(input: $input) { errors { message } } }";
    let file = "version: 1\nstandards: { checks: [{ name: Env, type: tag_defined }] }";
    let input = json!({ "input": { "files": [{ "path": "ops/standards.yml", "text": file }] } });
    assert_eq!(app.query(lock, input).await["data"]["standardsApply"]["errors"], json!([]));
    let page = browser.page(&edit.replace("/edit", "")).await;
    assert!(page.contains("ops/standards.yml, where it is changed") && !page.contains("/edit\""), "{page}");
}

/// The sentence in the form of a page.
fn sentence(page: &str) -> &str {
    let place = page.split("id=\"asks\"").nth(1).and_then(|rest| rest.split_once('>'));
    place.and_then(|(_, rest)| rest.split("</p>").next()).unwrap_or_else(|| panic!("{page}"))
}

#[tokio::test]
async fn the_form_of_a_check_says_in_words_what_it_asks() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let ids = ids(app).await;
    let (level, category) = (ids["Bronze"].as_str().expect("an id"), ids["Safety"].as_str().expect("an id"));
    let mut browser = Browser::of(app, Role::StandardsAdmin).await;
    let new = "/new/check/tag-defined";
    assert_eq!(sentence(&browser.page(new).await), "");
    let made = create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    let place = format!("/standards/{}", made["id"].as_str().expect("an id"));
    let edit = format!("{place}/edit");
    assert_eq!(sentence(&browser.page(&edit).await), "A service passes if it has a tag &quot;env&quot;.");
    let common = [("name", "Site"), ("levelId", level), ("categoryId", category), ("enabled", "yes")];
    let form = |own: &[(&'static str, &'static str)]| -> Vec<(&str, &str)> { [&common[..], own].concat() };
    let expected = "A service passes if it has a tag &quot;site&quot;.";
    for address in [new, &*edit] {
        let shown = browser.post(address, &form(&[("tagKey", "site"), ("do", "preview")])).await;
        assert_eq!(sentence(shown.text()), expected, "{address}");
        let result = shown.text().split("id=\"preview\"").nth(1).expect("a preview");
        assert!(result.contains(expected), "{address}: {result}");
        // The script asks for nothing else. A name that is half written does not matter to it.
        for owner in ["", "Core", "nobody at al"] {
            let said =
                browser.post(address, &form(&[("tagKey", "site"), ("ownerId", owner), ("do", "sentence")])).await;
            assert_eq!((said.status, sentence(said.text())), (200, expected), "{address} {owner}");
            assert!(said.text().starts_with("<p ") && said.text().ends_with("</p>"), "{address}: {}", said.text());
        }
        // Mistakes of the form, and mistakes that the API finds.
        for wrong in [
            &[("tagKey", "site"), ("tagPredicate.value", "x"), ("do", "sentence")][..],
            &[("tagKey", "site"), ("tagPredicate.type", "odd"), ("do", "sentence")],
            &[("tagKey", ""), ("do", "sentence")],
        ] {
            let said = browser.post(address, &form(wrong)).await;
            assert_eq!((said.status, sentence(said.text())), (200, ""), "{address} {wrong:?}");
        }
    }
    // Nothing was saved.
    let query = "{ account { rubric { checks { nodes { name } } } } }";
    assert_eq!(data(app, query).await["account"]["rubric"]["checks"]["nodes"], json!([{ "name": "Env" }]));
    assert_eq!(check(app, &place).await["tagKey"], "env");
    // Levels and their like ask nothing.
    assert!(!browser.page("/new/level").await.contains("id=\"asks\""));
}

#[tokio::test]
async fn levels_categories_and_scorecards_are_made_by_forms() {
    let app = TestApp::start().await;
    let mut browser = Browser::of(&app, Role::StandardsAdmin).await;
    assert!(browser.page("/new/check/tag-defined").await.contains("create a level"));
    data(&app, "mutation { teamCreate(input: { name: \"Core\" }) { errors { message } } }").await;
    assert_eq!(browser.post("/new/level", &[("name", "Bronze"), ("index", "0")]).await.place(), "/standards");
    assert_eq!(browser.post("/new/category", &[("name", "Safety")]).await.place(), "/standards");
    let made = browser
        .post("/new/scorecard", &[("name", "Ours"), ("ownerId", "Core"), ("affectsOverallServiceLevels", "yes")])
        .await;
    assert_eq!(made.place(), "/standards");
    let refused = browser.post("/new/scorecard", &[("name", "Ours"), ("ownerId", "")]).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    let query = "{ account { rubric { levels { nodes { name index } } categories { nodes { name } } } scorecards { nodes { name affectsOverallServiceLevels owner { alias } } } } }";
    let found = data(&app, query).await["account"].clone();
    assert_eq!(found["rubric"]["levels"]["nodes"], json!([{ "name": "Bronze", "index": 0 }]));
    assert_eq!(found["rubric"]["categories"]["nodes"], json!([{ "name": "Safety" }]));
    assert_eq!(
        found["scorecards"]["nodes"],
        json!([{ "name": "Ours", "affectsOverallServiceLevels": true, "owner": { "alias": "core" } }])
    );
    assert!(browser.page("/new/check/tag-defined").await.contains("Ours (scorecard)"));
}

#[tokio::test]
async fn saving_and_switching_keep_what_the_form_cannot_show() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let frequency =
        json!({ "frequencyTimeScale": "week", "frequencyValue": 2, "startingDate": "2026-01-05T15:30:00Z" });
    let made = create(
        app,
        "Manual",
        json!({ "updateRequiresComment": false, "updateFrequency": frequency, "enableOn": "2026-01-06T17:00:00Z" }),
    )
    .await;
    let place = format!("/standards/{}", made["id"].as_str().expect("an id"));
    let before = check(app, &place).await;
    let mut browser = Browser::of(app, Role::StandardsAdmin).await;
    let edit = format!("{place}/edit");
    let mut form = filled(&browser.page(&edit).await);
    form.iter_mut().find(|(name, _)| name == "name").expect("a name").1 = "Renamed".to_owned();
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (&**name, &**value)).collect();
    browser.post(&edit, &form).await.place();
    let mut after = check(app, &place).await;
    assert_eq!(after["name"].take(), "Renamed");
    let mut expected = before.clone();
    expected["name"].take();
    assert_eq!(after, expected);
    browser.post(&format!("{place}/switch"), &[("enabled", "no")]).await.place();
    let off = check(app, &place).await;
    assert_eq!((&off["enabled"], &off["enableOn"]), (&json!(false), &Value::Null));
    assert_eq!(off["updateFrequency"], before["updateFrequency"]);
}
