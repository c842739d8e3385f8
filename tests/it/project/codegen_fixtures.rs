//! Compiles the generator's committed fixtures and runs requests over them. `tests/codegen/` keeps them up to date.

use std::sync::{Arc, Mutex};

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_graphql::Request;
use rollcall::engine::document::Documents;
use rollcall::engine::{self, Object, ObjectInfo};
use rollcall::error::{Code, Error, Result};
use serde_json::{Value, json};

/// The module `generated`, with a fixture in it.
macro_rules! generated {
    ($path:literal) => {
        #[allow(dead_code, unused_imports, non_camel_case_types, clippy::all)]
        pub mod generated {
            include!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path));
        }
    };
}
use generated;

mod abstracts;
mod inputs;
mod mutations;
mod names;
mod objects;
mod operations;
mod parts;
mod rows;

/// The state of the fixtures' resolvers: a log of their calls.
#[derive(Debug, Clone)]
pub struct State {
    schema: Arc<Valid<Schema>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl State {
    pub fn log(&self, line: impl Into<String>) {
        self.log.lock().expect("no resolver panics").push(line.into());
    }

    /// The number of log lines with this beginning.
    pub fn logged(&self, begin: &str) -> usize {
        self.log.lock().expect("no resolver panics").iter().filter(|line| line.starts_with(begin)).count()
    }
}

impl engine::State for State {
    type Writing = Self;

    async fn begin(&self, _: &str) -> Result<Self> {
        self.log("begin");
        Ok(self.clone())
    }

    async fn read(&self) -> Result<Self> {
        self.log("read");
        Ok(self.clone())
    }

    async fn end(&self, _: Self, commit: bool) -> Result<()> {
        self.log(if commit { "commit" } else { "roll back" });
        Ok(())
    }

    fn report(&self, error: &Error) -> (String, Code) {
        self.log(format!("report {error}"));
        ("it is our fault".to_owned(), Code::Internal)
    }

    fn lost_a_race(&self, error: &Error) -> bool {
        error.to_string() == "others were faster"
    }

    fn schema(&self) -> &Arc<Valid<Schema>> {
        &self.schema
    }
}

/// Runs a request over a fixture. Returns the response and the log of the resolvers.
macro_rules! ask {
    ($fixture:ident, $root:ident, $query:expr) => {
        ask(
            include_str!(concat!("../../../src/codegen/fixtures/", stringify!($fixture), ".graphql")),
            &$fixture::generated::$root,
            &$fixture::generated::info::$root,
            $query,
        )
        .await
    };
}

async fn ask<R: Object>(sdl: &str, root: &R, info: &'static ObjectInfo, query: &str) -> (Value, Vec<String>) {
    let documents = Documents::new(sdl, info, Some(info), &[], Default::default());
    let state = State { schema: Arc::clone(documents.schema()), log: Arc::default() };
    let prepared = documents.prepare(&Request::new(query)).unwrap_or_else(|errors| panic!("{query}: {errors:?}"));
    let response = engine::run(root, &prepared.plan, &prepared.arguments, &state).await;
    let log = std::mem::take(&mut *state.log.lock().expect("no resolver panics"));
    (serde_json::from_slice(&response.text).expect("JSON"), log)
}

#[tokio::test]
async fn columns_are_read_from_the_object() {
    let query =
        "{ band(id: 1) { id name nickname genre secondGenre founded active rating members } bandCount(genre: hipHop) }";
    let (answer, log) = ask!(objects, Query, query);
    let band = json!({
        "id": "1", "name": "Quartet", "nickname": null, "genre": "hipHop", "secondGenre": "JAZZ", "founded": 1990,
        "active": true, "rating": 4.5, "members": null,
    });
    assert_eq!(answer, json!({"data": {"band": band, "bandCount": 3}}));
    assert!(log.is_empty());
}

#[tokio::test]
async fn a_relation_is_resolved_once_for_the_page() {
    let query = "{ bands { nodes { link rival { link } albums(year: 1991, loud: true) { title } } edges { node { rival { name } } } } }";
    let (answer, mut log) = ask!(objects, Query, query);
    assert_eq!(
        answer["data"]["bands"]["nodes"][1],
        json!({
            "link": "/bands/2", "rival": {"link": "/bands/3"}, "albums": [{"title": "Trio 1"}, {"title": "Trio 2"}],
        })
    );
    assert_eq!(answer["data"]["bands"]["edges"][2], json!({"node": {"rival": null}}));
    log.sort();
    // Three levels for any number of rows: the nodes, their two rivals, and the nodes below the edges.
    let once = ["albums of 3: Value(Year(1991)) true", "links of 2", "links of 3", "rivals of 3", "rivals of 3"];
    assert_eq!(log, once);
}

#[tokio::test]
async fn columns_of_a_row_answer_the_fields_that_they_fit_unless_a_method_is_written() {
    let query = "{ poems { id title motto lines rhymes rating writtenOn readOn dedication form author { id name initial } translator { name } } }";
    let (answer, log) = ask!(rows, Query, query);
    let author = json!({"id": "author-7", "name": "author 7", "initial": "a"});
    let poem = json!({
        "id": "poem-1", "title": "poem 1", "motto": "carpe diem", "lines": 14, "rhymes": true, "rating": null, "writtenOn": "day 3",
        "readOn": null, "dedication": "to nobody", "form": "free", "author": author, "translator": null,
    });
    assert_eq!(answer["data"]["poems"][0], poem);
    assert_eq!(answer["data"]["poems"][1]["translator"], json!({"name": "author 8"}));
    // Once for both poems.
    let mut log = log;
    log.sort();
    assert_eq!(log, ["rows [None, Some(8)]", "rows [Some(7), Some(7)]"]);
}

#[tokio::test]
async fn relations_of_the_schema_list_rows_once_for_all_parents() {
    let query = "{ poems { author { poems(first: 1) { nodes { title } } liked { nodes { title } } } } }";
    let (answer, mut log) = ask!(rows, Query, query);
    let author = &answer["data"]["poems"][1]["author"];
    assert_eq!(author["poems"]["nodes"], json!([{"title": "poem 70"}]));
    assert_eq!(author["liked"]["nodes"], json!([{"title": "poem 700"}, {"title": "poem 701"}]));
    log.sort();
    let listed = [
        "rows [Some(7), Some(7)]",
        "rows that poem_id of fondness names, where author_id is one of [7, 7]",
        "rows whose author_id is one of [7, 7]",
    ];
    assert_eq!(log, listed);
}

#[tokio::test]
async fn a_selection_reads_the_groups_of_its_fields() {
    let whole = "11111111";
    for (selection, groups, node) in [
        ("nodes { __typename id title }", "0", json!({"__typename": "Poem", "id": "1", "title": "Gold"})),
        ("nodes { initial heading(times: 2) }", "0", json!({"initial": "G", "heading": "GoldGold, day 3"})),
        ("nodes { motto }", "1", json!({"motto": "carpe diem"})),
        ("edges { node { inscription } }", "1", json!({"inscription": "to nobody"})),
        ("nodes { author { id } }", "10", json!({"author": {"id": "7"}})),
        ("nodes { a: author { id } ...{ motto } }", "11", json!({"a": {"id": "7"}, "motto": "carpe diem"})),
        ("edges { node { motto } } nodes { author { id } }", "11", json!({"author": {"id": "7"}})),
        ("nodes { form }", whole, json!({"form": "free"})),
        ("nodes { isSigned }", whole, json!({"isSigned": true})),
    ] {
        let (answer, log) = ask!(parts, Query, &format!("{{ poems {{ {selection} }} }}"));
        assert_eq!(log, [format!("reads {groups}")], "{selection}: {answer}");
        let poems = &answer["data"]["poems"];
        let first = if poems["nodes"].is_null() { &poems["edges"][0]["node"] } else { &poems["nodes"][0] };
        assert_eq!(*first, node, "{selection}");
    }
    let (answer, log) = ask!(parts, Query, "{ poems { pageInfo { endCursor } } }");
    assert_eq!(log, ["reads 0"]);
    assert!(answer["data"]["poems"]["pageInfo"]["endCursor"].is_string(), "{answer}");

    let (_, log) = ask!(parts, Query, "{ poem { title } }");
    assert_eq!(log, [format!("reads {whole}")], "it is no connection");

    let (answer, log) = ask!(parts, Query, "{ poems { nodes { author { poems { nodes { motto isSigned } } } } } }");
    let below = &answer["data"]["poems"]["nodes"][0]["author"]["poems"]["nodes"];
    assert_eq!(*below, json!([{"motto": "carpe diem", "isSigned": true}]));
    assert_eq!(log, ["reads 10", "poems whose author_id is one of [7]", &format!("reads {whole}")]);
}

#[tokio::test]
async fn the_optional_texts_of_an_input_are_one_field() {
    let query = r#"{ poemSaid(poem: { title: "t", motto: null, lines: ["l"], form: "f" }) }"#;
    let (answer, _) = ask!(rows, Query, query);
    let said = r#"t, Value(["l"]), Value("f"), Some("none"), [("motto", Null), ("dedication", Undefined)]"#;
    assert_eq!(answer["data"]["poemSaid"], said);
}

#[tokio::test]
async fn connections_are_pages() {
    let query = "{ band(id: 3) { pages: albumPages(first: 2) { totalCount nodes { title } edges { cursor } \
                 pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }";
    let (answer, _) = ask!(objects, Query, query);
    let pages = &answer["data"]["band"]["pages"];
    assert_eq!(pages["totalCount"], 3);
    assert_eq!(pages["nodes"], json!([{"title": "Duo 1"}, {"title": "Duo 2"}]));
    assert_eq!(pages["pageInfo"]["hasNextPage"], true);
    assert_eq!(pages["pageInfo"]["hasPreviousPage"], false);
    assert_eq!(pages["pageInfo"]["startCursor"], pages["edges"][0]["cursor"]);
    assert_eq!(pages["pageInfo"]["endCursor"], pages["edges"][1]["cursor"]);
    let after = pages["pageInfo"]["endCursor"].as_str().expect("a cursor");

    let query = format!(
        "{{ band(id: 3) {{ albumPagesOf(year: 1991, after: \"{after}\") {{ nodes {{ title }} pageInfo {{ hasNextPage hasPreviousPage }} }} }} }}"
    );
    let (answer, _) = ask!(objects, Query, &query);
    let page = &answer["data"]["band"]["albumPagesOf"];
    assert_eq!(page["nodes"], json!([{"title": "Duo 3"}]));
    assert_eq!(page["pageInfo"], json!({"hasNextPage": false, "hasPreviousPage": true}));
}

#[tokio::test]
async fn an_invalid_cursor_is_a_user_error() {
    let (answer, log) = ask!(objects, Query, "{ bands(after: \"?\") { totalCount } }");
    assert_eq!(answer["data"], Value::Null);
    assert_eq!(answer["errors"][0]["path"], json!(["bands"]));
    assert_eq!(answer["errors"][0]["extensions"], json!({"code": "BAD_USER_INPUT"}));
    assert!(log.is_empty());
}

#[tokio::test]
async fn plain_objects_hold_their_fields() {
    let query = "{ playing { minute hints band { name } albums { band { players pieces shelves { title } } } next { minute hints next { minute } } } }";
    let (answer, _) = ask!(objects, Query, query);
    let band = json!({"players": ["quartet"], "pieces": [[null, "Overture"], []], "shelves": [null, [null]]});
    assert_eq!(
        answer,
        json!({"data": {"playing": {
            "minute": 0, "hints": null, "band": {"name": "Quartet"}, "albums": [{"band": band}],
            "next": {"minute": 5, "hints": ["late"], "next": null},
        }}})
    );
}

#[tokio::test]
async fn objects_of_an_interface_or_a_union_are_resolved_type_by_type_and_keep_their_order() {
    let query = "{ works { __typename ... on Exhibit { title neighbours(first: 1) { id } } ... on Label { text about { id } } \
                 ... on Painting { painter { ... on Person { name } ... on Workshop { works { __typename } } } } } \
                 exhibits { frame } borrowed { lender } }";
    let (answer, log) = ask!(abstracts, Query, query);
    let statue = json!({"__typename": "Statue", "title": "Thinker", "neighbours": []});
    let painting = json!({
        "__typename": "Painting", "title": "Sea", "neighbours": [{"id": "s"}, {"id": "p"}], "painter": {"name": "Ada"},
    });
    let label = json!({"__typename": "Label", "text": "Do not touch", "about": {"id": "s"}});
    assert_eq!(
        answer,
        json!({"data": {
            "works": [statue, label, painting, statue], "exhibits": [null, [{"frame": "oak"}]], "borrowed": [],
        }})
    );
    assert_eq!(log, ["neighbours of 1 paintings: Some(1)", "neighbours of 2 statues: Some(1) Undefined"]);
}

#[tokio::test]
async fn inputs_have_their_defaults_and_distinguish_absent_from_null() {
    let query = "{ price(parcel: {must: true, id: 7, text: null, days: \"2024-02-29\", lists: [1], to: {box: 1}, \
                 inner: {must: false, id: \"x\", days: [], to: {names: \"Ada\"}, from: {street: \"Side\"}, speeds: SLOW}}) }";
    let (answer, log) = ask!(inputs, Query, query);
    assert_eq!(answer, json!({"data": {"price": 2}}));
    let to = "Recipient { place: Undefined, box: Value(1), names: Undefined }";
    let inner_to = "Recipient { place: Undefined, box: Undefined, names: Value([\"Ada\"]) }";
    let inner = format!(
        "Parcel {{ must: false, id: \"x\", text: Undefined, weight: Some(1.0), count: 3, speed: Some(Fast), \
         speeds: Some([Some(Slow)]), day: Undefined, days: [], lists: Undefined, fragile: Undefined, \
         note: Some(\"a \\\"quoted\\\"\\nnote\"), nothing: None, \
         from: Some(Place {{ street: \"Side\", number: Undefined, country: \"NL\" }}), to: {inner_to}, \
         inner: Undefined, parts: Undefined, wrapping: Undefined }}"
    );
    let parcel = format!(
        "Parcel {{ must: true, id: \"7\", text: Null, weight: Some(1.0), count: 3, speed: Some(Fast), \
         speeds: Some([Some(Slow), None]), day: Undefined, days: [Day(\"2024-02-29\")], lists: Value([Some([1])]), \
         fragile: Undefined, note: Some(\"a \\\"quoted\\\"\\nnote\"), nothing: None, \
         from: Some(Place {{ street: \"Main\", number: Undefined, country: \"NL\" }}), to: {to}, \
         inner: Value(Boxed({inner})), parts: Undefined, wrapping: Undefined }}"
    );
    assert_eq!(log, [parcel, "Some(0.5) Undefined".to_owned()]);

    let (_, log) = ask!(inputs, Query, "{ best }");
    let at = "Some(Place { street: \"Side\", number: Value(2), country: \"NL\" })";
    assert_eq!(log, [format!("[] Undefined Some([Fast]) {at}")]);
}

#[tokio::test]
async fn a_mutation_is_one_transaction_and_its_payload_says_what_is_wrong() {
    let query = "mutation { a: noteCreate(input: {text: \"x\", colour: null}) { note { id text } errors { path } } \
                 b: noteCreate(input: {text: \"\"}) { note { id } errors { message path } warnings } \
                 c: noteCreate(input: {text: \"disk full\"}) { errors { message } } \
                 d: noteDelete(id: 1) { deletedNoteId } }";
    let (answer, log) = ask!(mutations, Mutation, query);
    assert_eq!(
        answer["data"],
        json!({
            "a": {"note": {"id": "n-x", "text": "x"}, "errors": []},
            "b": {"note": null, "errors": [{"message": "is empty", "path": ["input", "text"]}], "warnings": []},
            "c": null,
            "d": {"deletedNoteId": "1"},
        })
    );
    assert_eq!(
        answer["errors"],
        json!([{
            "message": "it is our fault", "path": ["c"], "locations": [{"line": 1, "column": query.find("c:").map(|at| at + 1)}],
            "extensions": {"code": "INTERNAL"},
        }])
    );
    assert_eq!(
        log,
        [
            "begin",
            "create x, Null",
            "commit",
            "begin",
            "create , Undefined",
            "roll back",
            "begin",
            "create disk full, Undefined",
            "roll back",
            "report no space left",
            "begin",
            "commit",
        ]
    );
}

#[tokio::test]
async fn a_mutation_that_loses_a_race_is_retried_from_its_beginning() {
    let query = "mutation { noteCreate(input: {text: \"contended\"}) { note { text } errors { message } } }";
    let (answer, log) = ask!(mutations, Mutation, query);
    assert_eq!(answer, json!({"data": {"noteCreate": {"note": {"text": "contended"}, "errors": []}}}));
    let [create, back] = ["create contended, Undefined", "roll back"];
    assert_eq!(log, ["begin", create, back, "begin", create, back, "begin", create, "commit"]);
}

#[tokio::test]
async fn a_mutation_that_loses_every_race_reports_a_conflict() {
    let query = "mutation { noteCreate(input: {text: \"hopeless\"}) { note { text } errors { message path } } }";
    let (answer, log) = ask!(mutations, Mutation, query);
    let message = "Conflict with another change. Please retry.";
    let errors = json!([{"message": message, "path": ["base"]}]);
    assert_eq!(answer, json!({"data": {"noteCreate": {"note": null, "errors": errors}}}));
    assert_eq!(log.iter().filter(|line| *line == "begin").count(), 5);
    assert!(!log.iter().any(|line| line == "commit"));
}

#[tokio::test]
async fn the_errors_of_a_mutation_without_a_payload_are_top_level_errors() {
    let query = "mutation { notes(texts: \"a\") { text about { id } } noteRename(id: 1) { note { id } } noteCount }";
    let (answer, _) = ask!(mutations, Mutation, query);
    assert_eq!(answer["data"], Value::Null);
    assert_eq!(answer["errors"][0]["message"], "is needed");
    assert_eq!(answer["errors"][0]["path"], json!(["noteRename"]));
    assert_eq!(answer["errors"][1]["message"], "nobody counts");
}

#[tokio::test]
async fn fields_may_have_names_that_rust_reserves() {
    let query = "{ type(type: \"t\", self: 1, ctx: true, fn: self) { type self field out HTTPUrl iOS _private v1_2 dyn fields(ref: \"x\") { self } } \
                 self { self crate super { object } object } match { enum move rows { enum } } async { ... on struct { move } ... on Self { type } } \
                 execution(field: 1, rows: 2, answer: 3, arguments: 4, state: 5, execution: 6) }";
    let (answer, _) = ask!(names, query, query);
    assert_eq!(
        answer,
        json!({"data": {
            "type": {
                "type": "self", "self": 1, "field": 2, "out": null, "HTTPUrl": "/", "iOS": null, "_private": null, "v1_2": 12,
                "dyn": [true, null], "fields": {"self": 1},
            },
            "self": {"self": 3, "crate": null, "super": null, "object": 4},
            "match": [{"enum": "_1", "move": ["_", "Self_x", "in_Progress"], "rows": null}],
            "async": {"move": ["_", "Self_x", "in_Progress"]},
            "execution": "123456",
        }})
    );
    let query = "mutation { loop { ok { Some } errors { message } } other: loop(move: {type: \"\"}) { ok { Some } } yield(state: 1, ctx: 2, answer: 3) }";
    let (answer, _) = ask!(names, MUTATION, query);
    assert_eq!(
        answer,
        json!({"data": {
            "loop": {"ok": null, "errors": [{"message": "no loops"}]}, "other": {"ok": {"Some": 1}}, "yield": 123,
        }})
    );
}
