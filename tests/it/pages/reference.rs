//! The schema reference, without signing in.

use rollcall::entity::user::Role;
use rollcall::graphql::SDL;

use crate::harness::app::TestApp;
use crate::harness::browser::Browser;

#[tokio::test]
async fn every_type_of_the_schema_has_a_page_that_is_short_and_names_its_fields() {
    let app = TestApp::start().await;
    let schema = apollo_compiler::Schema::parse_and_validate(SDL, "schema.graphql").expect("the schema");
    let mut pages = 0;
    for (name, definition) in schema.types.iter().filter(|(_, definition)| !definition.is_built_in()) {
        let page = app.get(&format!("/reference/{name}")).await;
        assert_eq!(page.status, 200, "{name}");
        assert!(page.body.len() < 100_000, "{name} has {} bytes", page.body.len());
        let html = String::from_utf8_lossy(&page.body);
        let fields: Vec<&str> = match definition {
            apollo_compiler::schema::ExtendedType::Object(object) => {
                object.fields.keys().map(|it| it.as_str()).collect()
            }
            apollo_compiler::schema::ExtendedType::InputObject(input) => {
                input.fields.keys().map(|it| it.as_str()).collect()
            }
            apollo_compiler::schema::ExtendedType::Enum(values) => values.values.keys().map(|it| it.as_str()).collect(),
            _ => Vec::new(),
        };
        for field in fields {
            assert!(html.contains(&format!("id=\"{field}\"")), "{name}.{field} has no anchor");
        }
        pages += 1;
    }
    assert!(pages > 100, "only {pages} types");
    assert!(app.get("/reference").await.body.len() < 100_000);
}

#[tokio::test]
async fn every_link_of_the_reference_leads_to_an_existing_page_and_anchor() {
    let app = TestApp::start().await;
    let mut seen = std::collections::BTreeMap::from([("/reference".to_owned(), String::new())]);
    let mut next = vec!["/reference".to_owned()];
    let mut links = std::collections::BTreeSet::new();
    while let Some(path) = next.pop() {
        let page = app.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        let html = String::from_utf8_lossy(&page.body).into_owned();
        for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            if let Some(link) = link.strip_prefix('#') {
                links.insert((path.clone(), link.to_owned()));
            } else if link.starts_with("/reference") {
                let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
                links.insert((to.to_owned(), anchor.to_owned()));
                if !seen.contains_key(to) {
                    seen.insert(to.to_owned(), String::new());
                    next.push(to.to_owned());
                }
            }
        }
        seen.insert(path, html);
    }
    for (path, anchor) in links {
        let there = anchor.is_empty() || seen[&path].contains(&format!("id=\"{anchor}\""));
        assert!(there, "{path}#{anchor} leads nowhere");
    }
}

#[tokio::test]
async fn the_page_of_a_type_shows_arguments_defaults_and_uses() {
    let app = TestApp::start().await;
    let account = app.get("/reference/Account").await;
    let account = String::from_utf8_lossy(&account.body).into_owned();
    assert!(account.contains("Only services written in exactly this language."), "the description of an argument");
    let input = app.get("/reference/TagArgs").await;
    let input = String::from_utf8_lossy(&input.body).into_owned();
    assert!(input.contains("Argument of") && input.contains("/reference/Account#services"), "{input}");
    let integration = app.get("/reference/Integration").await;
    let integration = String::from_utf8_lossy(&integration.body).into_owned();
    assert!(integration.contains("Possible types") && integration.contains("/reference/DeployIntegration"));
}

#[tokio::test]
async fn a_mutation_says_which_scope_it_requires_with_a_link_to_what_that_means() {
    let app = TestApp::start().await;
    let page = app.get("/reference/Mutation").await;
    let page = String::from_utf8_lossy(&page.body).into_owned();
    let entry = |field: &str| page.split_once(&format!("id=\"{field}\"")).expect("an entry").1.split("<h3").next();
    for (field, scope) in [("userInvite", "admin"), ("serviceCreate", "write")] {
        let link = format!("<a href=\"/reference#@access\">@access(requires: {scope})</a>");
        assert!(entry(field).is_some_and(|entry| entry.contains(&link)), "{field}: {page}");
    }
    let index = app.get("/reference").await;
    let index = String::from_utf8_lossy(&index.body).into_owned();
    let directive = index.split_once("id=\"@access\"").expect("the directive").1;
    assert!(directive.contains("Says which scope a mutation requires.") && directive.contains("/reference/TokenScope"));
}

#[tokio::test]
async fn the_reference_search_ranks_names_before_descriptions_and_escapes_its_term() {
    let app = TestApp::start().await;
    let found = app.get("/reference?q=serviceCreate").await;
    let html = String::from_utf8_lossy(&found.body).into_owned();
    let first = html.find("Mutation.serviceCreate<").expect("the mutation");
    assert!(html.find("ServiceCreateInput<").is_none_or(|input| first < input), "the exact name comes first");
    let hostile = app.get("/reference?q=%3Cscript%3Ealert(1)%3C/script%3E").await;
    assert_eq!(hostile.status, 200);
    assert!(!String::from_utf8_lossy(&hostile.body).contains("<script>alert"));
}

/// Anyone may search, and each word is looked for in all of the schema.
#[tokio::test]
async fn the_reference_is_searched_for_a_short_text() {
    let app = TestApp::start().await;
    let search = async |text: String| app.get_with(&format!("/reference?q={text}"), &[("accept", "text/html")]).await;
    assert_eq!(search("e+".repeat(127)).await.status, 200);
    let refused = search("e+".repeat(10_000)).await;
    assert_eq!(refused.status, 400);
    assert!(String::from_utf8_lossy(&refused.body).contains("Search for at most 255 characters."));
    // Words beyond the tenth do not count.
    let found = search("service+".repeat(10) + "nowhere").await;
    assert!(!String::from_utf8_lossy(&found.body).contains("No matches"));
}

#[tokio::test]
async fn an_unknown_type_is_a_page_with_404() {
    let app = TestApp::start().await;
    assert_eq!(app.get_with("/reference/Nothing", &[("accept", "text/html")]).await.status, 404);
}

#[tokio::test]
async fn a_cached_page_of_the_reference_gets_304() {
    let app = TestApp::start().await;
    let first = app.get_with("/reference/Service", &[("accept-encoding", "gzip")]).await;
    let tag = first.header("etag").expect("a tag");
    assert_eq!(first.header("content-encoding"), Some("gzip"));
    let second = app.get_with("/reference/Service", &[("if-none-match", tag)]).await;
    assert_eq!((second.status, second.body.len()), (304, 0));
    let changed = app.get_with("/reference/Service", &[("if-none-match", "W/\"other\"")]).await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn a_page_of_the_reference_is_kept_only_by_the_browser_that_asked_for_it() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::User).await;
    for path in ["/reference", "/reference/Service", "/reference/Query"] {
        let page = member.get(path).await;
        assert_eq!((page.status, page.header("cache-control")), (200, Some("private, no-cache")), "{path}");
        assert!(page.header("etag").is_some(), "{path}");
        let stranger = app.get(path).await;
        assert_eq!((stranger.status, stranger.header("cache-control")), (200, Some("private, no-cache")), "{path}");
    }
}
