//! Documents of other catalogues that are wrong: each fails alone, and what else is in the files is applied.

use std::fs;

use rollcall::entity::token::Scope;
use rollcall::service_file::Refused;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::apply_command::run;
use crate::harness::program::Place;
use crate::harness::service_file::{done_of, lines};

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
    for part in
        ["tools: [{ url: \"https://a.example.com\" }]", "tools: [{ name: [a], url: \"https://a.example.com\" }]"]
    {
        let text = format!("version: 1\nservice:\n  name: good\n  {part}\n");
        let (_, failures, notes) = applied(&app, "opslevel.yml", &text).await;
        assert_eq!((failures.len(), notes.len()), (0, 1), "{text}{notes:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_sent_is_left_out_and_the_rest_is_sent() {
    let (app, place) = (TestApp::start().await, Place::new());
    let token = app.new_token(Scope::Write, None).await;
    let good = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: good }\n";
    for folder in ["bad", "good"] {
        fs::create_dir(place.path().join(folder)).expect("a folder");
    }
    place.write("good/catalog-info.yaml", good);
    let wide: Vec<u8> = "\u{feff}a".encode_utf16().flat_map(u16::to_le_bytes).skip(1).collect();
    for (name, bytes, message) in [
        ("catalog-info.yaml", &b"a: \xe9\n"[..], "catalog-info.yaml:1:4: this is not UTF-8\n"),
        ("catalog-info.yaml", b"a: 1\nb: \xff", "catalog-info.yaml:2:4: this is not UTF-8\n"),
        ("opslevel.yml", &wide, "opslevel.yml:1:1: this is not UTF-8\n"),
        (
            "opslevel.yml",
            b"version: 1\nservice: { name: \0 }",
            "opslevel.yml:2:18: a YAML file has no null character\n",
        ),
        ("catalog-info.yaml", b"\0", "catalog-info.yaml:1:1: a YAML file has no null character\n"),
        ("x.yaml", b"apiVersion: a\nkind: b\0", "x.yaml:2:8: a YAML file has no null character\n"),
    ] {
        let file = format!("bad/{name}");
        fs::write(place.path().join(&file), bytes).expect("a file");
        let done = run(&place, &app, &token, &[&file, "good/catalog-info.yaml"]).await;
        assert_eq!((done.status, done.err.contains(message)), (4, true), "{file}: {}", done.err);
        assert!(done.out.ends_with(" service good\n"), "{}", done.out);
        let alone = run(&place, &app, &token, &[&file]).await;
        assert_eq!((alone.status, &*alone.out, alone.err.contains(message)), (4, "", true), "{file}: {}", alone.err);
    }
    // A file of our own is all or nothing.
    fs::write(place.path().join("rollcall.yml"), b"version: 1\nservice: { name: own\0 }").expect("a file");
    let done = run(&place, &app, &token, &["rollcall.yml", "good/catalog-info.yaml"]).await;
    assert_eq!((done.status, &*done.out), (1, ""));
    assert_eq!(done.err, "rollcall.yml:2:21: a YAML file has no null character\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_is_too_large_for_a_request_fails_alone() {
    let (app, place) = (TestApp::with(&["--token-limit", "0"]).await, Place::new());
    let token = app.new_token(Scope::Write, None).await;
    let entity =
        |name: &str| format!("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {{ name: {name} }}\n");
    let service = |name: &str| format!("version: 1\nservice: {{ name: {name} }}\n");
    let filler = format!("# {}\n", "x".repeat(1 << 20));
    let (large, other) = (entity("large") + &filler, service("large") + &filler);
    let (good, fine) = (entity("good"), service("good"));
    for (files, status, line) in [
        (&[("catalog-info.yaml", format!("{good}---\n{large}---\n{good}"))][..], 4, "catalog-info.yaml:4:1: "),
        (&[("catalog-info.yaml", format!("{large}---\n{good}"))], 4, "catalog-info.yaml:1:1: "),
        (&[("opslevel.yml", format!("---\n{other}---\n{fine}"))], 4, "opslevel.yml:1:1: "),
        (&[("a.yaml", large.clone()), ("catalog-info.yaml", good.clone())], 4, "a.yaml:1:1: "),
        (&[("catalog-info.yaml", large)], 1, "the file is catalog-info.yaml"),
        (&[("rollcall.yml", other.clone())], 1, "the file is rollcall.yml"),
        (&[("rollcall.yml", other), ("own.yml", fine)], 1, "the largest of 2 files is rollcall.yml"),
    ] {
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        files.iter().for_each(|(name, text)| place.write(name, text));
        let done = run(&place, &app, &token, &names).await;
        assert_eq!(
            (done.status, done.out.contains(" service good\n")),
            (status, status == 4),
            "{names:?} {}",
            done.err
        );
        assert!(done.err.contains(line) && done.err.contains("--max-body"), "{names:?} {}", done.err);
        assert!(!done.out.contains("large") && done.err.len() < 2_000, "{names:?} {}", done.out);
    }
}

#[tokio::test]
async fn a_document_that_is_no_entity_fails_alone_and_is_not_quoted() {
    let app = TestApp::start().await;
    let entity = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: good }\n";
    let service = "version: 1\nservice: { name: good }\n";
    for document in ["secret: x", "apiVersion: secret", "kind: secret", "[secret]", "secret", "7", "true", "Version: 1"]
    {
        for (path, good) in [
            ("catalog-info.yaml", entity),
            ("CATALOG-INFO.yml", entity),
            ("opslevel.yml", service),
            ("a/opslevel.yaml", service),
            ("other.yaml", entity),
        ] {
            let text = format!("{good}---\n{document}\n");
            let (lines, failures, notes) = applied(&app, path, &text).await;
            assert!(lines.len() == 1 && lines[0].ends_with(" service good"), "{text}{lines:?}");
            assert_eq!((failures.len(), notes.len()), (1, 0), "{text}{notes:?}");
            let place = format!("{path}:{}:1: ", text.lines().count());
            assert!(failures[0].starts_with(&place) && !failures[0].contains("secret"), "{text}{failures:?}");
        }
    }
    // In a file of our own, it refuses everything.
    assert!(done_of(&app, &[("rollcall.yml", "version: 1\nservice: { name: own }\n---\nsecret: x\n")]).await.is_err());
}

#[tokio::test]
async fn a_number_for_a_text_keeps_its_digits() {
    for (number, digits) in [
        ("007", "007"),
        ("1.10", "1.10"),
        ("1e3", "1e3"),
        ("0x1F", "0x1F"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("2.50 # a version", "2.50"),
        ("&n 1.20", "1.20"),
        ("-08", "-08"),
    ] {
        let app = TestApp::start().await;
        // Bytes are not characters, and a file may begin with a mark.
        let entity = format!(
            "\u{feff}# é\n---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: one\n  title: {number}\n  \
             labels:\n    release: {number}\n  tags:\n    - 012\n"
        );
        let service = format!(
            "version: 1\nservice:\n  name: {number}\n  aliases: [two]\n  tags:\n    release: {number}\n    version: {number}\n    properties: {number}\n"
        );
        for (path, text, alias) in [("catalog-info.yaml", entity, "one"), ("opslevel.yml", service, "two")] {
            let (lines, failures, notes) = applied(&app, path, &text).await;
            assert_eq!((lines.len(), failures.len()), (1, 0), "{text}{failures:?}");
            // A tag's key begins with a letter.
            assert!(path == "opslevel.yml" || notes[0].contains("\"012\" is not taken"), "{text}{notes:?}");
            let query =
                format!(r#"{{ account {{ service(alias: "{alias}") {{ name tags {{ nodes {{ key value }} }} }} }} }}"#);
            let service = data(&app, &query).await["account"]["service"].take();
            assert_eq!(service["name"], json!(digits), "{text}");
            let tags = service["tags"]["nodes"].as_array().expect("tags");
            let keys = if path == "opslevel.yml" { &["release", "version", "properties"][..] } else { &["release"] };
            for key in keys {
                assert!(tags.contains(&json!({ "key": key, "value": digits })), "{key}: {text}{tags:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_note_says_what_the_other_catalogues_form_takes() {
    let app = TestApp::start().await;
    for (rest, said) in [
        ("tags: none", "tags must be a list of keys and values, or a mapping, not a string"),
        ("tags: 7", "tags must be a list of keys and values, or a mapping, not a string"),
        ("alert_sources: []", "the key \"alert_sources\" of a service is not applied"),
        ("descripton: x", "the key \"descripton\" of a service is not applied; did you mean description?"),
        ("on_call: nobody", "the key \"on_call\" of a service is not applied"),
        (
            "tools: [{ name: x, category: other, url: 'https://x.example.com', colour: red }]",
            "the key \"colour\" of a tool is not applied",
        ),
    ] {
        let text = format!("version: 1\nservice:\n  name: x\n  {rest}\n");
        let (_, failures, notes) = applied(&app, "opslevel.yml", &text).await;
        assert!(failures.is_empty() && notes.len() == 1, "{text}{notes:?}{failures:?}");
        assert!(notes[0].ends_with(said), "{text}{notes:?}");
    }
}

#[tokio::test]
async fn a_repository_that_is_none_is_noted_and_not_created() {
    let app = TestApp::start().await;
    for (named, expected) in [
        ("https://github.com/org/b", Some("github.com:org/b")),
        ("https://git.example.com/org/c.git", Some("git.example.com:org/c")),
        ("git@github.com:org/d", Some("github.com:org/d")),
        ("org/e", Some("github.com:org/e")),
        ("org", None),
        ("7", None),
        ("org/", None),
        ("org//b", None),
        ("ftp://github.com/org/b", None),
    ] {
        let entity = format!(
            "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: one\n  \
             annotations: {{ github.com/project-slug: \"{named}\" }}\n"
        );
        let service = format!(
            "---\nversion: 1\nservice:\n  name: two\n  repositories: [{{ name: \"{named}\", provider: github }}]\n"
        );
        for (path, text, alias) in [("catalog-info.yaml", entity, "one"), ("opslevel.yml", service, "two")] {
            let (_, failures, notes) = applied(&app, path, &text).await;
            assert_eq!((failures.len(), notes.len()), (0, usize::from(expected.is_none())), "{text}{notes:?}");
            let query = format!(
                r#"{{ account {{ service(alias: "{alias}") {{ repositories {{ nodes {{ defaultAlias }} }} }} }} }}"#
            );
            let found = data(&app, &query).await["account"]["service"]["repositories"]["nodes"].take();
            let named: Vec<&str> =
                found.as_array().into_iter().flatten().filter_map(|one| one["defaultAlias"].as_str()).collect();
            assert!(expected.is_none() || named == [expected.unwrap_or_default()], "{text}{named:?}");
        }
    }
    let all = data(&app, "{ account { repositories { totalCount } } }").await;
    assert_eq!(all["account"]["repositories"]["totalCount"], json!(4));
}
