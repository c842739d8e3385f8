//! What the address of a list says: names that nothing has, and the way through its pages and back.

use rollcall::entity::user::Role;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// The link of a page to another page of its list.
fn linked(page: &str, rel: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("rel=\"{rel}\" href=\""))?;
    Some(rest.split_once('"').expect("its end").0.replace("&amp;", "&"))
}

/// The numbers of the services that a page lists, of services that are called `service 100` and so on.
fn shown(page: &str) -> Vec<u32> {
    let (before, after) = (">service ", "<");
    let names = page.split(before).skip(1).filter_map(|rest| rest.split_once(after)?.0.parse().ok());
    names.collect()
}

#[tokio::test]
async fn an_unknown_name_is_marked_at_its_field_and_the_rest_is_kept() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        componentTypeCreate(input: { name: "Gadget" }) { errors { message } }
        serviceCreate(input: { name: "Cart", language: "Go", type: { alias: "gadget" } }) { errors { message } }
    }"#;
    data(&app, create).await;
    let browser = Browser::of(&app, Role::Viewer).await;
    for (query, field, said) in [
        ("type=NOPE", "type", "No component type is called “NOPE”, or several are."),
        ("filter=NOPE", "filter", "No saved filter is called “NOPE”, or several are."),
        ("type=%3Cb%3E", "type", "No component type is called “&lt;b&gt;”, or several are."),
        ("level=NOPE", "level", "Choose one of the listed levels."),
        ("level=99", "level", "No level has the index 99."),
        ("tier=nope", "tier", "No tier has the alias &quot;nope&quot;."),
        ("owner=nope", "owner", "No team has the alias &quot;nope&quot;."),
    ] {
        let page = browser.page(&format!("/services?{query}&language=Go")).await;
        let (_, wrong) = page.split_once(&format!("id=\"wrong-{field}\"")).unwrap_or_else(|| panic!("{query}: {page}"));
        let wrong = wrong.split_once("</p>").expect("its end").0;
        assert!(wrong.contains(said), "{query}: {wrong}");
        assert!(page.contains("name=\"language\" type=\"text\" value=\"Go\""), "{query}: {page}");
        assert!(page.contains("No services match.") && !page.contains(">Cart</a>"), "{query}: {page}");
    }
    let tier = browser.page("/services?tier=nope").await;
    assert!(tier.contains("<option value=\"nope\" selected>nope</option>"), "the field shows what is wrong: {tier}");
    // The names that exist narrow the list as before.
    let known = browser.page("/services?type=Gadget&language=Go").await;
    assert!(!known.contains("id=\"wrong-type\"") && known.contains(">Cart</a>"), "{known}");
    for query in ["type=NOPE", "filter=NOPE", "level=NOPE"] {
        let file = browser.get(&format!("/services.csv?{query}")).await;
        assert_eq!(file.status, 400, "a file cannot say so: {query}");
    }
    let suggestions = browser.get("/suggestions?state=NOPE").await;
    assert_eq!(suggestions.status, 400);
    assert!(
        suggestions.text().contains("Suggestions have no such state") && suggestions.text().contains("class=\"tabs\"")
    );
    let delivery = browser.get("/delivery?team=NOPE").await;
    assert_eq!(delivery.status, 400);
    assert!(
        delivery.text().contains("id=\"wrong-name\"") && delivery.text().contains("value=\"NOPE\""),
        "{delivery:?}"
    );
}

#[tokio::test]
async fn a_long_list_leads_forward_page_by_page_and_back() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    for portion in 0..8 {
        let create = |number| {
            format!("s{number}: serviceCreate(input: {{ name: \"service {number}\" }}) {{ errors {{ message }} }}\n")
        };
        let services: String = (100 + portion * 20..120 + portion * 20).map(create).collect();
        data(&app, &format!("mutation {{ {services} }}")).await;
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    let mut page = browser.page("/services?sort=name_ASC").await;
    assert!(linked(&page, "prev").is_none() && !page.contains("First page"), "the first page: {page}");
    let mut before = vec![shown(&page)];
    while let Some(next) = linked(&page, "next") {
        page = browser.page(&next).await;
        assert!(page.contains("First page") && next.contains("sort=name_ASC"), "{next}: {page}");
        before.push(shown(&page));
    }
    assert_eq!(before.concat(), (100..260).collect::<Vec<u32>>());
    assert_eq!(before.len(), 4);
    // What leaves the page of a list forgets the way to it.
    assert!(!page.contains("services.csv?sort=name_ASC&amp;back"), "{page}");
    before.pop();
    while let Some(expected) = before.pop() {
        let previous = linked(&page, "prev").expect("a page before");
        page = browser.page(&previous).await;
        assert_eq!(shown(&page), expected, "{previous}");
    }
    assert!(linked(&page, "prev").is_none() && !page.contains("First page"), "{page}");

    // An address without the way leads to the first page only, and a wrong way is no fault of the page.
    let second = linked(&page, "next").expect("a second page");
    let cursor = second.split(['?', '&']).find_map(|part| part.strip_prefix("after=")).expect("a cursor");
    let bare = browser.page(&format!("/services?sort=name_ASC&after={cursor}")).await;
    assert!(linked(&bare, "prev").is_none() && bare.contains("First page"), "{bare}");
    let long = "back=x&".repeat(100);
    let odd = browser.page(&format!("/services?{long}back=%22%3E%3Cb%3E&sort=name_ASC&after={cursor}")).await;
    assert_eq!(shown(&odd), shown(&bare));
    assert!(
        !odd.contains("\"><b>") && linked(&odd, "prev").is_some_and(|to| to.matches("back=").count() == 9),
        "{odd}"
    );
    // A first page has nothing before it, whatever its address says.
    assert!(linked(&browser.page("/services?back=x").await, "prev").is_none());
}

#[tokio::test]
async fn what_a_filter_cannot_be_stays_in_sight_and_can_be_removed() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart", language: "Go" }) { errors { message } } }"#).await;
    let browser = Browser::of(&app, Role::Admin).await;
    let long = "x".repeat(256);
    for (path, field, chip) in [
        (format!("/services?search={long}&language=Go"), "search", format!("/services?search={long}\">Language is")),
        (format!("/services?owner={long}&language=Go"), "owner", "/services?language=Go\">Owner is".to_owned()),
        ("/services?quiet=soon&language=Go".to_owned(), "quiet", "/services?language=Go\">Days".to_owned()),
        ("/deploys?status=odd".to_owned(), "status", "/deploys\">Status is <strong>odd".to_owned()),
        ("/audit?from=soon&action=x".to_owned(), "from", "/audit?action=x\">From <strong>soon".to_owned()),
        ("/audit?actor=odd".to_owned(), "actor", "<option value=\"odd\" selected>odd</option>".to_owned()),
        ("/audit?subject=Service%3Ax".to_owned(), "", "/audit\">About <strong>Service:x".to_owned()),
    ] {
        let answer = browser.get(&path).await;
        let page = answer.text();
        assert_eq!(answer.status, 400, "{path}: {page}");
        assert!(field.is_empty() || page.contains(&format!("id=\"wrong-{field}\"")), "{path}: {page}");
        assert!(page.contains(&chip), "{path}: {page}");
        let finds_none = ["search", "owner"].contains(&field);
        assert_eq!(finds_none, page.contains("No services match."), "{path}: {page}");
    }
    let valid = browser.page("/audit?subject=Service%3A1").await;
    assert!(valid.contains("<a href=\"/audit\">About <strong>Service:1</strong>"), "{valid}");
}

#[tokio::test]
async fn a_page_of_a_list_that_is_not_there_leads_to_the_first_one() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#).await;
    let found = data(&app, "{ account { services(sortBy: name_ASC) { pageInfo { endCursor } } } }").await;
    let cursor = found["account"]["services"]["pageInfo"]["endCursor"].as_str().expect("a cursor");
    let browser = Browser::of(&app, Role::Viewer).await;
    assert_eq!(browser.get(&format!("/services?sort=name_ASC&after={cursor}")).await.status, 200);
    for (wrong, list) in [
        ("/services?language=Go&after=nonsense", "/services?language=Go"),
        ("/services/cart/graph?after=nonsense", "/services/cart/graph"),
        ("/infrastructure?after=nonsense", "/infrastructure"),
        (&*format!("/services?sort=owner_ASC&after={cursor}"), "/services?sort=owner_ASC"),
        (&*format!("/teams?after={cursor}"), "/teams"),
    ] {
        let gone = browser.get(wrong).await;
        let (status, gone) = (gone.status, gone.text());
        assert!(status == 400 && gone.contains("This page of the list is no longer there."), "{wrong}: {gone}");
        assert!(gone.contains(&format!("<a href=\"{list}\">First page of the list</a>")), "{wrong}: {gone}");
        assert!(!gone.contains("endCursor") && !gone.contains("Go back and change"), "{wrong}: {gone}");
    }
}
