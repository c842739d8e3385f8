//! What people see on pages: names in fields, words in the place of the API's, and pages that can be used wherever one is.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{create, ids, services};
use crate::harness::webhook::Endpoint;

/// A catalogue with something of each kind that fields name.
async fn shop() -> TestApp {
    let app = TestApp::start().await;
    let query = r#"mutation {
        domain: domainCreate(input: { name: "Web Shop" }) { errors { message } }
        system: systemCreate(input: { name: "Check Out" }) { errors { message } }
        core: teamCreate(input: { name: "Core Team" }) { errors { message } }
        pay: teamCreate(input: { name: "Pay Team" }) { errors { message } }
        cart: serviceCreate(input: { name: "Shopping Cart", ownerInput: { alias: "core_team" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail Out" }) { errors { message } }
        code: repositoryCreate(input: { name: "Mail code", defaultAlias: "code-of-mail" }) { errors { message } }
        lena: userInvite(email: "lena@example.com", input: { name: "Lena Fischer" }) { errors { message } }
        ben: userInvite(email: "ben@example.com", input: { name: "Ben Asher" }) { errors { message } }
    }"#;
    for (_, done) in data(&app, query).await.as_object().expect("payloads") {
        assert_eq!(done["errors"], json!([]));
    }
    app
}

/// The input of a page with this name.
fn input<'a>(page: &'a str, name: &str) -> &'a str {
    let inputs = || page.split("<input").skip(1).filter_map(|rest| rest.split_once('>')).map(|(input, _)| input);
    let named = format!("name=\"{name}\"");
    inputs().find(|input| input.contains(&named)).unwrap_or_else(|| panic!("no field {name} in {page}"))
}

#[tokio::test]
async fn every_field_that_names_something_offers_the_first_of_them() {
    let app = shop().await;
    let browser = Browser::of(&app, Role::Admin).await;
    for (path, field, part, offered) in [
        ("/new/service", "ownerInput.alias", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/service", "parent.alias", "systems", "<option value=\"check_out\">Check Out</option>"),
        ("/new/service", "dependencies.0.service.alias", "services", "value=\"mail_out\">Mail Out</option>"),
        (
            "/new/service",
            "repositories.0.repository.alias",
            "repositories",
            "value=\"code-of-mail\">Mail code</option>",
        ),
        (
            "/services/shopping_cart/repositories",
            "repository.alias",
            "repositories",
            "value=\"code-of-mail\">Mail code</option>",
        ),
        (
            "/services/shopping_cart/on-call",
            "externalEmail",
            "users",
            "<option value=\"lena@example.com\">Lena Fischer</option>",
        ),
        ("/repositories/1", "ownerId", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/system", "ownerId", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/system", "parent.alias", "domains", "<option value=\"web_shop\">Web Shop</option>"),
        ("/new/domain", "ownerId", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/campaign", "ownerId", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/scorecard", "ownerId", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/team", "parentTeam.alias", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/team", "managerEmail", "users", "<option value=\"lena@example.com\">Lena Fischer</option>"),
        ("/teams/core_team/edit", "email", "users", "<option value=\"lena@example.com\">Lena Fischer</option>"),
        ("/teams/core_team/edit", "successor", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/systems/check_out/edit", "childServices.0.alias", "services", "value=\"mail_out\">Mail Out</option>"),
        ("/domains/web_shop/edit", "childSystems.0.alias", "systems", "value=\"check_out\">Check Out</option>"),
        (
            "/services/shopping_cart/dependencies",
            "dependencyKey.destinationIdentifier.alias",
            "services",
            "value=\"mail_out\">Mail Out</option>",
        ),
        ("/new/event-subscription", "teamIds", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/new/event-subscription", "serviceIds", "services", "value=\"mail_out\">Mail Out</option>"),
        ("/deploys", "service", "services", "value=\"mail_out\">Mail Out</option>"),
        ("/deploys", "team", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/deploys", "system", "systems", "<option value=\"check_out\">Check Out</option>"),
        ("/deploys", "domain", "domains", "<option value=\"web_shop\">Web Shop</option>"),
        ("/delivery", "name", "services", "value=\"mail_out\">Mail Out</option>"),
        ("/delivery?kind=domain", "name", "domains", "<option value=\"web_shop\">Web Shop</option>"),
        ("/services", "owner", "teams", "<option value=\"pay_team\">Pay Team</option>"),
        ("/services", "ownerAlias", "teams", "<option value=\"pay_team\">Pay Team</option>"),
    ] {
        let page = browser.page(path).await;
        let input = input(&page, field);
        assert!(input.contains(&format!("list=\"list-{field}\"")), "{path}: {input}");
        assert!(input.contains(&format!("data-find=\"{part}\"")), "{path}: {input}");
        let list = page.split_once(&format!("<datalist id=\"list-{field}\">")).expect("a list").1;
        assert!(list.split("</datalist>").next().expect("its end").contains(offered), "{path} {field}: {list}");
    }
}

#[tokio::test]
async fn forms_take_the_names_of_teams_people_and_services() {
    let app = shop().await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let form = [("name", "Core Team"), ("managerEmail", "Lena Fischer"), ("parentTeam.alias", "Pay Team")];
    assert_eq!(admin.post("/teams/core_team/edit", &form).await.location(), "/teams/core_team");
    assert_eq!(admin.post("/teams/core_team/member", &[("email", "Ben Asher")]).await.status, 303);
    let refused = admin.post("/teams/core_team/member", &[("email", "Nobody Known")]).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    let team = "{ account { team(alias: \"core_team\") { manager { email } parentTeam { alias } memberships { nodes { user { email } } } } } }";
    let team = data(&app, team).await["account"]["team"].clone();
    assert_eq!(team["manager"]["email"], "lena@example.com");
    assert_eq!(team["parentTeam"]["alias"], "pay_team");
    let members: Vec<_> = team["memberships"]["nodes"].as_array().expect("members").iter().collect();
    assert!(members.iter().any(|one| one["user"]["email"] == "ben@example.com"), "{members:?}");

    let form = [
        ("name", "Failures"),
        ("form", "slack"),
        ("receiverUrl", "https://hooks.example.com/1"),
        ("events", "deploy_failed"),
        ("teamIds", "Core Team"),
        ("teamIds.more", "Pay Team\r\n\r\ncore_team\r\n"),
        ("serviceIds", "Shopping Cart"),
    ];
    let made = admin.post("/new/event-subscription", &form).await;
    assert_eq!(made.status, 200, "{made:?}");
    let of = "{ account { eventSubscriptions { nodes { teams { alias } services { alias } } } } }";
    let of = data(&app, of).await["account"]["eventSubscriptions"]["nodes"].clone();
    let teams = json!([{ "alias": "core_team" }, { "alias": "pay_team" }]);
    assert_eq!(of, json!([{ "teams": teams, "services": [{ "alias": "shopping_cart" }] }]));

    assert_eq!(admin.get("/delivery?system=Check+Out").await.status, 200);
    assert_eq!(admin.get("/delivery?system=Nothing+Known").await.status, 400);
    // An invitation to a name that somebody has is not one to their address.
    assert_eq!(admin.post("/users", &[("email", "Ben Asher"), ("role", "user")]).await.status, 422);
    assert_eq!(admin.post("/teams/core_team/delete", &[("successor", "Pay Team")]).await.location(), "/teams");
    let owner = "{ account { service(alias: \"shopping_cart\") { owner { alias } } } }";
    assert_eq!(data(&app, owner).await["account"]["service"]["owner"]["alias"], "pay_team");
}

#[tokio::test]
async fn what_changes_the_selected_services_stands_above_them() {
    let app = shop().await;
    let mut member = Browser::of(&app, Role::User).await;
    let page = member.page("/services").await;
    let form = page.split_once("action=\"/services/change\"").expect("the form").1;
    let at = |text: &str| form.find(text).unwrap_or_else(|| panic!("no {text} in {form}"));
    assert!(at("<details class=\"bulk\"><summary>Change the selected services") < at("<table"), "{form}");
    assert!(at(">Preview</button>") < at("<table") && at("<table") < at("</form>"), "{form}");
    // The style sheet keeps it in sight, without a script.
    let style = page.split('"').find(|text| text.starts_with("/assets/style")).expect("a style sheet");
    assert!(member.page(style).await.contains(".bulk { position: sticky;"));
    // A form that was begun is open, with what it says.
    let refused = member.post("/services/change", &[("ownerAlias", "Pay Team")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("<details class=\"bulk\" open>"), "{}", refused.text());
    assert!(input(refused.text(), "ownerAlias").contains("value=\"pay_team\""), "{}", refused.text());
}

#[tokio::test]
async fn the_history_says_values_of_properties_as_people_do() {
    let app = shop().await;
    let set = |value: &str| {
        let value = json!(value).to_string();
        format!(
            "mutation {{ propertyAssign(input: {{ owner: {{ alias: \"shopping_cart\" }}, definition: {{ alias: \"hosting\" }},
                value: {value}, runValidation: false }}) {{ errors {{ message }} }} }}"
        )
    };
    let define =
        "mutation { propertyDefinitionCreate(input: { name: \"Hosting\", schema: \"{}\" }) { errors { message } } }";
    assert_eq!(data(&app, define).await["propertyDefinitionCreate"]["errors"], json!([]));
    for value in [r#""in <house>""#, r#"["eu", "us"]"#, r#"{"region": "eu", "zones": [1, 2]}"#, "true"] {
        assert_eq!(data(&app, &set(value)).await["propertyAssign"]["errors"], json!([]), "{value}");
    }
    let link = "mutation { toolCreate(input: { serviceAlias: \"shopping_cart\", displayName: \"Up\", url: \"https://example.com\", category: health_checks }) { errors { message } } }";
    data(&app, link).await;
    let browser = Browser::of(&app, Role::Admin).await;
    for path in ["/services/shopping_cart/history", "/audit"] {
        let page = browser.page(path).await;
        for said in [
            "value: </span><span class=\"soft\">nothing</span> → in &lt;house&gt;<",
            "value: </span>in &lt;house&gt; → eu, us<",
            "value: </span>eu, us → region: eu, zones: (1, 2)<",
            "value: </span>region: eu, zones: (1, 2) → yes<",
            "→ health checks<",
        ] {
            assert!(page.contains(said), "{path}: {said}: {page}");
        }
        assert!(!page.contains("→ &quot;") && !page.contains("→ {") && !page.contains("→ ["), "{path}: {page}");
    }
    assert!(browser.page("/services/shopping_cart").await.contains("<dd>yes</dd>"));
}

/// The text that people read in a page's main part: without tags, codes and hidden values.
fn read(page: &str) -> String {
    let main = page.split_once("<main").expect("a main part").1;
    main.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

/// Whether a word is one of the API and not of people.
fn is_of_the_api(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let humps = word.as_bytes().windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    let is_known = [
        "OpenTelemetry",
        "GitHub",
        "GitLab",
        "PagerDuty",
        "FireHydrant",
        "CloudEvent",
        "AsyncAPI",
        "OpenAPI",
        "GraphQL",
    ];
    word.contains('_') || word == "null" || (humps && !is_known.iter().any(|known| word.contains(known)))
}

#[tokio::test]
async fn forms_of_checks_are_in_the_words_of_people() {
    let app = shop().await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let list = admin.page("/new/check").await;
    let kinds: Vec<&str> = list.split('"').filter(|part| part.starts_with("/new/check/")).collect();
    assert!(kinds.len() > 15, "{kinds:?}");
    for path in kinds.iter().copied().chain(["/new/check", "/new/level", "/new/category", "/new/scorecard"]) {
        let text = read(&admin.page(path).await);
        let found: Vec<&str> = text.split_whitespace().filter(|word| is_of_the_api(word)).collect();
        assert!(found.is_empty(), "{path}: {found:?}");
    }
    // What the API takes as a text is chosen where it is one of a few words.
    let form = admin.page("/new/check/service-ownership").await;
    assert!(form.contains("<option value=\"microsoft_teams\">Microsoft Teams</option>"), "{form}");
    // What a check of events needs has a form, too.
    assert!(admin.page("/new/check/custom-event").await.contains("href=\"/integrations/new?type=customEvent\""));
    let made = admin.post("/integrations", &[("type", "customEvent"), ("name", "Scanner")]).await;
    let page = admin.page(made.location()).await;
    assert!(page.contains("Event integration, added") && page.contains("New check of its events"), "{page}");
    assert!(!admin.page("/new/check/custom-event").await.contains("There is no integration yet."));
}

#[tokio::test]
async fn empty_pages_name_no_field_of_the_api() {
    let app = TestApp::start().await;
    let browser = Browser::of(&app, Role::Admin).await;
    for path in
        ["/repositories", "/infrastructure", "/integrations", "/deploys", "/delivery", "/standards", "/suggestions"]
    {
        let text = read(&browser.page(path).await);
        let found: Vec<&str> = text.split_whitespace().filter(|word| is_of_the_api(word)).collect();
        assert!(found.is_empty(), "{path}: {found:?}");
    }
}

#[tokio::test]
async fn a_page_that_is_refused_for_its_rate_leads_back_to_itself() {
    let app = TestApp::with(&["--ip-limit", "2"]).await;
    let browser = Browser::of(&app, Role::User).await;
    let path = "/services?language=Go&tag=a%3Ab";
    browser.page(path).await;
    let refused = browser.get(path).await;
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
    let page = refused.text();
    assert!(page.contains("<a href=\"/services?language=Go&amp;tag=a%3Ab\">Try again</a>"), "{page}");
    assert!(!page.contains("<nav"), "nobody is known without a read: {page}");
    // Neither to another host, nor to a form that was sent.
    for refused in [browser.get("//example.com/services").await, browser.post_from("/new/service", &[], &[]).await] {
        assert!(refused.status == 429 && !refused.text().contains(">Try again</a>"), "{refused:?}");
    }
}

#[tokio::test]
async fn error_pages_keep_the_navigation_of_whoever_is_signed_in_and_say_what_to_do() {
    let app = TestApp::start().await;
    let browser = Browser::of(&app, Role::User).await;
    for (path, status) in [
        ("/nowhere", 404),
        ("/no/where?at=all", 404),
        ("/services/a/b", 404),
        ("/services/none", 404),
        ("/tokens", 403),
        ("/services?after=nothing", 400),
    ] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        let page = answer.text();
        assert!(
            page.contains("<nav aria-label=\"Catalogue\">") && page.contains("action=\"/sign-out\""),
            "{path}: {page}"
        );
        assert!(!page.contains("aria-current=\"page\">Home"), "{path}: {page}");
        assert!(path == "/services/none" || page.contains("<a href=\"/services\">Services</a> · "), "{path}: {page}");
    }
    for path in ["/nowhere", "/services/a/b"] {
        let page = browser.get(path).await;
        assert!(page.text().contains("action=\"/search\"") && page.text().contains("search for what"), "{page:?}");
    }
    // What is refused before it becomes a page, too.
    let foreign = browser.post_from("/services", &[], &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(foreign.status, 403);
    assert!(foreign.text().contains("<nav aria-label=\"Catalogue\">"), "{foreign:?}");
    // Strangers see none, and programs get no page.
    let stranger = Browser::new(&app).get("/nowhere").await;
    assert_eq!(stranger.status, 404);
    assert!(!stranger.text().contains("<nav") && stranger.text().contains("<h1>Not found</h1>"), "{stranger:?}");
    let cookie = browser.cookie.as_deref().expect("a cookie");
    let program = app.get_with("/nowhere", &[("accept", "application/json"), ("cookie", cookie)]).await;
    assert!(program.status == 404 && program.text().starts_with('{'), "{program:?}");
}

#[tokio::test]
async fn phones_show_levels_and_what_is_not_passed() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "TagDefined", json!({ "tagKey": "env" })).await;
    rollcall::graphql::standards::check::history::settle(&app.db, &app.wanted).await.expect("settled");
    let browser = Browser::of(app, Role::Viewer).await;
    let page = browser.page("/standards").await;
    let table = page.split_once("<table class=\"stacked\">").expect("a table that phones stack").1;
    let table = table.split("</table>").next().expect("its end");
    let cell = "<td><div class=\"on-phones soft\" aria-hidden=\"true\">Bronze</div><div>";
    assert_eq!(table.matches(cell).count(), 1, "a cell names its level: {table}");
    assert!(table.contains("2 of 3 services</span> <span class=\"mark bad brief\">1 not passed</span>"), "{table}");
    assert!(table.contains("<td></td>"), "a cell without checks is empty, so that phones leave it out: {table}");
    let style = page.split('"').find(|text| text.starts_with("/assets/style")).expect("a style sheet");
    let style = browser.page(style).await;
    for rule in ["table.stacked td:empty { display: none; }", ".on-phones { display: block; }"] {
        assert!(style.contains(rule), "{rule}");
    }
    // Phones show what stands beside a service's name below it.
    assert!(browser.page("/services").await.contains("<table class=\"lined\">"));
}

#[tokio::test]
async fn a_service_shows_how_far_its_level_is_and_what_the_next_one_lacks() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let silver = ids(app).await["Silver"].clone();
    create(app, "TagDefined", json!({ "name": "Says where", "tagKey": "env" })).await;
    create(app, "ServiceOwnership", json!({ "name": "Is owned" })).await;
    create(app, "HasRecentDeploy", json!({ "name": "Moves", "days": 30, "levelId": silver })).await;
    let browser = Browser::of(app, Role::Viewer).await;
    let card = |page: &str| {
        page.split_once("id=\"standards\"").expect("the card").1.split("</section>").next().expect("its end").to_owned()
    };
    // Nothing of Bronze is missing but both checks, and Silver comes later.
    let bare = browser.page("/services/bare").await;
    let shown = card(&bare);
    assert!(shown.contains("<strong>Beginner</strong><span class=\"soft\">, level 1 of 3</span>"), "{shown}");
    assert!(shown.contains("role=\"img\" aria-label=\"Level 1 of 3\""), "{shown}");
    assert_eq!((shown.matches("class=\"reached\"").count(), shown.matches("title=\"").count()), (1, 3), "{shown}");
    assert!(shown.contains("2 checks to <strong>Bronze</strong>:"), "{shown}");
    let (next, later) = shown.split_once("<details><summary>1 check for later levels</summary>").expect("later levels");
    assert!(next.contains("Says where") && next.contains("Is owned") && !next.contains("Moves"), "{next}");
    assert!(later.contains("Moves"), "{later}");
    // Levels look alike, whichever they are.
    let chip = |level: &str| {
        format!("<a class=\"mark none\" href=\"#standards\"><span class=\"hidden\">Level </span>{level}</a>")
    };
    assert!(bare.contains(&chip("Beginner")), "{bare}");
    // Who has Bronze has one thing left.
    let mail = browser.page("/services/mail").await;
    assert!(mail.contains(&chip("Bronze")), "{mail}");
    let mail = card(&mail);
    assert!(mail.contains("<strong>Bronze</strong><span class=\"soft\">, level 2 of 3</span>"), "{mail}");
    assert!(mail.contains("1 check to <strong>Silver</strong>:") && !mail.contains("<details>"), "{mail}");
}

/// Elements without an end.
const VOID: [&str; 7] = ["br", "hr", "img", "input", "link", "meta", "wbr"];

/// The elements directly in the body of a page, and whether each has text or elements in it.
fn top(page: &str) -> Vec<&str> {
    let body = page.split_once("<body").and_then(|(_, rest)| rest.split_once('>')).expect("a body").1;
    let body = body.split("</body>").next().expect("its end");
    let (mut depth, mut found) = (0_usize, Vec::new());
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("the end of a tag");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).expect("a name");
        if tag.starts_with('/') {
            depth -= 1;
        } else {
            if depth == 0 {
                found.push(name);
            }
            depth += usize::from(!VOID.contains(&name) && !tag.ends_with('/'));
        }
        assert!(depth > 0 || text.trim().is_empty(), "text outside of everything: {text}");
    }
    assert_eq!(depth, 0, "every element ends: {page}");
    found
}

#[tokio::test]
async fn everything_on_a_page_is_in_a_landmark_with_one_heading_of_the_first_level() {
    let app = shop().await;
    let admin = Browser::of(&app, Role::Admin).await;
    let stranger = Browser::new(&app);
    let own = [
        "/",
        "/services",
        "/services/shopping_cart",
        "/services/shopping_cart/edit",
        "/services/shopping_cart/history",
        "/services/shopping_cart/graph",
        "/services/shopping_cart/deploys",
        "/services/shopping_cart/standards",
        "/teams",
        "/teams/core_team",
        "/teams/core_team/edit",
        "/systems",
        "/systems/check_out",
        "/domains",
        "/domains/web_shop",
        "/deploys",
        "/delivery",
        "/standards",
        "/repositories",
        "/infrastructure",
        "/suggestions",
        "/integrations",
        "/integrations/new",
        "/events",
        "/new/event-subscription",
        "/definitions",
        "/tokens",
        "/users",
        "/audit",
        "/account",
        "/search",
        "/search?q=cart",
        "/views",
        "/new/check",
        "/new/check/tag-defined",
        "/reference",
        "/nowhere",
        "/services/none",
    ];
    let pages = own.into_iter().map(|path| (&admin, path, true));
    for (browser, path, is_signed_in) in pages.chain([(&stranger, "/sign-in", false), (&stranger, "/reference", false)])
    {
        let answer = browser.get(path).await;
        assert!([200, 404].contains(&answer.status), "{path}: {answer:?}");
        let page = answer.text();
        let expected: &[&str] = if is_signed_in { &["a", "header", "aside", "main"] } else { &["a", "header", "main"] };
        assert_eq!(top(page), expected, "{path}");
        assert_eq!(page.matches("<h1").count(), 1, "{path}");
        let labels: Vec<&str> = page.split("<nav").skip(1).filter_map(|nav| nav.split('>').next()).collect();
        assert!(labels.iter().all(|nav| nav.contains("aria-label=\"")), "{path}: {labels:?}");
        let mut named: Vec<&str> =
            labels.iter().filter_map(|nav| nav.split("aria-label=\"").nth(1)?.split('"').next()).collect();
        named.sort_unstable();
        named.dedup();
        assert_eq!(named.len(), labels.len(), "{path}: each has a name of its own: {labels:?}");
    }
}

#[tokio::test]
async fn the_navigation_counts_the_open_suggestions() {
    let endpoint = Endpoint::start().await;
    let mut member = Browser::of(&endpoint.app, Role::User).await;
    assert!(!member.page("/deploys").await.contains("class=\"count\""), "nothing waits");
    for name in ["cart", "ledger"] {
        assert_eq!(endpoint.post_with(json!({ "service": name, "dedup_id": name })).await.status, 202);
    }
    // A form makes the next page count again: here one that ignores nothing.
    assert_eq!(member.post("/suggestions", &[("what", "ignore")]).await.status, 422);
    let shown =
        |count: usize| format!("Suggestions <span class=\"count\">{count}<span class=\"hidden\"> open</span></span>");
    let page = member.page("/services").await;
    assert!(page.contains(&shown(2)), "{page}");
    let suggestions = member.page("/suggestions").await;
    let ignore = suggestions.split('"').find(|text| text.ends_with("/ignore")).expect("a form").to_owned();
    assert_eq!(member.post(&ignore, &[]).await.status, 303);
    let page = member.page("/teams").await;
    assert!(page.contains(&shown(1)), "who decides sees it at once: {page}");
}
