//! The program's own operations: their variables as JSON, and their responses as Rust types.

use async_graphql::MaybeUndefined::{Null, Undefined, Value};
use serde_json::{from_value, json, to_value};

use generated::order::Thing;
use generated::search::Found;
use generated::types::Day;
use generated::*;

#[allow(dead_code, clippy::all)]
mod generated {
    pub mod types {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct Day(pub String);
    }

    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/codegen/fixtures/operations/operations.rs"));
}

fn day(text: &str) -> Day {
    Day(text.to_owned())
}

/// The answer to an operation.
fn read<O: Operation>(answer: serde_json::Value) -> O::Answer {
    from_value(answer).expect("an answer of the operation's shape")
}

#[test]
fn what_is_not_given_is_null_or_absent() {
    let filter = Filter { r#type: Value("gift"), since: Undefined };
    let orders = Orders { filter: Some(filter), state: Some(State::Open), first: None };
    assert_eq!(to_value(orders).expect("JSON"), json!({ "filter": { "type": "gift" }, "state": "open" }));
    let filter = Filter { r#type: Null, since: Value(day("2026-11-22")) };
    let orders = Orders { filter: Some(filter), state: None, first: Some(1) };
    let filter = json!({ "type": null, "since": "2026-11-22" });
    assert_eq!(to_value(orders).expect("JSON"), json!({ "filter": filter, "state": null, "first": 1 }));
    assert_eq!(to_value(Filter::default()).expect("JSON"), json!({}));
    assert_eq!(to_value(Everything).expect("JSON"), json!(null));
}

#[test]
fn input_objects_are_sent_as_the_sdl_has_them() {
    let order = |things, inner| OrderInput {
        things,
        speed: Value(Speed::Fast),
        count: None,
        days: Value(vec![None, Some(vec![day("2026-11-22")])]),
        note: Undefined,
        inner,
    };
    let inner = order(vec![ThingInput::Id("1")], Null);
    let sent = to_value(PlaceOrder { input: order(vec![ThingInput::Name("a")], Value(Box::new(inner))) });
    let days = json!([null, ["2026-11-22"]]);
    let inner = json!({ "things": [{ "id": "1" }], "speed": "FAST", "days": days, "inner": null });
    let input = json!({ "things": [{ "name": "a" }], "speed": "FAST", "days": days, "inner": inner });
    assert_eq!(sent.expect("JSON"), json!({ "input": input }));
}

#[test]
fn fields_beside_fragments_are_read_whoever_selects_them() {
    let row = json!({
        "id": "1", "placedOn": "2026-11-22", "state": "closed", "type": null, "notes": ["a", null], "day": "2026-11-22",
        "buyer": { "name": "Ada" }, "seller": { "name": "Bob", "born": null }, "old": null,
    });
    let [order] = <[_; 1]>::try_from(read::<Orders>(json!({ "orders": [row] })).orders).ok().expect("one order");
    assert_eq!((&*order.order_row.id, &order.order_row.placed_on, &order.day), ("1", &day("2026-11-22"), &order.day));
    assert_eq!((order.state, order.r#type), (State::Closed, None));
    assert_eq!(order.notes, Some(vec![Some("a".to_owned()), None]));
    assert_eq!(order.seller.map(|seller| (seller.name, seller.born)), Some(("Bob".to_owned(), None)));
    // The fragment selects the day of birth of the same buyer.
    let grid =
        json!([null, [null, { "__typename": "Book", "name": "b", "pages": 7 }, { "__typename": "Film", "name": "f" }]]);
    let buyer = json!({ "name": "Ada", "born": "1815-12-10" });
    let whole = json!({ "id": "1", "placedOn": "2026-11-22", "weight": 1.5, "buyer": buyer, "grid": grid });
    let order = read::<Order>(json!({ "order": whole })).order.expect("an order");
    assert_eq!((&*order.buyer.name, order.birthday.buyer.born), ("Ada", Some(day("1815-12-10"))));
    // One was included, the other skipped.
    assert_eq!((order.weight, order.gift), (Some(1.5), None));
    let row = order.grid.expect("a grid").pop().flatten().expect("a row");
    match &*row {
        [None, Some(Thing::Book(book)), Some(Thing::Other(film))] => {
            assert_eq!((&*book.name, book.pages, &*film.name), ("b", Some(7), "f"));
        }
        _ => panic!("the row is read otherwise"),
    }
}

#[test]
fn members_of_a_union_are_told_apart() {
    let book = json!({ "__typename": "Book", "name": "b", "author": { "name": "Ada" } });
    let orders = json!([{ "id": "1", "placedOn": "2026-11-22" }]);
    let person = json!({ "__typename": "Person", "name": "Bob", "orders": orders });
    let found = read::<Search>(json!({ "search": [book, person] })).search;
    match &*found {
        [Found::Book(book), Found::Person(person)] => {
            assert_eq!((&*book.author.name, &*person.name, &*person.orders[0].id), ("Ada", "Bob", "1"));
        }
        _ => panic!("they are read otherwise"),
    }
    let unknown = json!({ "search": [{ "__typename": "Film", "name": "f" }] });
    assert!(from_value::<<Search<'_> as Operation>::Answer>(unknown).is_err());
}

#[test]
fn what_is_not_answered_is_not_made_up() {
    for (answer, is_right) in [
        (json!({ "orders": [{ "things": [] }] }), true),
        (json!({ "orders": [{ "things": [{ "__typename": "Game", "id": "1" }] }] }), true),
        (json!({ "orders": [{ "things": [null] }] }), false),
        (json!({ "orders": [{ "things": [{ "__typename": "Film", "id": "1" }] }] }), false),
        (json!({ "orders": [{}] }), false),
        (json!({ "orders": null }), false),
    ] {
        assert_eq!(from_value::<<Everything as Operation>::Answer>(answer.clone()).is_ok(), is_right, "{answer}");
    }
}

#[test]
fn words_of_an_enum_are_read_and_written() {
    assert_eq!(("open".parse::<State>(), "OPEN".parse::<State>()), (Ok(State::Open), Err(())));
    assert_eq!((State::Closed.to_string(), Speed::Slow.to_string()), ("closed".to_owned(), "SLOW".to_owned()));
}
