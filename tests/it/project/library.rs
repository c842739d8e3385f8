//! The library that `tests/graphql-js` queries: hand-written resolvers over `data.json`, by the rules of `record.mjs`.
//!
//! A row is a reference into the data, which is read once. A relation returns rows by their identifiers.

use std::collections::HashMap;
use std::sync::LazyLock;

use rollcall::engine::Boxed;
use rollcall::engine::input::MaybeUndefined;
use rollcall::error::{Result, UserError};
use serde::Deserialize;

use generated::*;
use types::{Book, Calm, Date, Film, Harsh, ID, Person, Shelf, Tally, Ward};

/// Generated from `schema.graphql`.
#[allow(dead_code, clippy::all)]
pub mod generated {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphql-js/schema.rs"));
}

/// The Rust types bound to SDL types.
pub mod types {
    #[derive(Debug, Clone, Copy)]
    pub struct Book(pub &'static super::BookRow);
    #[derive(Debug, Clone, Copy)]
    pub struct Film(pub &'static super::FilmRow);
    #[derive(Debug, Clone, Copy)]
    pub struct Person(pub &'static super::PersonRow);
    #[derive(Debug, Clone, Copy)]
    pub struct Shelf(pub &'static super::ShelfRow);
    #[derive(Debug, Clone, Copy)]
    pub struct Calm(pub &'static super::CalmRow);
    #[derive(Debug, Clone, Copy)]
    pub struct Harsh(pub &'static super::HarshRow);
    #[derive(Debug, Clone, Copy)]
    pub struct Ward(pub &'static super::WardRow);
    /// The result of a change, and the values until then.
    #[derive(Debug, Clone)]
    pub struct Tally(pub Vec<i32>);
    #[derive(Debug, Clone, PartialEq)]
    pub struct Date(pub String);
    pub type ID = &'static str;
    /// The counter of a request, shared by its mutations.
    #[derive(Debug, Clone)]
    pub struct State {
        pub schema: std::sync::Arc<apollo_compiler::validation::Valid<apollo_compiler::Schema>>,
        pub counter: std::sync::Arc<std::sync::Mutex<super::Counter>>,
    }
}

/// A counter and all values it has had.
#[derive(Debug, Clone)]
pub struct Counter {
    value: i32,
    history: Vec<i32>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { value: DATA.counter, history: vec![DATA.counter] }
    }
}

impl Counter {
    fn set(&mut self, value: i32) {
        self.value = value;
        self.history.push(value);
    }

    fn add(&mut self, by: i32) -> Tally {
        self.set(self.value + by);
        Tally(self.history.clone())
    }
}

impl types::State {
    fn counter(&self) -> std::sync::MutexGuard<'_, Counter> {
        self.counter.lock().expect("no resolver panics")
    }
}

impl rollcall::engine::State for types::State {
    type Writing = Self;

    async fn begin(&self, _: &str) -> Result<Self> {
        Ok(self.clone())
    }

    async fn read(&self) -> Result<Self> {
        Ok(self.clone())
    }

    async fn end(&self, _: Self, _commit: bool) -> Result<()> {
        Ok(())
    }

    fn report(&self, error: &rollcall::error::Error) -> (String, rollcall::error::Code) {
        (format!("internal: {error}"), rollcall::error::Code::Internal)
    }

    fn lost_a_race(&self, _: &rollcall::error::Error) -> bool {
        false
    }

    fn schema(&self) -> &std::sync::Arc<apollo_compiler::validation::Valid<apollo_compiler::Schema>> {
        &self.schema
    }
}

impl rollcall::engine::write::Scalar for Date {
    fn write(&self, out: &mut rollcall::engine::write::Writer<'_>) {
        out.string(&self.0);
    }
}

impl rollcall::engine::input::Input for Date {
    fn read(value: &rollcall::engine::input::Value) -> Result<Self, rollcall::engine::input::InputError> {
        let looks_right = |text: &str| {
            let digits = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
            let parts: Vec<_> = text.split('-').collect();
            matches!(parts[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2))
        };
        match value {
            rollcall::engine::input::Value::String(text) if looks_right(text) => Ok(Self(text.clone())),
            _ => Err(rollcall::engine::input::InputError::new("A Date looks like 2024-02-29.")),
        }
    }
}

// ---- the data ----

type Id = String;
type Ids<T = Id> = Vec<T>;

#[derive(Debug, Deserialize)]
struct Data {
    counter: i32,
    viewer: Id,
    ward: Id,
    troubles: Ids<Option<Id>>,
    books: Vec<BookRow>,
    films: Vec<FilmRow>,
    people: Vec<PersonRow>,
    shelves: Vec<ShelfRow>,
    calms: Vec<CalmRow>,
    harshes: Vec<HarshRow>,
    wards: Vec<WardRow>,
}

#[derive(Debug, Deserialize)]
pub struct BookRow {
    id: Id,
    name: String,
    condition: String,
    price: Option<f64>,
    pages: i32,
    isbn: Option<String>,
    published: Option<String>,
    tags: Vec<String>,
    scores: Option<Vec<Option<Vec<Option<f64>>>>>,
    shelf: Id,
    related: Ids,
    authors: Ids,
    sequel: Option<Id>,
    borrower: Option<Id>,
}

#[derive(Debug, Deserialize)]
pub struct FilmRow {
    id: Id,
    name: String,
    condition: String,
    price: Option<f64>,
    minutes: Option<i32>,
    shelf: Option<Id>,
    related: Option<Ids<Option<Id>>>,
    director: Option<Id>,
}

#[derive(Debug, Deserialize)]
pub struct PersonRow {
    id: Id,
    name: String,
    born: Option<String>,
    friend: Option<Id>,
    wrote: Ids,
    likes: Ids<Option<Id>>,
    motto: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct ShelfRow {
    id: Id,
    name: String,
    floor: i32,
    width: Option<f64>,
    open: bool,
    keeper: Option<Id>,
    holdings: Ids,
    rows: Vec<Ids>,
    gaps: Option<Vec<Option<Ids<Option<Id>>>>>,
}

#[derive(Debug, Deserialize)]
pub struct CalmRow {
    id: Id,
    label: String,
    word: String,
    sure: String,
    one: Id,
    must: Id,
    next: Option<Id>,
    kin: Ids,
    ward: Id,
}

#[derive(Debug, Deserialize)]
pub struct HarshRow {
    id: Id,
    label: String,
    next: Option<Id>,
    kin: Option<Ids>,
    ward: Id,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WardRow {
    id: Id,
    loose: Option<Ids<Option<Id>>>,
    filled: Option<Ids>,
    firm: Ids<Option<Id>>,
    strict: Ids,
    grid: Option<Vec<Option<Ids<Option<Id>>>>>,
    full_grid: Option<Vec<Option<Ids>>>,
    firm_rows: Option<Vec<Ids<Option<Id>>>>,
    strict_grid: Vec<Ids>,
    words: Option<Vec<Option<String>>>,
    numbers: Vec<Option<Vec<Option<i32>>>>,
}

static DATA: LazyLock<Data> = LazyLock::new(|| {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphql-js/data.json"));
    serde_json::from_str(text).expect("the data is of these types")
});

/// One row of any table.
#[derive(Debug, Clone, Copy)]
enum Row {
    Book(Book),
    Film(Film),
    Person(Person),
    Shelf(Shelf),
    Calm(Calm),
    Harsh(Harsh),
    Ward(Ward),
}

static ROWS: LazyLock<HashMap<ID, Row>> = LazyLock::new(|| {
    let mut rows: HashMap<ID, Row> = HashMap::new();
    rows.extend(DATA.books.iter().map(|row| (row.id.as_str(), Row::Book(Book(row)))));
    rows.extend(DATA.films.iter().map(|row| (row.id.as_str(), Row::Film(Film(row)))));
    rows.extend(DATA.people.iter().map(|row| (row.id.as_str(), Row::Person(Person(row)))));
    rows.extend(DATA.shelves.iter().map(|row| (row.id.as_str(), Row::Shelf(Shelf(row)))));
    rows.extend(DATA.calms.iter().map(|row| (row.id.as_str(), Row::Calm(Calm(row)))));
    rows.extend(DATA.harshes.iter().map(|row| (row.id.as_str(), Row::Harsh(Harsh(row)))));
    rows.extend(DATA.wards.iter().map(|row| (row.id.as_str(), Row::Ward(Ward(row)))));
    rows
});

/// The types that an identifier may have.
trait OfRow: Sized {
    fn of_row(row: Row) -> Option<Self>;
}

macro_rules! of_row {
    ($($target:ident: $($row:ident)*;)*) => {$(
        impl OfRow for $target {
            fn of_row(row: Row) -> Option<Self> {
                match row {
                    $(Row::$row(row) => Some(row.into()),)*
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }
        }
    )*};
}

of_row! {
    Book: Book;
    Film: Film;
    Person: Person;
    Shelf: Shelf;
    Calm: Calm;
    Harsh: Harsh;
    Ward: Ward;
    Node: Book Film Person Shelf Calm Harsh Ward;
    Holding: Book Film;
    Find: Book Film Person Shelf;
    Trouble: Calm Harsh;
}

/// The row with an identifier, if it exists and has this type.
fn find<T: OfRow>(id: &str) -> Option<T> {
    ROWS.get(id).copied().and_then(T::of_row)
}

/// Resolves identifiers, optional and in lists, to their rows.
trait Get<T> {
    fn get(&self) -> T;
}

impl<T: OfRow> Get<T> for Id {
    fn get(&self) -> T {
        find(self).unwrap_or_else(|| panic!("{self} stands for nothing of this type"))
    }
}

impl<I: Get<T>, T> Get<Option<T>> for Option<I> {
    fn get(&self) -> Option<T> {
        self.as_ref().map(Get::get)
    }
}

impl<I: Get<T>, T> Get<Vec<T>> for Vec<I> {
    fn get(&self) -> Vec<T> {
        self.iter().map(Get::get).collect()
    }
}

/// A value that is in no table is used as it is.
macro_rules! as_it_is {
    ($($ty:ty)*) => {$(
        impl Get<$ty> for $ty {
            fn get(&self) -> $ty {
                self.clone()
            }
        }
    )*};
}

as_it_is! { String i32 f64 }

/// The first `n` items of a list; all of them without `n`.
fn cut<T>(mut list: Vec<T>, n: Option<i32>) -> Vec<T> {
    if let Some(n) = n {
        list.truncate(usize::try_from(n).unwrap_or(0));
    }
    list
}

fn condition(word: &str) -> Condition {
    Condition::from_word(word).unwrap_or_else(|| panic!("{word} is no condition"))
}

fn fail<T>(message: &str) -> Result<T> {
    Err(UserError::base(message.to_owned()).into())
}

/// Fails if the data says so.
fn fail_if(message: &MaybeUndefined<String>) -> Result<()> {
    message.value().map_or(Ok(()), |message| fail(message))
}

fn summary(name: &str, length: i32) -> String {
    name.chars().take(usize::try_from(length).unwrap_or(0)).collect()
}

/// Relations that return what the row holds.
macro_rules! held {
    ($($name:ident: $answer:ty;)*) => {$(
        async fn $name(rows: &[&Self], _: &Ctx<'_>) -> Result<Vec<$answer>> {
            Ok(rows.iter().map(|row| row.0.$name.get()).collect())
        }
    )*};
}

/// Relations that return what the row holds, or fail if the data says so.
macro_rules! held_or_failed {
    ($($name:ident($args:ty): $answer:ty;)*) => {$(
        async fn $name(rows: &[&Self], args: &$args, _: &Ctx<'_>) -> Result<Vec<$answer>> {
            fail_if(&args.fail)?;
            Ok(rows.iter().map(|row| row.0.$name.get()).collect())
        }
    )*};
}

/// Relations that always fail.
macro_rules! failing {
    ($($name:ident($args:ty): $answer:ty;)*) => {$(
        async fn $name(_: &[&Self], args: &$args, _: &Ctx<'_>) -> Result<Vec<$answer>> {
            fail_if(&args.fail)?;
            fail(concat!("harsh: ", stringify!($name)))
        }
    )*};
}

// ---- the types ----

impl BookResolver for Book {
    fn id(&self) -> ID {
        &self.0.id
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn condition(&self) -> Condition {
        condition(&self.0.condition)
    }
    fn price(&self) -> Option<f64> {
        self.0.price
    }
    fn pages(&self) -> i32 {
        self.0.pages
    }
    fn isbn(&self) -> Option<&str> {
        self.0.isbn.as_deref()
    }
    fn published(&self) -> Option<Date> {
        self.0.published.clone().map(Date)
    }
    held! {
        tags: Vec<String>;
        scores: Option<Vec<Option<Vec<Option<f64>>>>>;
        shelf: Shelf;
        authors: Vec<Person>;
        sequel: Option<Book>;
        borrower: Option<Person>;
    }
    async fn related(books: &[&Self], args: &BookRelatedArgs, _: &Ctx<'_>) -> Result<Vec<Vec<Book>>> {
        Ok(books.iter().map(|book| cut(book.0.related.get(), args.first)).collect())
    }
    async fn summary(books: &[&Self], args: &BookSummaryArgs, _: &Ctx<'_>) -> Result<Vec<String>> {
        let end = if args.loud == Some(true) { "!" } else { "" };
        Ok(books.iter().map(|book| summary(&book.0.name, args.length) + end).collect())
    }
}

impl FilmResolver for Film {
    fn id(&self) -> ID {
        &self.0.id
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn condition(&self) -> Condition {
        condition(&self.0.condition)
    }
    fn price(&self) -> Option<f64> {
        self.0.price
    }
    fn minutes(&self) -> Option<i32> {
        self.0.minutes
    }
    held! {
        shelf: Option<Shelf>;
        director: Option<Person>;
    }
    async fn related(
        films: &[&Self],
        args: &FilmRelatedArgs,
        _: &Ctx<'_>,
    ) -> Result<Vec<Option<Vec<Option<Holding>>>>> {
        let related = |film: &&Self| film.0.related.as_ref().map(|related| cut(related.get(), args.first));
        Ok(films.iter().map(related).collect())
    }
    async fn summary(films: &[&Self], args: &FilmSummaryArgs, _: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        Ok(films.iter().map(|film| Some(summary(&film.0.name, args.length))).collect())
    }
}

impl PersonResolver for Person {
    fn id(&self) -> ID {
        &self.0.id
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn born(&self) -> Option<Date> {
        self.0.born.clone().map(Date)
    }
    fn motto(&self) -> Option<&str> {
        self.0.motto.as_deref()
    }
    held! {
        friend: Option<Person>;
        likes: Vec<Option<Find>>;
    }
    async fn wrote(people: &[&Self], args: &PersonWroteArgs, _: &Ctx<'_>) -> Result<Vec<Vec<Book>>> {
        Ok(people.iter().map(|person| cut(person.0.wrote.get(), args.first.value().copied())).collect())
    }
}

impl ShelfResolver for Shelf {
    fn id(&self) -> ID {
        &self.0.id
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn floor(&self) -> i32 {
        self.0.floor
    }
    fn width(&self) -> Option<f64> {
        self.0.width
    }
    fn open(&self) -> bool {
        self.0.open
    }
    held! {
        keeper: Option<Person>;
        rows: Vec<Vec<Holding>>;
        gaps: Option<Vec<Option<Vec<Option<Holding>>>>>;
    }
    async fn holdings(shelfs: &[&Self], args: &ShelfHoldingsArgs, _: &Ctx<'_>) -> Result<Vec<Vec<Holding>>> {
        let asked = args.condition.value().copied();
        Ok(shelfs.iter().map(|shelf| looking(shelf.0.holdings.get(), asked)).collect())
    }
}

/// The holdings with one condition, or all.
fn looking(holdings: Vec<Holding>, asked: Option<Condition>) -> Vec<Holding> {
    let looks = |holding: &Holding| match holding {
        Holding::Book(book) => book.condition(),
        Holding::Film(film) => film.condition(),
    };
    holdings.into_iter().filter(|holding| asked.is_none_or(|asked| looks(holding) == asked)).collect()
}

impl CalmResolver for Calm {
    fn id(&self) -> ID {
        &self.0.id
    }
    fn label(&self) -> &str {
        &self.0.label
    }
    held_or_failed! {
        word(CalmWordArgs): String;
        sure(CalmSureArgs): String;
        one(CalmOneArgs): Trouble;
        must(CalmMustArgs): Calm;
        next(CalmNextArgs): Option<Trouble>;
        kin(CalmKinArgs): Vec<Trouble>;
        ward(CalmWardArgs): Ward;
    }
}

impl HarshResolver for Harsh {
    fn id(&self) -> ID {
        &self.0.id
    }
    fn label(&self) -> &str {
        &self.0.label
    }
    failing! {
        word(HarshWordArgs): Option<String>;
        sure(HarshSureArgs): String;
        one(HarshOneArgs): Option<Trouble>;
        must(HarshMustArgs): Trouble;
    }
    held_or_failed! {
        next(HarshNextArgs): Option<Trouble>;
        kin(HarshKinArgs): Option<Vec<Harsh>>;
        ward(HarshWardArgs): Ward;
    }
}

impl WardResolver for Ward {
    fn id(&self) -> ID {
        &self.0.id
    }
    held_or_failed! {
        loose(WardLooseArgs): Option<Vec<Option<Trouble>>>;
        filled(WardFilledArgs): Option<Vec<Trouble>>;
        firm(WardFirmArgs): Vec<Option<Trouble>>;
        strict(WardStrictArgs): Vec<Trouble>;
        grid(WardGridArgs): Option<Vec<Option<Vec<Option<Trouble>>>>>;
        full_grid(WardFullGridArgs): Option<Vec<Option<Vec<Trouble>>>>;
        firm_rows(WardFirmRowsArgs): Option<Vec<Vec<Option<Trouble>>>>;
        strict_grid(WardStrictGridArgs): Vec<Vec<Trouble>>;
        words(WardWordsArgs): Option<Vec<Option<String>>>;
        numbers(WardNumbersArgs): Vec<Option<Vec<Option<i32>>>>;
    }
}

impl TallyResolver for Tally {
    fn value(&self) -> i32 {
        self.0.last().copied().unwrap_or_default()
    }
    async fn now(tallys: &[&Self], args: &TallyNowArgs, ctx: &Ctx<'_>) -> Result<Vec<i32>> {
        fail_if(&args.fail)?;
        Ok(tallys.iter().map(|_| ctx.state.counter().value).collect())
    }
    async fn note(tallys: &[&Self], args: &TallyNoteArgs, _: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        fail_if(&args.fail)?;
        Ok(tallys.iter().map(|_| Some(args.text.clone())).collect())
    }
    async fn history(tallys: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<i32>>> {
        Ok(tallys.iter().map(|tally| tally.0.clone()).collect())
    }
    async fn trouble(tallys: &[&Self], args: &TallyTroubleArgs, _: &Ctx<'_>) -> Result<Vec<Option<Trouble>>> {
        fail_if(&args.fail)?;
        Ok(tallys.iter().map(|_| find(&args.id)).collect())
    }
    async fn must_trouble(tallys: &[&Self], args: &TallyMustTroubleArgs, _: &Ctx<'_>) -> Result<Vec<Trouble>> {
        fail_if(&args.fail)?;
        tallys.iter().map(|_| find(&args.id).map_or_else(|| fail("nothing has this identifier"), Ok)).collect()
    }
}

// ---- queries ----

impl NodeQuery for Query {
    async fn node(_: &Ctx<'_>, id: String) -> Result<Option<Node>> {
        Ok(find(&id))
    }
}

impl NodesQuery for Query {
    async fn nodes(_: &Ctx<'_>, ids: Vec<String>) -> Result<Vec<Option<Node>>> {
        Ok(ids.iter().map(|id| find(id)).collect())
    }
}

impl ViewerQuery for Query {
    async fn viewer(_: &Ctx<'_>) -> Result<Option<Person>> {
        Ok(find(&DATA.viewer))
    }
}

impl ShelfQuery for Query {
    async fn shelf(_: &Ctx<'_>, id: String) -> Result<Option<Shelf>> {
        Ok(find(&id))
    }
}

impl ShelvesQuery for Query {
    async fn shelves(_: &Ctx<'_>) -> Result<Vec<Shelf>> {
        Ok(DATA.shelves.iter().map(Shelf).collect())
    }
}

impl HoldingsQuery for Query {
    async fn holdings(_: &Ctx<'_>, condition: MaybeUndefined<Condition>, first: Option<i32>) -> Result<Vec<Holding>> {
        let books = DATA.books.iter().map(|row| Holding::Book(Book(row)));
        let all = books.chain(DATA.films.iter().map(|row| Holding::Film(Film(row)))).collect();
        Ok(cut(looking(all, condition.value().copied()), first))
    }
}

/// Finds books, films, people and shelves by name.
fn named() -> impl Iterator<Item = (&'static str, Find)> {
    let books = DATA.books.iter().map(|row| (row.name.as_str(), Find::Book(Book(row))));
    let films = DATA.films.iter().map(|row| (row.name.as_str(), Find::Film(Film(row))));
    let people = DATA.people.iter().map(|row| (row.name.as_str(), Find::Person(Person(row))));
    let shelves = DATA.shelves.iter().map(|row| (row.name.as_str(), Find::Shelf(Shelf(row))));
    books.chain(films).chain(people).chain(shelves)
}

impl SearchQuery for Query {
    async fn search(_: &Ctx<'_>, text: String, first: i32) -> Result<Vec<Find>> {
        let found = named().filter(|(name, _)| name.contains(&text)).map(|(_, find)| find);
        Ok(cut(found.collect(), Some(first)))
    }
}

impl PickQuery for Query {
    async fn pick(_: &Ctx<'_>, by: Pick) -> Result<Option<Node>> {
        let Pick { id, name, range, list: _ } = by;
        if let MaybeUndefined::Value(id) = id {
            return Ok(find(&id));
        }
        if let MaybeUndefined::Value(name) = name {
            let found = named().find(|(known, _)| *known == name).map(|(_, find)| find);
            return Ok(found.map(|find| match find {
                Find::Book(book) => book.into(),
                Find::Film(film) => film.into(),
                Find::Person(person) => person.into(),
                Find::Shelf(shelf) => shelf.into(),
            }));
        }
        if let MaybeUndefined::Value(range) = range {
            let high_enough = DATA.shelves.iter().filter(|shelf| shelf.floor >= range.from);
            return Ok(high_enough.min_by_key(|shelf| shelf.floor).map(|row| Shelf(row).into()));
        }
        Ok(None)
    }
}

impl NothingQuery for Query {
    async fn nothing(_: &Ctx<'_>) -> Result<Option<Holding>> {
        Ok(None)
    }
}

impl EmptyQuery for Query {
    async fn empty(_: &Ctx<'_>) -> Result<Vec<Find>> {
        Ok(Vec::new())
    }
}

impl TroubleQuery for Query {
    async fn trouble(_: &Ctx<'_>, id: String, fail: MaybeUndefined<String>) -> Result<Option<Trouble>> {
        fail_if(&fail)?;
        Ok(find(&id))
    }
}

impl MustTroubleQuery for Query {
    async fn must_trouble(_: &Ctx<'_>, id: String, fail: MaybeUndefined<String>) -> Result<Trouble> {
        fail_if(&fail)?;
        find(&id).map_or_else(|| crate::project::library::fail("nothing has this identifier"), Ok)
    }
}

impl TroublesQuery for Query {
    async fn troubles(_: &Ctx<'_>, fail: MaybeUndefined<String>) -> Result<Option<Vec<Option<Trouble>>>> {
        fail_if(&fail)?;
        Ok(Some(DATA.troubles.get()))
    }
}

impl WardQuery for Query {
    async fn ward(_: &Ctx<'_>, fail: MaybeUndefined<String>) -> Result<Ward> {
        fail_if(&fail)?;
        Ok(DATA.ward.get())
    }
}

impl OldQuery for Query {
    async fn old(_: &Ctx<'_>) -> Result<Option<String>> {
        Ok(Some("old".to_owned()))
    }
}

impl OlderQuery for Query {
    async fn older(_: &Ctx<'_>, than: MaybeUndefined<i32>) -> Result<Option<String>> {
        Ok(Some(than.value().map_or("older".to_owned(), |than| format!("older than {than}"))))
    }
}

impl EchoQuery for Query {
    async fn echo(
        _: &Ctx<'_>,
        input: MaybeUndefined<EchoInput>,
        list: MaybeUndefined<Vec<i32>>,
        r#enum: MaybeUndefined<Condition>,
        id: MaybeUndefined<String>,
        i: Option<i32>,
        f: Option<f64>,
        s: Option<String>,
        b: Option<bool>,
        matrix: MaybeUndefined<Vec<Option<Vec<Option<i32>>>>>,
        on: MaybeUndefined<Date>,
        pick: MaybeUndefined<Pick>,
        range: Option<Range>,
        looks: Vec<Condition>,
        none: Option<i32>,
    ) -> Result<Option<String>> {
        let mut out = String::new();
        write_object(
            &mut out,
            &[
                ("input", &input),
                ("list", &list),
                ("enum", &r#enum),
                ("id", &id),
                ("i", &i),
                ("f", &f),
                ("s", &s),
                ("b", &b),
                ("matrix", &matrix),
                ("on", &on),
                ("pick", &pick),
                ("range", &range),
                ("looks", &looks),
                ("none", &none),
            ],
        );
        Ok(Some(out))
    }
}

// ---- input values as JSON, in the order of the SDL ----

trait Echo {
    fn echo(&self, out: &mut String);
    fn is_given(&self) -> bool {
        true
    }
}

fn write_object(out: &mut String, fields: &[(&str, &dyn Echo)]) {
    out.push('{');
    for (i, (name, value)) in fields.iter().filter(|(_, value)| value.is_given()).enumerate() {
        if i > 0 {
            out.push(',');
        }
        name.to_string().echo(out);
        out.push(':');
        value.echo(out);
    }
    out.push('}');
}

impl Echo for String {
    fn echo(&self, out: &mut String) {
        out.push_str(&serde_json::to_string(self).expect("a string is JSON"));
    }
}

macro_rules! echo_as_displayed {
    ($($ty:ty)*) => {$(
        impl Echo for $ty {
            fn echo(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }
        }
    )*};
}

echo_as_displayed! { i32 f64 bool }

impl Echo for Condition {
    fn echo(&self, out: &mut String) {
        self.as_str().to_owned().echo(out);
    }
}

impl Echo for Date {
    fn echo(&self, out: &mut String) {
        self.0.echo(out);
    }
}

impl<T: Echo> Echo for Option<T> {
    fn echo(&self, out: &mut String) {
        match self {
            Some(value) => value.echo(out),
            None => out.push_str("null"),
        }
    }
}

impl<T: Echo> Echo for MaybeUndefined<T> {
    fn echo(&self, out: &mut String) {
        match self.value() {
            Some(value) => value.echo(out),
            None => out.push_str("null"),
        }
    }
    fn is_given(&self) -> bool {
        !self.is_undefined()
    }
}

impl<T: Echo> Echo for Vec<T> {
    fn echo(&self, out: &mut String) {
        out.push('[');
        for (i, item) in self.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            item.echo(out);
        }
        out.push(']');
    }
}

impl<T: Echo> Echo for Boxed<T> {
    fn echo(&self, out: &mut String) {
        self.0.echo(out);
    }
}

macro_rules! echo_fields {
    ($($ty:ident { $($field:ident)* })*) => {$(
        impl Echo for $ty {
            fn echo(&self, out: &mut String) {
                let Self { $($field),* } = self;
                write_object(out, &[$((stringify!($field), $field)),*]);
            }
        }
    )*};
}

echo_fields! {
    EchoInput { text count must flag ids conditions range nested ranges pick }
    Pick { id name range list }
    Range { from to step }
}

// ---- mutations ----

fn add(ctx: &Ctx<'_>, by: i32, fail: &MaybeUndefined<String>) -> Result<Tally> {
    fail_if(fail)?;
    Ok(ctx.state.counter().add(by))
}

impl AddMutation for Mutation {
    async fn add(ctx: &Ctx<'_>, by: i32, fail: MaybeUndefined<String>) -> Result<Option<Tally>> {
        add(ctx, by, &fail).map(Some)
    }
}

impl MustAddMutation for Mutation {
    async fn must_add(ctx: &Ctx<'_>, by: i32, fail: MaybeUndefined<String>) -> Result<Tally> {
        add(ctx, by, &fail)
    }
}

impl ResetMutation for Mutation {
    async fn reset(ctx: &Ctx<'_>, to: Option<i32>) -> Result<i32> {
        ctx.state.counter().set(to.unwrap_or(0));
        Ok(to.unwrap_or(0))
    }
}

impl AddAllMutation for Mutation {
    async fn add_all(ctx: &Ctx<'_>, steps: Vec<i32>, fail: MaybeUndefined<String>) -> Result<Option<Vec<Tally>>> {
        fail_if(&fail)?;
        let mut counter = ctx.state.counter();
        Ok(Some(steps.into_iter().map(|by| counter.add(by)).collect()))
    }
}

impl UndoMutation for Mutation {
    async fn undo(_: &Ctx<'_>) -> Result<Option<Tally>> {
        fail("nothing can be undone")
    }
}
