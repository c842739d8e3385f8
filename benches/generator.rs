//! Runs the generator over large public schemas: how long it takes, and which mistakes it reports.
//!
//! `cd tests/large-schemas && npm ci` downloads the schemas. A missing schema is skipped with a message, and fails in
//! CI.

use std::hint::black_box;
use std::path::Path;

use codegen::checkout::SDL;
use codegen::{Bindings, Checkout};
use criterion::{Criterion, criterion_group, criterion_main};

/// Name, file, and the known number of mistakes.
const SCHEMAS: &[(&str, &str, usize)] = &[
    ("octokit", "tests/large-schemas/node_modules/@octokit/graphql-schema/schema.graphql", 2),
    ("nautical", "tests/large-schemas/node_modules/@nautical-commerce/graphql-schema/nautical/schema.graphql", 0),
    (ROLLCALL, SDL, 0),
];
/// The schema whose types are bound to rows of entities.
const ROLLCALL: &str = "rollcall";

fn generator(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generator");
    group.sample_size(10);
    let checkout = Checkout { root: Path::new(env!("CARGO_MANIFEST_DIR")) };
    for (name, file, mistakes) in SCHEMAS {
        let Ok(sdl) = checkout.read(file) else {
            eprintln!("left out: {file} is not there; run `npm ci` in tests/large-schemas");
            assert!(std::env::var_os("CI").is_none(), "{file} is missing in CI");
            continue;
        };
        let bindings =
            if *name == ROLLCALL { checkout.bindings().expect("what the build reads") } else { bindings_of(&sdl) };
        match codegen::generate(file, &sdl, &bindings) {
            Ok(code) => eprintln!("{name}: {} lines of SDL, {} bytes of Rust", sdl.lines().count(), code.len()),
            Err(found) => eprintln!("{name}: {} lines of SDL\n{found}", sdl.lines().count()),
        }
        let found = codegen::generate(file, &sdl, &bindings).err().map_or(0, |found| found.problems().len());
        assert_eq!(found, *mistakes, "mistakes in {file}");
        group.bench_function(*name, |bencher| bencher.iter(|| codegen::generate(file, black_box(&sdl), &bindings)));
        // A schema with mistakes is only checked. One without is also emitted.
        if *mistakes > 0 {
            let mended = mend(&sdl);
            let bindings = bindings_of(&mended);
            assert!(codegen::generate(file, &mended, &bindings).is_ok(), "{name} is not mended");
            group.bench_function(format!("{name}, mended"), |bencher| {
                bencher.iter(|| codegen::generate(file, black_box(&mended), &bindings));
            });
        }
    }
    group.finish();
}

/// Binds the types that the generator asks for, if the schema has no other mistakes.
fn bindings_of(sdl: &str) -> Bindings {
    let found = codegen::generate("schema.graphql", sdl, &Bindings::default()).err();
    let problems = found.iter().flat_map(|found| found.problems());
    let unbound = problems.filter(|problem| problem.message.contains("must be bound"));
    let names = unbound.filter_map(|problem| problem.message.split('`').nth(1));
    let types: String = names.map(|name| format!("pub struct {name};")).collect();
    Bindings::read("types.rs", &types).expect("the names are identifiers")
}

/// The schema with every repeated field definition renamed.
fn mend(sdl: &str) -> String {
    let Err(found) = codegen::generate("schema.graphql", sdl, &Bindings::default()) else { return sdl.to_owned() };
    let mut mended = sdl.to_owned();
    let mut ends: Vec<_> = found.problems().iter().filter_map(|problem| Some(problem.range.as_ref()?.end)).collect();
    ends.sort_unstable();
    for end in ends.into_iter().rev() {
        mended.insert_str(end, "Again");
    }
    mended
}

criterion_group!(benches, generator);
criterion_main!(benches);
