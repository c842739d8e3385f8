//! Executes a list of 100 objects with 12 columns and five children of three columns each, from a prepared plan to the
//! bytes of the response. Compared with the same types, rows and query on async-graphql's macros. On both sides, the
//! rows are in memory and the document is already parsed.

use std::hint::black_box;
use std::sync::{Arc, LazyLock};

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_graphql::Request;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rollcall::engine;
use rollcall::engine::document::Documents;
use rollcall::engine::write::{Scalar, Writer};
use rollcall::error::Result;

use generated::{ChildResolver, Ctx, ItemResolver, ItemsQuery, Phase, Query};
use types::{Child, ID, Item, State};

mod macros;

/// Generated from the SDL. `tests/codegen/` keeps it up to date.
#[allow(dead_code, missing_docs, clippy::all)]
mod generated {
    include!("schema.rs");
}

/// The Rust types bound to SDL types.
mod types {
    #[derive(Debug, Clone, Copy)]
    pub struct Item(pub &'static super::ItemRow);
    #[derive(Debug, Clone, Copy)]
    pub struct Child(pub &'static super::ChildRow);
    pub struct ID(pub i32);
    pub struct State(pub std::sync::Arc<apollo_compiler::validation::Valid<apollo_compiler::Schema>>);
}

const QUERY: &str = "{ items { id name description language framework product count rank ratio active phase createdAt \
                     children { id key value } } }";

#[derive(Debug)]
struct ItemRow {
    id: i32,
    name: String,
    description: Option<String>,
    language: Option<String>,
    framework: Option<String>,
    product: Option<String>,
    count: i32,
    rank: Option<i32>,
    ratio: f64,
    active: bool,
    phase: Phase,
    created_at: String,
    children: Vec<ChildRow>,
}

#[derive(Debug)]
struct ChildRow {
    id: i32,
    key: String,
    value: String,
}

static ROWS: LazyLock<Vec<ItemRow>> = LazyLock::new(|| {
    let child = |id| ChildRow { id, key: format!("key-{id}"), value: format!("the value of {id}") };
    let item = |id: i32| ItemRow {
        id,
        name: format!("Service number {id}"),
        description: Some(format!("What it does, in a \"sentence\" or two, is said here: {id}.")),
        language: Some("Rust".to_owned()),
        framework: (id % 3 != 0).then(|| "none to speak of".to_owned()),
        product: Some("Catalogue".to_owned()),
        count: id * 1000,
        rank: (id % 4 != 0).then_some(id),
        ratio: f64::from(id) / 8.0 + 0.01,
        active: id % 2 == 0,
        phase: if id % 5 == 0 { Phase::Planned } else { Phase::Running },
        created_at: "2024-02-29T12:34:56.789Z".to_owned(),
        children: (0..5).map(|child_id| child(id * 10 + child_id)).collect(),
    };
    (1..=100).map(item).collect()
});

impl engine::State for State {
    type Writing = Self;

    async fn begin(&self, _: &str) -> Result<Self> {
        Ok(Self(Arc::clone(&self.0)))
    }

    async fn read(&self) -> Result<Self> {
        self.begin("").await
    }

    async fn end(&self, _: Self, _commit: bool) -> Result<()> {
        Ok(())
    }

    fn report(&self, error: &rollcall::error::Error) -> (String, rollcall::error::Code) {
        (error.to_string(), rollcall::error::Code::Internal)
    }

    fn lost_a_race(&self, _: &rollcall::error::Error) -> bool {
        false
    }

    fn schema(&self) -> &Arc<Valid<Schema>> {
        &self.0
    }
}

impl Scalar for ID {
    fn write(&self, out: &mut Writer<'_>) {
        out.raw("\"");
        out.integer(self.0);
        out.raw("\"");
    }
}

impl ItemsQuery for Query {
    async fn items(_: &Ctx<'_>) -> Result<Vec<Item>> {
        Ok(ROWS.iter().map(Item).collect())
    }
}

impl ItemResolver for Item {
    fn id(&self) -> ID {
        ID(self.0.id)
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }
    fn language(&self) -> Option<&str> {
        self.0.language.as_deref()
    }
    fn framework(&self) -> Option<&str> {
        self.0.framework.as_deref()
    }
    fn product(&self) -> Option<&str> {
        self.0.product.as_deref()
    }
    fn count(&self) -> i32 {
        self.0.count
    }
    fn rank(&self) -> Option<i32> {
        self.0.rank
    }
    fn ratio(&self) -> f64 {
        self.0.ratio
    }
    fn active(&self) -> bool {
        self.0.active
    }
    fn phase(&self) -> Phase {
        self.0.phase
    }
    fn created_at(&self) -> &str {
        &self.0.created_at
    }
    async fn children(items: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<Child>>> {
        Ok(items.iter().map(|item| item.0.children.iter().map(Child).collect()).collect())
    }
}

impl ChildResolver for Child {
    fn id(&self) -> ID {
        ID(self.0.id)
    }
    fn key(&self) -> &str {
        &self.0.key
    }
    fn value(&self) -> &str {
        &self.0.value
    }
}

fn bench(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (sdl, info) = (include_str!("schema.graphql"), &generated::info::Query);
    let documents = Documents::new(sdl, info, None, generated::info::SCALARS, Default::default());
    let prepared = documents.prepare(&Request::new(QUERY)).expect("a valid query");
    let state = State(Arc::clone(documents.schema()));
    let ours = || runtime.block_on(engine::run(&Query, &prepared.plan, &prepared.arguments, &state)).text;
    let macros = macros::Engine::new(QUERY);
    let theirs = || runtime.block_on(macros.run());

    let json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON");
    assert!(json(&ours()) == json(&theirs()), "both answer the same");
    println!("the answer has {} bytes", ours().len());

    let mut group = c.benchmark_group("list of 100 x 12, 5 x 3 each");
    group.throughput(Throughput::Bytes(ours().len() as u64));
    group.bench_function("rollcall", |b| b.iter(|| black_box(ours())));
    group.bench_function("async-graphql macros", |b| b.iter(|| black_box(theirs())));
    group.finish();

    c.bench_function("prepare a known text", |b| b.iter(|| documents.prepare(black_box(&Request::new(QUERY)))));
}

criterion_group!(benches, bench);
criterion_main!(benches);
