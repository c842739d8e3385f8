//! Events that no change makes: issues that are open for too long, and service files that are refused.

use rollcall::db::{Read, Write};
use rollcall::entity::event::{Kind, What};
use rollcall::entity::user::Role;
use rollcall::entity::{
    ByAlias as _, Timestamp, code_issue, event, event_subscription, global_id, integration, service,
    service_file_refusal, team, user,
};
use rollcall::events::overdue::AT_ONCE;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, Iterable, QueryFilter, QueryOrder, Set};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::code_issues::{identifier, project};
use crate::harness::integration::custom;
use crate::harness::receiver::{CREATE, Got, Receiver, changed, subscribed};
use crate::harness::smtp::MailServer;

const DAY: i64 = 86_400_000_000;

/// A time in the past.
fn ago(days: i64) -> String {
    Timestamp::from_micros(Timestamp::now().as_micros() - days * DAY).to_string()
}

/// A service whose events may go to these receivers.
async fn started(receivers: &[&Receiver], flags: &[&str]) -> TestApp {
    let hosts: Vec<String> = receivers.iter().map(|receiver| receiver.host()).collect();
    let hosts = hosts.join(",");
    let own = ["--send-events-to", &hosts, "--token-limit", "0", "--ip-limit", "0"];
    TestApp::with(&[&own, flags].concat()).await
}

/// The services Cart, of the team Own in the tier One, and Mail, of the team Other. Returns the ids by name.
async fn services(app: &TestApp) -> Value {
    let made = data(
        app,
        r#"mutation {
            own: teamCreate(input: { name: "Own" }) { team { id } errors { message } }
            other: teamCreate(input: { name: "Other" }) { team { id } errors { message } }
            tier: tierCreate(input: { name: "One", index: 1 }) { tier { id } errors { message } }
            cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "own" }, tierAlias: "one" }) { service { id } errors { message } }
            mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { service { id } errors { message } }
        }"#,
    )
    .await;
    json!({
        "own": made["own"]["team"]["id"], "other": made["other"]["team"]["id"],
        "cart": made["cart"]["service"]["id"], "mail": made["mail"]["service"]["id"],
    })
}

/// A project that is connected to a service. Returns the id of its integration.
async fn scanned(app: &TestApp, service: &Value) -> String {
    let integration = custom(app, "Scanner").await;
    let project = project(app, &integration, "p1", "shop/cart").await;
    let connect = format!(
        "codeIssueProjectResourceConnect(input: {{ codeIssueProjectIds: [\"{project}\"], resourceId: {service} }})"
    );
    changed(app, &connect).await;
    integration
}

async fn issue(app: &TestApp, integration: &str, name: &str, severity: &str, introduced_at: Option<String>) {
    let upsert = "mutation($input: CodeIssueInput!) { codeIssueUpsert(input: $input) { errors { message } } }";
    let identifier = json!({ "codeIssueProject": identifier(integration, "p1"), "externalId": name });
    let input = json!({
        "identifier": identifier, "name": name, "issueCategory": "Vulnerability", "severity": severity, "introducedAt": introduced_at,
    });
    let done = app.query(upsert, json!({ "input": input })).await;
    assert_eq!(done["data"]["codeIssueUpsert"]["errors"], json!([]), "{done}");
}

/// The types and subjects of messages, sorted.
fn about(got: &[Got]) -> Vec<(String, String)> {
    let mut about: Vec<(String, String)> = got.iter().map(Got::about).collect();
    about.sort();
    about
}

#[tokio::test]
async fn a_critical_issue_that_is_open_for_too_long_is_told_once_to_whom_it_concerns() {
    let (told, silent) = (Receiver::taking(), Receiver::taking());
    let app = started(&[&told, &silent], &["--code-issues-overdue-after", "10d"]).await;
    let ids = services(&app).await;
    let integration = scanned(&app, &ids["cart"]).await;
    for (name, severity, introduced_at) in [
        ("Old", "critical", Some(ago(11))),
        ("Loud", "CRITICAL", Some(ago(400))),
        ("Young", "critical", Some(ago(9))),
        ("New", "critical", None),
        ("High", "high", Some(ago(400))),
    ] {
        issue(&app, &integration, name, severity, introduced_at).await;
    }
    let events = json!(["code_issue_overdue"]);
    for filter in
        [json!({ "teamIds": [ids["own"]] }), json!({ "serviceIds": [ids["cart"]] }), json!({ "tierAliases": ["one"] })]
    {
        let mut more = filter;
        more["events"] = events.clone();
        subscribed(&app, &told.url(), more).await;
    }
    for filter in [
        json!({ "teamIds": [ids["other"]] }),
        json!({ "serviceIds": [ids["mail"]] }),
        json!({ "tierAliases": ["tier_3"] }),
    ] {
        let mut more = filter;
        more["events"] = events.clone();
        subscribed(&app, &silent.url(), more).await;
    }
    let expected = |names: [(&str, usize); 2]| -> Vec<(String, String)> {
        let each = |(name, times): (&str, usize)| vec![("code_issue.overdue".to_owned(), name.to_owned()); times];
        names.into_iter().flat_map(each).collect()
    };
    for _ in 0..2 {
        let sending = tokio::spawn(app.events.clone().run());
        assert_eq!(about(&told.exactly(6).await), expected([("Loud", 3), ("Old", 3)]));
        sending.abort();
    }
    let old = told.got().into_iter().find(|got| got.about().1 == "Old").expect("a message").body();
    let issue_told = &old["data"]["codeIssue"];
    assert_eq!(
        (&old["data"]["what"], &issue_told["project"], &issue_told["services"], &issue_told["severity"]),
        (&json!("overdue"), &json!("shop/cart"), &json!(["cart"]), &json!("critical"))
    );
    assert!(issue_told["openSince"].as_str().is_some_and(|since| since.starts_with(&ago(11)[..10])), "{old}");
    // The scanner has found it again after it was gone.
    let delete = format!(
        "codeIssueDelete(input: {{ codeIssueProject: {{ integration: {{ id: \"{integration}\" }}, externalId: \"p1\" }}, externalId: \"Old\" }})"
    );
    changed(&app, &delete).await;
    issue(&app, &integration, "Old", "critical", Some(ago(11))).await;
    let _sending = tokio::spawn(app.events.clone().run());
    assert_eq!(about(&told.exactly(9).await), expected([("Loud", 3), ("Old", 6)]));
    silent.exactly(0).await;
}

#[tokio::test]
async fn people_are_told_of_an_overdue_issue_in_a_sentence() {
    let receiver = Receiver::taking();
    let app = started(&[&receiver], &[]).await;
    let ids = services(&app).await;
    let integration = scanned(&app, &ids["cart"]).await;
    // The time is 30 days, unless the settings say otherwise.
    issue(&app, &integration, "Injection <b>", "critical", Some(ago(31))).await;
    issue(&app, &integration, "Young", "critical", Some(ago(29))).await;
    subscribed(&app, &receiver.url(), json!({ "events": ["code_issue_overdue"], "form": "slack" })).await;
    let _sending = tokio::spawn(app.events.clone().run());
    let got = receiver.exactly(1).await;
    let since = &ago(31)[..10];
    let link = format!("<http://{}/services/cart#issues|Injection &lt;b&gt;>", app.address);
    let text = got[0].body()["text"].as_str().expect("a text").to_owned();
    let told = format!(
        "The critical code issue {link} of cart has been open since {since}; project: shop/cart; category: Vulnerability. (20"
    );
    assert!(text.starts_with(&told), "{text}");
}

#[tokio::test]
async fn very_many_overdue_issues_are_told_a_portion_at_a_time_longest_open_first() {
    let receiver = Receiver::taking();
    let app = started(&[&receiver], &[]).await;
    let ids = services(&app).await;
    let integration = scanned(&app, &ids["cart"]).await;
    issue(&app, &integration, "0", "critical", Some(ago(40))).await;
    let first = app.db.read().all(code_issue::Entity::find()).await.expect("an issue").remove(0);
    const MORE: i64 = 30;
    let all = AT_ONCE as i64 + MORE;
    let stored = app.db.write(async |tx| {
        let row = |number: i64| code_issue::ActiveModel {
            code_issue_project_id: Set(first.code_issue_project_id),
            external_id: Set(number.to_string()),
            name: Set(number.to_string()),
            issue_category: Set("Vulnerability".to_owned()),
            severity: Set(Some("critical".to_owned())),
            // The later ones are open for longer.
            introduced_at: Set(Some(Timestamp::from_micros(first.open_since().as_micros() - number))),
            created_at: Set(first.created_at),
            updated_at: Set(first.updated_at),
            ..Default::default()
        };
        tx.insert_all((1..all).map(row).collect()).await
    });
    stored.await.expect("issues");
    subscribed(&app, &receiver.url(), json!({ "events": ["code_issue_overdue"] })).await;
    let told = async || {
        let told = code_issue::Entity::find().filter(code_issue::Column::OverdueToldAt.is_not_null());
        app.db.read().count(told).await.expect("a count") as i64
    };
    for number in [AT_ONCE as i64, all] {
        let sending = tokio::spawn(app.events.clone().run());
        let got = receiver.exactly(usize::try_from(number).expect("a number")).await;
        assert_eq!(told().await, number);
        let left = all - number;
        let names = got.iter().map(|got| got.about().1.parse::<i64>().expect("a number"));
        assert_eq!(names.min(), Some(left), "those that are open for longest come first");
        sending.abort();
    }
}

#[tokio::test]
async fn a_code_issue_concerns_the_services_of_its_project() {
    let (told, silent) = (Receiver::taking(), Receiver::taking());
    let app = started(&[&told, &silent], &[]).await;
    let ids = services(&app).await;
    let integration = scanned(&app, &ids["cart"]).await;
    let events = ["critical_code_issue_created"];
    subscribed(&app, &told.url(), json!({ "events": events, "serviceIds": [ids["cart"]] })).await;
    subscribed(&app, &told.url(), json!({ "events": events, "teamIds": [ids["own"]] })).await;
    subscribed(&app, &silent.url(), json!({ "events": events, "teamIds": [ids["other"]] })).await;
    let _sending = tokio::spawn(app.events.clone().run());
    issue(&app, &integration, "Injection", "critical", None).await;
    let expected = ("code_issue.critical_created".to_owned(), "Injection".to_owned());
    assert_eq!(about(&told.exactly(2).await), vec![expected; 2]);
    silent.exactly(0).await;
}

/// The rows that messages of every kind are about.
struct Rows {
    cart: i64,
    own: i64,
    issue: i64,
    alone: i64,
    integration: i64,
    user: i64,
    subscription: i64,
}

/// An event: the kind, what has happened, to which row, the service that it belongs to, and the path of the page that a
/// message leads to.
type Told = (Kind, What, &'static str, i64, Option<i64>, String);

/// Events of all kinds.
fn of_all_kinds(rows: &Rows) -> Vec<Told> {
    let Rows { cart, own, issue, alone, integration, user, subscription } = *rows;
    const GONE: i64 = 4_711;
    let id = |class: &str, number: i64| global_id::text(class, number);
    let listed = || format!("/integrations/{}", id("Integration", integration));
    let (to_cart, issues) = (|part: &str| format!("/services/cart{part}"), || "/services/cart#issues".to_owned());
    let of = |kind: Kind, what: What, path: String| (kind, what, "Service", cart, Some(cart), path);
    let other = |kind: Kind, what: What, class: &'static str, id: i64, path: &str| {
        (kind, what, class, id, None, path.to_owned())
    };
    vec![
        of(Kind::ServiceCreated, What::Created, to_cart("")),
        of(Kind::ServiceChanged, What::Changed, to_cart("")),
        of(Kind::ServiceOwnerChanged, What::Changed, to_cart("")),
        (Kind::ServiceDeleted, What::Deleted, "Service", GONE, Some(GONE), "/services".to_owned()),
        other(Kind::TeamCreated, What::Created, "Team", own, "/teams/own"),
        other(Kind::TeamChanged, What::Changed, "Team", own, "/teams/own"),
        other(Kind::TeamDeleted, What::Deleted, "Team", GONE, "/teams"),
        (Kind::UserDeleted, What::Changed, "User", user, None, format!("/users/{user}")),
        other(Kind::UserDeleted, What::Deleted, "User", GONE, "/users"),
        of(Kind::DeployRecorded, What::Deployed, to_cart("/deploys")),
        of(Kind::DeployFailed, What::Deployed, to_cart("/deploys")),
        of(Kind::DeployRecovered, What::Deployed, to_cart("/deploys")),
        (Kind::CriticalCodeIssueCreated, What::Created, "CodeIssue", issue, None, issues()),
        (Kind::CodeIssueOverdue, What::Overdue, "CodeIssue", issue, None, issues()),
        // The project of this one is connected to no service.
        (Kind::CodeIssueOverdue, What::Overdue, "CodeIssue", alone, None, listed()),
        other(Kind::SuggestionCreated, What::Created, "ServiceSuggestion", 1, "/suggestions"),
        other(Kind::TokenExpiring, What::Expiring, "Token", 1, "/tokens"),
        of(Kind::CheckPassed, What::Checked, to_cart("/standards")),
        of(Kind::CheckFailed, What::Checked, to_cart("/standards")),
        of(Kind::LevelReached, What::Rated, to_cart("/standards")),
        of(Kind::LevelLost, What::Rated, to_cart("/standards")),
        of(Kind::ServiceFileRejected, What::FileRejected, to_cart("")),
        (
            Kind::Test,
            What::Tested,
            "EventSubscription",
            subscription,
            None,
            format!("/events/{}", id("EventSubscription", subscription)),
        ),
        // What the audit tells, and what has no page of its own.
        (Kind::ObjectChanged, What::Changed, "User", user, None, format!("/users/{user}")),
        (Kind::ObjectChanged, What::Changed, "Integration", integration, None, listed()),
        (Kind::ObjectChanged, What::Changed, "Tool", 1, Some(cart), to_cart("")),
        (Kind::ObjectChanged, What::Deleted, "ServiceDependency", 1, Some(cart), to_cart("")),
        other(Kind::ObjectChanged, What::Changed, "Tier", 1, "/definitions"),
        other(Kind::ObjectChanged, What::Deleted, "Filter", 1, "/definitions"),
        other(Kind::ObjectChanged, What::Changed, "Level", 1, "/standards"),
        other(Kind::ObjectChanged, What::Deleted, "Check", 1, "/standards"),
        other(Kind::ObjectChanged, What::Changed, "CodeIssueProject", 1, "/integrations"),
        other(Kind::ObjectChanged, What::Deleted, "Repository", 1, "/repositories"),
        other(Kind::ObjectChanged, What::Deleted, "InfrastructureResource", 1, "/infrastructure"),
        other(Kind::ObjectChanged, What::Deleted, "System", 1, "/systems"),
        other(Kind::ObjectChanged, What::Deleted, "Domain", 1, "/domains"),
    ]
}

#[tokio::test]
async fn a_message_of_every_kind_leads_to_a_page() {
    let server = MailServer::taking();
    let url = server.url();
    let mail = ["--smtp-url", &*url, "--mail-from", "rollcall@example.com"];
    let app = TestApp::with(&[&mail[..], &["--token-limit", "0", "--ip-limit", "0"]].concat()).await;
    let ids = services(&app).await;
    let integration = scanned(&app, &ids["cart"]).await;
    issue(&app, &integration, "Injection", "critical", None).await;
    project(&app, &integration, "p2", "shop/alone").await;
    let upsert = "mutation($input: CodeIssueInput!) { codeIssueUpsert(input: $input) { errors { message } } }";
    let alone = json!({
        "identifier": { "codeIssueProject": identifier(&integration, "p2"), "externalId": "Alone" },
        "name": "Alone", "issueCategory": "Vulnerability", "severity": "critical",
    });
    let done = app.query(upsert, json!({ "input": alone })).await;
    assert_eq!(done["data"]["codeIssueUpsert"]["errors"], json!([]), "{done}");
    let admin = Browser::of(&app, Role::Admin).await;
    let by_mail =
        json!({ "name": "All", "form": "email", "receiverEmail": "ada@example.com", "events": ["team_deleted"] });
    let made = app.query(CREATE, json!({ "input": by_mail })).await;
    assert_eq!(made["data"]["eventSubscriptionCreate"]["errors"], json!([]), "{made}");

    let (db, now) = (app.db.read(), Timestamp::now());
    let issues = db.all(code_issue::Entity::find()).await.expect("issues");
    let issue = |name: &str| issues.iter().find(|issue| issue.name == name).expect("an issue").id;
    let integrations = db.all(integration::Entity::find()).await.expect("integrations");
    let of_alias =
        async |alias: &str| service::Entity::by_alias(db, alias).await.expect("a query").expect("a service").id;
    let rows = Rows {
        cart: of_alias("cart").await,
        own: team::Entity::by_alias(db, "own").await.expect("a query").expect("a team").id,
        issue: issue("Injection"),
        alone: issue("Alone"),
        integration: integrations.first().expect("an integration").id,
        user: db.all(user::Entity::find()).await.expect("users").remove(0).id,
        subscription: db.all(event_subscription::Entity::find()).await.expect("subscriptions").remove(0).id,
    };
    let all = of_all_kinds(&rows);
    for kind in Kind::iter() {
        assert!(all.iter().any(|(known, ..)| *known == kind), "{kind:?} is left out");
    }
    let stored = app.db.write(async |tx| {
        for (place, (kind, what, class, id, service, _)) in all.iter().enumerate() {
            let event = event::ActiveModel {
                at: Set(now),
                what: Set(*what),
                subject_class: Set((*class).to_owned()),
                subject_id: Set(Some(*id)),
                subject_name: Set(Some(format!("<{place}>"))),
                service_id: Set(*service),
                detail: Set("{}".to_owned()),
                ..Default::default()
            };
            let event = tx.insert(event).await?;
            tx.insert(rollcall::events::delivery(rows.subscription, &event, *kind, now)).await?;
        }
        Ok::<_, rollcall::db::Error>(())
    });
    stored.await.expect("deliveries");
    let _sending = tokio::spawn(app.events.clone().run());
    let got = server.exactly(all.len()).await;
    let here = format!("http://{}", app.address);
    for (place, (kind, _, class, .., path)) in all.iter().enumerate() {
        let mail = got.iter().find(|mail| mail.header("subject").contains(&format!("<{place}>")));
        let text = mail.unwrap_or_else(|| panic!("no mail of {kind:?} about {class}")).text();
        let own = text.split("\n-- \n").next().expect("a text");
        let links: Vec<&str> = own.lines().filter_map(|line| line.strip_prefix(&*here)).collect();
        assert_eq!(links, [path], "{kind:?} {class}: {own}");
        let (page, anchor) = path.split_once('#').map_or((&**path, None), |(page, anchor)| (page, Some(anchor)));
        let page = admin.page(page).await;
        assert!(anchor.is_none_or(|anchor| page.contains(&format!("id=\"{anchor}\""))), "{path}");
    }
}

const APPLY: &str =
    "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }";

/// The input of a mutation that applies a file of the repository `org/cart`.
fn file(text: &str, commit: &str) -> Value {
    let files = json!([{ "path": "services/cart/rollcall.yml", "text": text }]);
    json!({ "files": files, "repository": "https://github.com/org/cart", "commit": commit })
}

/// The mistakes of an answer.
fn mistakes(answer: &Value) -> Vec<String> {
    let errors = answer["data"]["serviceFilesApply"]["errors"].as_array().unwrap_or_else(|| panic!("{answer}"));
    errors.iter().map(|error| error["message"].as_str().expect("a text").to_owned()).collect()
}

async fn apply(app: &TestApp, input: Value) -> Vec<String> {
    mistakes(&app.query(APPLY, json!({ "input": input })).await)
}

/// As if the last refusal had been told earlier.
async fn a_day_passes(app: &TestApp) {
    use service_file_refusal::Column::ToldAt;
    let earlier = service_file_refusal::Entity::update_many().col_expr(ToldAt, Expr::col(ToldAt).sub(DAY));
    app.db.write(async |tx| tx.exec(earlier).await).await.expect("changed");
}

#[tokio::test]
async fn a_refused_service_file_is_told_once_for_each_text_until_one_is_accepted() {
    let (told, silent) = (Receiver::taking(), Receiver::taking());
    let app = started(&[&told, &silent], &[]).await;
    let ids = services(&app).await;
    const GOOD: &str = "version: 1\nservice:\n  name: Cart\n";
    const WRONG: &str = "version: 1\nservice:\n  name: Cart\n  owner: nobody\n  tier: none\n";
    assert_eq!(apply(&app, file(GOOD, "c0ffee01")).await, Vec::<String>::new());
    for filter in [json!({ "teamIds": [ids["own"]] }), json!({ "teamIds": [ids["other"]] })] {
        let mut more = filter;
        more["events"] = json!(["service_file_rejected"]);
        let receiver = if more["teamIds"][0] == ids["own"] { &told } else { &silent };
        subscribed(&app, &receiver.url(), more).await;
    }
    let _sending = tokio::spawn(app.events.clone().run());
    let refused = apply(&app, file(WRONG, "c0ffee02")).await;
    assert_eq!(refused.len(), 2, "{refused:?}");
    let body = told.exactly(1).await[0].body();
    assert_eq!((&body["type"], &body["data"]["subject"]["alias"]), (&json!("service_file.rejected"), &json!("cart")));
    let expected = json!({
        "path": "services/cart/rollcall.yml", "repository": "https://github.com/org/cart", "commit": "c0ffee02",
        "mistakes": refused, "mistakeCount": 2,
    });
    assert_eq!(body["data"]["file"], expected);
    assert_eq!(body["data"]["by"], json!({ "kind": "token", "name": "a test" }));
    // The same text is told once, at any time, and another one once a day.
    const BROKEN: &str = "version: 1\nservice: [\n";
    for text in [WRONG, BROKEN] {
        assert_ne!(apply(&app, file(text, "c0ffee03")).await, Vec::<String>::new());
    }
    told.exactly(1).await;
    a_day_passes(&app).await;
    assert_ne!(apply(&app, file(WRONG, "c0ffee04")).await, Vec::<String>::new());
    // A dry run finds mistakes before they do harm.
    let mut dry = file(BROKEN, "c0ffee05");
    dry["dryRun"] = json!(true);
    assert_ne!(apply(&app, dry).await, Vec::<String>::new());
    told.exactly(1).await;
    // Nobody can read which service it names, but it governs one.
    assert_ne!(apply(&app, file(BROKEN, "c0ffee05")).await, Vec::<String>::new());
    let body = told.exactly(2).await[1].body();
    assert_eq!(
        (&body["data"]["subject"]["alias"], &body["data"]["file"]["commit"]),
        (&json!("cart"), &json!("c0ffee05"))
    );
    // One that is accepted ends that.
    assert_eq!(apply(&app, file(GOOD, "c0ffee06")).await, Vec::<String>::new());
    assert_eq!(app.db.read().count(service_file_refusal::Entity::find()).await.expect("a count"), 0);
    assert_ne!(apply(&app, file(WRONG, "c0ffee07")).await, Vec::<String>::new());
    told.exactly(3).await;
    silent.exactly(0).await;
}

#[tokio::test]
async fn of_several_refused_files_those_with_mistakes_are_told_and_only_of_services_that_there_are() {
    let receiver = Receiver::taking();
    let app = started(&[&receiver], &[]).await;
    services(&app).await;
    subscribed(&app, &receiver.url(), json!({ "events": ["service_file_rejected"], "form": "slack" })).await;
    let _sending = tokio::spawn(app.events.clone().run());
    let files = json!([
        { "path": "cart.yml", "text": "version: 1\nservice: { name: Cart }\n" },
        { "path": "mail.yml", "text": "version: 1\nservice: { name: Mail, owner: nobody }\n" },
        { "path": "new.yml", "text": "version: 1\nservice: { name: New, owner: nobody }\n" },
    ]);
    assert_eq!(apply(&app, json!({ "files": files })).await.len(), 2);
    let got = receiver.exactly(1).await;
    let text = got[0].body()["text"].as_str().expect("a text").to_owned();
    assert!(
        text.starts_with("A service file of <http://")
            && text.contains("/services/mail|Mail>, applied by a test, was refused: mail.yml:2:"),
        "{text}"
    );
    assert!(text.contains("nobody") && !text.contains("more mistake"), "{text}");
}

#[tokio::test]
async fn a_refused_file_is_told_only_of_services_that_its_sender_may_change() {
    let receiver = Receiver::taking();
    let app = started(&[&receiver], &[]).await;
    services(&app).await;
    let governed = json!({
        "files": [{ "path": "mail.yml", "text": "version: 1\nservice: { name: Mail }\n" }],
        "repository": "https://github.com/org/mail",
    });
    assert_eq!(apply(&app, governed).await, Vec::<String>::new());
    let till = r#"serviceCreate(input: { name: "Till", ownerInput: { alias: "own" } })"#;
    changed(&app, till).await;
    subscribed(&app, &receiver.url(), json!({ "events": ["service_file_rejected"] })).await;
    let _sending = tokio::spawn(app.events.clone().run());
    let member = Browser::of(&app, Role::TeamMember).await;
    changed(&app, r#"teamUpdate(input: { alias: "own", members: { email: "teammember@example.com" } })"#).await;
    let send = async |path: &str, text: &str, repository: Option<&str>| {
        let input = json!({ "files": [{ "path": path, "text": text }], "repository": repository });
        mistakes(&member.query(APPLY, json!({ "input": input })).await)
    };
    const MAIL: Option<&str> = Some("https://github.com/org/mail");
    const OTHERS: &str = "version: 1\nservice: { name: Mail, language: Rust }\n";
    // Neither by its name, nor as a file that governs it, nor with mistakes.
    for (text, repository) in [(OTHERS, None), (OTHERS, MAIL), ("version: 1\nservice: [\n", MAIL)] {
        assert_ne!(send("mail.yml", text, repository).await, Vec::<String>::new());
    }
    receiver.exactly(0).await;
    let both = format!("version: 1\nservice: {{ name: Cart, language: Rust }}\n---\n{OTHERS}");
    assert_ne!(send("both.yml", &both, MAIL).await, Vec::<String>::new());
    let got = receiver.exactly(1).await;
    let body = got[0].body();
    assert_eq!((&body["data"]["subject"]["alias"], &body["data"]["by"]["kind"]), (&json!("cart"), &json!("user")));
    let said = body["data"]["file"]["mistakes"][0].as_str().expect("a mistake");
    assert!(said.contains("the service \"mail\": you can change only your own teams"), "{body}");
    // Components of Backstage are found by their references.
    let component = |name: &str| {
        format!(
            "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {{ name: {name}, description: d }}\n\
             spec: {{ type: service, lifecycle: production }}\n"
        )
    };
    let components = format!("{}---\n{}", component("till"), component("mail"));
    assert_ne!(send("catalog-info.yaml", &components, MAIL).await, Vec::<String>::new());
    let got = receiver.exactly(2).await;
    assert_eq!(got[1].body()["data"]["subject"]["alias"], json!("till"));
    let rows = service_file_refusal::Entity::find().order_by_asc(service_file_refusal::Column::ServiceId);
    let rows = app.db.read().all(rows).await.expect("rows");
    assert_eq!(rows.len(), 2, "nothing is kept of the services of others: {rows:?}");
}

#[tokio::test]
async fn nothing_is_kept_of_refused_files_while_nobody_wants_to_know() {
    let receiver = Receiver::taking();
    let app = started(&[&receiver], &[]).await;
    services(&app).await;
    const WRONG: &str = "version: 1\nservice:\n  name: Cart\n  owner: nobody\n";
    assert_ne!(apply(&app, file(WRONG, "c0ffee01")).await, Vec::<String>::new());
    assert_eq!(app.db.read().count(service_file_refusal::Entity::find()).await.expect("a count"), 0);
    // Who subscribes later learns of the next refusal of the same text.
    subscribed(&app, &receiver.url(), json!({ "events": ["service_file_rejected"] })).await;
    let _sending = tokio::spawn(app.events.clone().run());
    assert_ne!(apply(&app, file(WRONG, "c0ffee01")).await, Vec::<String>::new());
    receiver.exactly(1).await;
}
