//! Documents of other catalogues that are wrong: each fails alone, and what else is in the files is applied.

use rollcall::service_file::Refused;

use crate::app::TestApp;
use crate::service_file::{done_of, lines};

/// Applies a text of another catalogue. Returns the results, and the notes: those about a whole document, and the others.
async fn applied(app: &TestApp, path: &str, text: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let done = match done_of(app, &[(path, text)]).await {
        Ok(done) => done,
        Err(Refused::Problems(notes)) => panic!("{text}\n{}", notes[0]),
        Err(Refused::Failed(error)) => panic!("{text}\n{error}"),
    };
    let (failures, notes) = done.left_out.iter().partition::<Vec<_>, _>(|note| note.is_failure);
    let text = |notes: Vec<&rollcall::service_file::Note>| notes.into_iter().map(ToString::to_string).collect();
    (lines(&done), text(failures), text(notes))
}

#[tokio::test]
async fn a_document_without_a_usable_name_fails_and_a_part_without_one_is_noted() {
    let app = TestApp::start().await;
    let long = "x".repeat(300);
    for document in [
        format!("service: {{ name: {long} }}"),
        "service: { name: \"a\\ab\" }".to_owned(),
        "service: [one, { name: [two] }]".to_owned(),
        "service: word".to_owned(),
        "team: {}".to_owned(),
        "team: { name: [a] }".to_owned(),
        "team: { name: \" \" }".to_owned(),
        format!("system: {{ name: {long} }}"),
        "system: [{ name: }]".to_owned(),
        "domain: { name: { a: b } }".to_owned(),
        "domain: 7".to_owned(),
        "repository: { name: [x] }".to_owned(),
        format!("repository: {{ name: a, url: \"https://example.com/{long}\" }}"),
    ] {
        let text = format!("version: 1\n{document}\n---\nversion: 1\nservice: {{ name: good }}\n");
        let (lines, failures, _) = applied(&app, "opslevel.yml", &text).await;
        assert!(lines.len() == 1 && lines[0].ends_with(" service good"), "{text}{lines:?}");
        assert!(!failures.is_empty() && failures[0].starts_with("opslevel.yml:2:"), "{text}{failures:?}");
    }
    for part in ["tools: [{ url: \"https://a.example.com\" }]", "tools: [{ name: [a], url: \"https://a.example.com\" }]"] {
        let text = format!("version: 1\nservice:\n  name: good\n  {part}\n");
        let (_, failures, notes) = applied(&app, "opslevel.yml", &text).await;
        assert_eq!((failures.len(), notes.len()), (0, 1), "{text}{notes:?}");
    }
}
