//! The explorer: its page, its files, and that its initial query is valid.

use serde_json::json;

use crate::harness::app::TestApp;

#[tokio::test]
async fn a_visitor_without_a_session_is_redirected_to_the_sign_in() {
    let app = TestApp::start().await;
    let page = app.get("/explorer").await;
    assert_eq!((page.status, page.header("location")), (303, Some("/sign-in?next=%2Fexplorer")));
}

#[tokio::test]
async fn a_browser_at_the_address_of_the_api_is_sent_to_the_explorer() {
    let app = TestApp::start().await;
    let page = app.get_with("/graphql", &[("accept", "text/html,*/*;q=0.8")]).await;
    let explorer = format!("http://{}/explorer", app.address);
    assert_eq!((page.status, page.header("location")), (303, Some(&*explorer)));
    assert_eq!(app.get_with("/graphql", &[("accept", "*/*")]).await.status, 405);
}

#[tokio::test]
async fn the_first_query_answers() {
    let app = TestApp::start().await;
    let answer = app.query(include_str!("../../../src/app/explorer/default.graphql"), json!({})).await;
    assert_eq!(answer["data"]["account"]["services"]["totalCount"], 0, "{answer}");
}

/// Its files exist only if it was built, as in CI.
#[tokio::test]
async fn built_files_are_cacheable_forever_and_come_compressed_or_not() {
    let app = TestApp::start().await;
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/app/explorer/dist")).expect("the folder");
    let names = files.filter_map(|file| file.expect("a file").file_name().into_string().ok());
    let Some(name) = names.filter_map(|name| Some(name.strip_suffix(".css.gz")?.to_owned() + ".css")).next() else {
        assert!(std::env::var_os("CI").is_none(), "the explorer was not built");
        return crate::harness::say_aloud("left out: the files of the explorer, which was not built");
    };
    let packed = app.get_with(&format!("/assets/{name}"), &[("accept-encoding", "gzip")]).await;
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
    assert_eq!(packed.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(packed.header("content-type"), Some("text/css; charset=utf-8"));
    let plain = app.get(&format!("/assets/{name}")).await;
    assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
    assert!(plain.body.len() > packed.body.len());
}
