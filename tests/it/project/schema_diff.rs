//! `rollcall schema diff`: compares the changes between two schemas with those of graphql-js, recorded by
//! `tests/graphql-js-diff/record.mjs`.

use rollcall::schema_diff::{Class, Report, diff};
use serde::Deserialize;

/// Our own breaking and dangerous kinds, which graphql-js lacks (the module explains why). They are excluded from the
/// comparison.
const OURS: [&str; 11] = [
    "ARG_BECAME_REQUIRED",
    "DIRECTIVE_ARG_BECAME_REQUIRED",
    "DIRECTIVE_ARG_CHANGED_KIND",
    "DIRECTIVE_ARG_DEFAULT_VALUE_CHANGE",
    "INPUT_FIELD_BECAME_REQUIRED",
    "INPUT_FIELD_DEFAULT_VALUE_CHANGE",
    "ONE_OF_ADDED",
    "ROOT_OPERATION_CHANGED",
    "ROOT_OPERATION_REMOVED",
    "SPECIFIED_BY_CHANGED",
    "TYPE_ADDED_TO_INTERFACE",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    breaking_kinds: Vec<String>,
    dangerous_kinds: Vec<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    old: String,
    new: String,
    changes: Vec<Change>,
}

#[derive(Deserialize, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    class: String,
    kind: String,
    description: String,
}

fn expected() -> Expected {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphql-js-diff/expected.json");
    let text = std::fs::read_to_string(file).expect("expected.json is part of the repository");
    serde_json::from_str(&text).expect("record.mjs writes JSON")
}

/// Lines `class coordinate KIND` for the changes of two schemas.
fn lines(old: &str, new: &str) -> Vec<String> {
    let changes = diff(("old.graphql", old), ("new.graphql", new)).expect("valid schemas");
    let line = |c: &rollcall::schema_diff::Change| format!("{} {} {}", c.class, c.coordinate, c.kind);
    changes.iter().map(line).collect()
}

#[test]
fn breaking_and_dangerous_changes_are_those_of_graphql_js() {
    let cases = expected().cases;
    assert!(cases.len() >= 90, "only {} cases were recorded", cases.len());
    for case in cases {
        let changes =
            diff(("old", &case.old), ("new", &case.new)).unwrap_or_else(|mistakes| panic!("{}: {mistakes}", case.name));
        let mut ours: Vec<Change> = changes
            .into_iter()
            .filter(|change| change.class != Class::Safe && !OURS.contains(&change.kind))
            .map(|change| Change {
                class: change.class.to_string(),
                kind: change.kind.to_owned(),
                description: change.description,
            })
            .collect();
        let mut theirs = case.changes;
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{}", case.name);
    }
}

#[test]
fn every_kind_of_graphql_js_is_compared_and_none_is_left_out() {
    let expected = expected();
    let recorded: Vec<&Change> = expected.cases.iter().flat_map(|case| &case.changes).collect();
    for kind in expected.breaking_kinds.iter().chain(&expected.dangerous_kinds) {
        assert!(recorded.iter().any(|change| change.kind == *kind), "no case has {kind}");
        assert!(!OURS.contains(&kind.as_str()), "{kind} is graphql-js's");
    }
}

#[test]
fn a_schema_has_no_changes_against_itself() {
    for case in expected().cases {
        assert_eq!(lines(&case.old, &case.old), [""; 0], "{}", case.name);
        assert_eq!(lines(&case.new, &case.new), [""; 0], "{}", case.name);
    }
}

/// The changes when `old` becomes `new`, with other types unchanged.
fn changes(old: &str, new: &str) -> Vec<String> {
    let stays = "type Query implements Node { id: ID } type Other { id: ID } interface Node { id: ID }";
    lines(&format!("{stays} {old}"), &format!("{stays} {new}"))
}

#[test]
fn breaking_changes_that_graphql_js_does_not_name_are_found() {
    assert_eq!(
        changes("schema { query: Query mutation: Other }", "schema { query: Other }"),
        ["breaking schema.mutation ROOT_OPERATION_REMOVED", "breaking schema.query ROOT_OPERATION_CHANGED",]
    );
    assert_eq!(
        changes("input In { a: Int b: Int }", "input In @oneOf { a: Int b: Int }"),
        ["breaking In ONE_OF_ADDED"]
    );
    assert_eq!(
        changes("input In { a: Int! = 1 }", "input In { a: Int! }"),
        ["breaking In.a INPUT_FIELD_BECAME_REQUIRED", "dangerous In.a INPUT_FIELD_DEFAULT_VALUE_CHANGE"]
    );
    assert_eq!(
        changes("extend type Other { f(a: Int! = 1): ID }", "extend type Other { f(a: Int!): ID }"),
        ["breaking Other.f(a:) ARG_BECAME_REQUIRED", "dangerous Other.f(a:) ARG_DEFAULT_VALUE_CHANGE"]
    );
    assert_eq!(
        changes("directive @d(a: Int! = 1, b: ID) on FIELD", "directive @d(a: Int!, b: [ID]) on FIELD"),
        [
            "breaking @d(a:) DIRECTIVE_ARG_BECAME_REQUIRED",
            "breaking @d(b:) DIRECTIVE_ARG_CHANGED_KIND",
            "dangerous @d(a:) DIRECTIVE_ARG_DEFAULT_VALUE_CHANGE",
        ]
    );
}

#[test]
fn dangerous_changes_that_graphql_js_does_not_name_are_found() {
    assert_eq!(
        changes("input In { a: Int = 1 b: Int = 1 }", "input In { a: Int = 2 b: Int }"),
        ["dangerous In.a INPUT_FIELD_DEFAULT_VALUE_CHANGE", "dangerous In.b INPUT_FIELD_DEFAULT_VALUE_CHANGE",]
    );
    assert_eq!(
        changes("", "type New implements Node { id: ID }"),
        ["dangerous New TYPE_ADDED_TO_INTERFACE", "safe New TYPE_ADDED"]
    );
    assert_eq!(
        changes(
            r#"scalar Date @specifiedBy(url: "https://example.com/1")"#,
            r#"scalar Date @specifiedBy(url: "https://example.com/2")"#
        ),
        ["dangerous Date SPECIFIED_BY_CHANGED"]
    );
}

#[test]
fn safe_changes_are_listed_too() {
    assert_eq!(
        changes(
            r#"
            directive @tag(a: Int! b: Int) on OBJECT
            type Team @tag(a: 1) { a: Int "old" b: [Int] c: Int @deprecated f(a: Int! b: Int): Int }
            input In @oneOf { a: [Int!] }
            scalar A scalar B @specifiedBy(url: "https://example.com")
            "#,
            r#"
            directive @tag(a: Int b: Int = 1 c: Int) repeatable on OBJECT | FIELD
            type Team { a: Int! "new" b: [Int!] c: Int d: Int @deprecated f(a: Int @deprecated b: Int = 1): Int }
            input In { a: [Int] = 1 }
            scalar A @specifiedBy(url: "https://example.com") scalar B
            "new" enum Color { RED }
            schema { query: Query subscription: Other }
            "#
        ),
        [
            "safe @tag DIRECTIVE_LOCATION_ADDED",
            "safe @tag DIRECTIVE_REPEATABLE_ADDED",
            "safe @tag(a:) DIRECTIVE_ARG_TYPE_WIDENED",
            "safe @tag(b:) DIRECTIVE_ARG_DEFAULT_VALUE_ADDED",
            "safe @tag(c:) OPTIONAL_DIRECTIVE_ARG_ADDED",
            "safe A SPECIFIED_BY_ADDED",
            "safe B SPECIFIED_BY_REMOVED",
            "safe Color TYPE_ADDED",
            "safe In ONE_OF_REMOVED",
            "safe In.a INPUT_FIELD_DEFAULT_VALUE_ADDED",
            "safe In.a INPUT_FIELD_TYPE_WIDENED",
            "safe Team APPLIED_DIRECTIVES_CHANGED",
            "safe Team.a FIELD_TYPE_NARROWED",
            "safe Team.b DESCRIPTION_CHANGED",
            "safe Team.b FIELD_TYPE_NARROWED",
            "safe Team.c DEPRECATION_REMOVED",
            "safe Team.d FIELD_ADDED",
            "safe Team.f(a:) ARG_TYPE_WIDENED",
            "safe Team.f(a:) DEPRECATED",
            "safe Team.f(b:) ARG_DEFAULT_VALUE_ADDED",
            "safe schema.subscription ROOT_OPERATION_ADDED",
        ]
    );
}

#[test]
fn the_order_of_definitions_and_explicit_defaults_are_not_changes() {
    for (old, new) in [
        ("enum Color { RED GREEN } scalar Date", "scalar Date enum Color { GREEN RED }"),
        ("input In { a: Int b: ID }", "input In { b: ID } extend input In { a: Int }"),
        ("", "schema { query: Query }"),
        ("", "directive @oneOf on INPUT_OBJECT"),
        ("enum Color { RED @deprecated }", r#"enum Color { RED @deprecated(reason: "No longer supported") }"#),
        ("input In { a: [Float] = 1 b: ID = 1 }", r#"input In { a: [Float] = [1.0] b: ID = "1" }"#),
    ] {
        assert_eq!(changes(old, new), [""; 0], "{old} -> {new}");
    }
}

#[test]
fn mistakes_in_an_sdl_are_reported_with_their_location() {
    let good = ("new.graphql", "type Query { name: String }");
    for (sdl, mistake) in [
        ("type Query {\n  name: \n}", "old.graphql:3:1: syntax error: expected a Type"),
        ("type Query {\n  team: Team\n}", "old.graphql:2:9: cannot find type `Team` in this document"),
        (
            "type Query {\n  f(a: Int = ONE, b: [Int!] = [1, null]): Int\n}",
            "old.graphql:2:14: the default value ONE of `a` does not fit its type Int\n\
             old.graphql:2:31: the default value [1, null] of `b` does not fit its type [Int!]",
        ),
        (
            "type Query { f(in: In): Int }\ninput In { in: In = {} }",
            "old.graphql:2:21: the default value {} of `in` does not fit its type In",
        ),
    ] {
        assert_eq!(diff(("old.graphql", sdl), good), Err(mistake.to_owned()));
    }
    let both = diff(("old.graphql", "type"), ("new.graphql", "type")).expect_err("neither is SDL");
    assert!(both.contains("old.graphql:") && both.contains("new.graphql:"), "{both}");
}

#[test]
fn the_report_is_grouped_by_class() {
    let changes = diff(
        ("old", "type Query { a: Int b: Int c(d: Int): Int }"),
        ("new", "type Query { a: Int! c(d: Int, e: Int): Int }"),
    )
    .expect("valid schemas");
    assert_eq!(
        Report(&changes).to_string(),
        "breaking (1)\n  \
           Query.b: Query.b was removed. (FIELD_REMOVED)\n\
         dangerous (1)\n  \
           Query.c(e:): An optional arg e on Query.c was added. (OPTIONAL_ARG_ADDED)\n\
         safe (1)\n  \
           Query.a: Query.a changed type from Int to Int!. (FIELD_TYPE_NARROWED)\n"
    );
    assert_eq!(Report(&[]).to_string(), "no changes\n");
}
