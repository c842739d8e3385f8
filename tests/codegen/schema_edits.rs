//! An edit to the SDL without the matching Rust stops the build, and the message of the compiler or generator names the
//! trait, the method and the file.
//!
//! Each case generates code for a small SDL with one edit, and compiles it with hand-written code that lacks the
//! change, against the library built by this test run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use codegen::{self, Bindings};

const SDL: &str = r#"
type Query { service(alias: String!): Service }
type Mutation {
  serviceRename(input: ServiceRenameInput!): ServiceRenamePayload
  tagDelete(input: TagDeleteInput!): TagDeletePayload
}
type Service { name: String! owner: Team }
type Team { name: String! }
type Error { message: String! path: [String!]! }
input ServiceRenameInput { alias: String! name: String! }
type ServiceRenamePayload { service: Service errors: [Error!]! }
input TagDeleteInput { key: String! }
type TagDeletePayload { deletedKey: String errors: [Error!]! }
"#;

/// The contents of `types.rs` for the generator.
const BINDINGS: &str = "pub use crate::service::Service; pub use crate::team::Team; pub struct State;";

const HAND_WRITTEN: &str = r#"
#![allow(dead_code, missing_docs)]
use std::sync::Arc;
use engine::error::{Code, Error, Result, UserError};

pub mod types {
    pub struct State;
    #[derive(Debug)]
    pub struct Service { pub name: String }
    #[derive(Debug)]
    pub struct Team { pub name: String }
}
pub mod schema { include!("schema.rs"); }
use schema::*;
use types::{Service, State, Team};

impl engine::State for State {
    type Writing = State;
    async fn begin(&self, _: &str) -> Result<State> { Ok(State) }
    async fn read(&self) -> Result<State> { Ok(State) }
    async fn end(&self, _: State, _: bool) -> Result<()> { Ok(()) }
    fn report(&self, error: &Error) -> (String, Code) { (error.to_string(), Code::Internal) }
    fn lost_a_race(&self, _: &Error) -> bool { false }
    fn schema(&self) -> &Arc<engine::ValidSchema> { unreachable!() }
}
impl From<UserError> for schema::Error {
    fn from(error: UserError) -> Self { Self { message: error.message.into_owned(), path: Vec::new() } }
}
impl ServiceResolver for Service {
    fn name(&self) -> &str { &self.name }
    async fn owner(services: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Team>>> {
        Ok(services.iter().map(|_| None).collect())
    }
}
impl TeamResolver for Team {
    fn name(&self) -> &str { &self.name }
}
impl ServiceQuery for Query {
    async fn service(_: &Ctx<'_>, alias: String) -> Result<Option<Service>> { Ok(Some(Service { name: alias })) }
}
impl ServiceRenameMutation for Mutation {
    async fn service_rename(_: &Ctx<'_>, input: ServiceRenameInput) -> Result<ServiceRenamePayload> {
        let ServiceRenameInput { alias: _, name } = input;
        Ok(ServiceRenamePayload { service: Some(Service { name }), ..Default::default() })
    }
}
impl TagDeleteMutation for Mutation {
    async fn tag_delete(_: &Ctx<'_>, input: TagDeleteInput) -> Result<TagDeletePayload> {
        let TagDeleteInput { key } = input;
        Ok(TagDeletePayload { deleted_key: Some(key), ..Default::default() })
    }
}
"#;

/// Compiles the hand-written code with the code generated from `sdl`. Returns the compiler's errors.
fn compile(sdl: &str) -> String {
    compile_with(sdl, BINDINGS, HAND_WRITTEN)
}

/// The same, with other bindings and other hand-written code.
fn compile_with(sdl: &str, bindings: &str, hand_written: &str) -> String {
    compile_bound(sdl, &Bindings::read("types.rs", bindings).expect("the bindings parse"), hand_written)
}

/// The same, with bindings that have been read.
pub(super) fn compile_bound(sdl: &str, bindings: &Bindings, hand_written: &str) -> String {
    let code = codegen::generate("schema/schema.graphql", sdl, bindings).expect("the SDL is in order");
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("schema.rs"), code).expect("the generated file");
    std::fs::write(folder.path().join("lib.rs"), hand_written).expect("the hand-written file");
    let (library, dependencies) = library();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2024", "--crate-type=lib", "--crate-name=case", "--emit=metadata", "--cap-lints=warn"])
        .arg("--out-dir")
        .arg(folder.path())
        .arg("-L")
        .arg(format!("dependency={}", dependencies.display()))
        .arg("--extern")
        .arg(format!("engine={}", library.display()))
        .arg(folder.path().join("lib.rs"))
        .output()
        .expect("rustc starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), !said.contains("error"), "{said}");
    if output.status.success() { String::new() } else { said }
}

/// The engine that this test is linked with, and the folder of its dependencies. Cargo may keep several builds; the
/// newest is that of this run.
fn library() -> (PathBuf, PathBuf) {
    let test = std::env::current_exe().expect("this test has a path");
    let dependencies = test.parent().expect("it lies in the target folder").to_owned();
    let files = std::fs::read_dir(&dependencies).expect("the target folder").flatten().map(|entry| entry.path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libengine-") && name.ends_with(".rlib")
    };
    let made = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let newest = files.filter(is_library).max_by_key(made);
    (newest.expect("the library was built for this test"), dependencies)
}

/// Checks that the compiler reports all of these messages.
fn stops_with(sdl: &str, parts: &[&str]) {
    let said = compile(sdl);
    // The compiler may wrap long lines, so only the words are compared.
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(flat.contains(part), "expected {part:?} in:\n{said}");
    }
}

#[test]
fn hand_written_code_that_matches_the_sdl_compiles() {
    assert_eq!(compile(SDL), "");
}

#[test]
fn a_field_that_is_added_asks_for_its_method_with_the_signature() {
    let sdl = SDL.replace("type Service { name: String!", "type Service { name: String! contactChannel: String");
    stops_with(
        &sdl,
        &[
            "E0046",
            "`contact_channel`",
            "fn contact_channel(&self) -> Option<&str>",
            "impl ServiceResolver for Service",
        ],
    );
}

#[test]
fn a_relation_that_is_added_asks_for_its_method_with_all_parents() {
    let sdl = SDL.replace("owner: Team", "owner: Team teams: [Team!]!");
    let signature = ["fn teams(services: &[&Self], ctx: &Ctx<'_>)", "Answers<Vec<super::types::Team>>"];
    stops_with(&sdl, &["E0046", "missing `teams` in implementation"]);
    stops_with(&sdl, &signature);
}

#[test]
fn a_field_that_is_removed_is_named() {
    stops_with(
        &SDL.replace(" owner: Team", ""),
        &["E0407", "method `owner` is not a member of trait `ServiceResolver`"],
    );
}

#[test]
fn a_changed_type_shows_both_types() {
    let sdl = SDL.replace("type Team { name: String! }", "type Team { name: String }");
    stops_with(&sdl, &["E0053", "Option<&str>"]);
}

#[test]
fn a_mutation_that_is_added_names_its_trait_and_its_file() {
    let sdl = SDL.replace("tagDelete(", "serviceArchive(input: TagDeleteInput!): TagDeletePayload\n  tagDelete(");
    stops_with(
        &sdl,
        &[
            "E0277",
            "nothing resolves the SDL's `Mutation.serviceArchive`",
            "write `impl ServiceArchiveMutation for Mutation` in src/catalogue/graphql/service.rs",
        ],
    );
}

#[test]
fn a_mutation_that_is_removed_is_named() {
    let sdl = SDL.replace("  tagDelete(input: TagDeleteInput!): TagDeletePayload\n", "");
    stops_with(&sdl, &["TagDeleteMutation", "cannot find trait"]);
}

#[test]
fn an_added_input_field_must_be_handled() {
    let sdl = SDL.replace("input TagDeleteInput { key: String!", "input TagDeleteInput { key: String! force: Boolean");
    stops_with(&sdl, &["E0027", "pattern does not mention field `force`"]);
}

#[test]
fn nothing_resolves_the_errors_of_a_payload_that_is_written_by_hand() {
    let sdl = SDL.replace("{ deletedKey: String", "{ teams(first: Int): [Team!]");
    let bindings = BINDINGS.replace("pub struct State;", "pub struct TagDeletePayload; pub struct State;");
    let payload = "pub struct State;
    #[derive(Debug, Default)]
    pub struct TagDeletePayload { pub is_deleted: bool, pub errors: Vec<super::schema::Error> }";
    let resolver = "
impl TagDeletePayloadResolver for TagDeletePayload {
    async fn teams(
        payloads: &[&Self],
        _: &TagDeletePayloadTeamsArgs,
        _: &Ctx<'_>,
    ) -> Result<Vec<Option<Vec<Team>>>> {
        Ok(payloads.iter().map(|_| None).collect())
    }
}";
    let hand_written = HAND_WRITTEN
        .replace("pub struct State;", payload)
        .replace("use types::{Service, State, Team};", "use types::{Service, State, TagDeletePayload, Team};")
        .replace("let TagDeleteInput { key } = input;", "let TagDeleteInput { key: _ } = input;")
        .replace("deleted_key: Some(key)", "is_deleted: true");
    assert_eq!(compile_with(&sdl, &bindings, &(hand_written + resolver)), "");
}

#[test]
fn a_type_that_nothing_resolves_names_its_trait_and_its_file() {
    let bindings = BINDINGS.replace("pub struct State;", "pub use crate::tier::Tier; pub struct State;");
    let sdl = SDL.replace("type Team {", "type Tier { name(short: Boolean): String }\ntype Team { tier: Tier ");
    let hand_written =
        HAND_WRITTEN.replace("pub struct State;", "pub struct State;\n#[derive(Debug)]\npub struct Tier;");
    let said = compile_with(&sdl, &bindings, &hand_written);
    for part in ["nothing resolves the fields of the SDL's type `Tier`", "src/catalogue/graphql/tier.rs"] {
        assert!(said.contains(part), "expected {part:?} in:\n{said}");
    }
}

#[test]
fn the_error_for_an_unbound_type_shows_the_line_to_add() {
    let sdl = SDL.replace("type Team {", "type Tier { name(short: Boolean): String }\ntype Team { tier: Tier ");
    let bindings = Bindings::read("types.rs", BINDINGS).expect("the bindings parse");
    let said = codegen::generate("schema/schema.graphql", &sdl, &bindings).expect_err("Tier is not bound").to_string();
    let expected = "\
schema/schema.graphql:8:6: `Tier` must be bound to a Rust type: its field `name` has arguments
type Tier { name(short: Boolean): String }
     ^^^^
help: make the entity in src/catalogue/entity/tier.rs, add `pub use crate::entity::tier::Model as Tier;` to src/catalogue/graphql/types.rs, \
and write `impl TierResolver for Tier` in src/catalogue/graphql/tier.rs
";
    assert_eq!(said, expected);
}

#[test]
fn without_bindings_every_type_of_the_schema_that_needs_one_is_named() {
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (sdl, types) = (file("schema/schema.graphql"), file("src/catalogue/graphql/types.rs"));
    let said = codegen::generate("schema/schema.graphql", &sdl, &Bindings::default()).expect_err("nothing is bound");
    let named: BTreeSet<&str> =
        said.problems().iter().filter_map(|problem| problem.message.split('`').nth(1)).collect();
    let uses = types.split(';').filter_map(|item| item.split("pub use ").nth(1));
    let brought = uses.flat_map(|names| {
        let names = names.rsplit(['{', ':']).next().unwrap_or_default().trim_end_matches('}');
        names.split(',').map(|name| name.trim().rsplit(' ').next().unwrap_or_default())
    });
    // The state is not an SDL type, and neither is a function.
    let is_type = |name: &&str| *name != "State" && name.starts_with(char::is_uppercase);
    let bound: BTreeSet<&str> = brought.filter(is_type).collect();
    assert_eq!(named.difference(&bound).collect::<Vec<_>>(), Vec::<&&str>::new());
    // These could be plain data, and are bound because their values are read when they are selected.
    let by_choice = [
        "FilterPredicate",
        "RelatedResourceEdge",
        "RepositoryConnectionType",
        "RepositoryPath",
        "RepositoryServiceEdge",
        "SearchResult",
        "ServiceReposEdge",
        "StandardsPreview",
    ];
    assert_eq!(bound.difference(&named).copied().collect::<Vec<_>>(), by_choice);
    assert!(said.problems().iter().all(|problem| problem.range.is_some()), "{said}");
}
