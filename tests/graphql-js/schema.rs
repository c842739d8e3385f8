// Generated from the SDL by the build. Edit the SDL, never this.

use ::engine::generated as __e;

/// The context of a resolver: the state of its request.
pub type Ctx<'a> = __e::Context<'a, super::types::State>;

/// The context of a mutation: the state of its request, and its transaction.
pub type MutationCtx<'a> = __e::Context<
    'a,
    <super::types::State as __e::State>::Writing,
>;

/// How a thing on a shelf looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Never opened.
    New,
    Good,
    /// Deprecated: Say `GOOD` or `LOST`.
    Worn,
    /// Not seen lately.
    Lost,
    /// Deprecated: No longer supported
    Burnt,
}
__e::words!(
    Condition, "Condition", { New : "NEW", Good : "GOOD", Worn : "WORN", Lost : "LOST",
    Burnt : "BURNT" }
);

/// Anything with an identifier.
#[derive(Debug)]
pub enum Node {
    /// The SDL's `Book`.
    Book(super::types::Book),
    /// The SDL's `Film`.
    Film(super::types::Film),
    /// The SDL's `Person`.
    Person(super::types::Person),
    /// The SDL's `Shelf`.
    Shelf(super::types::Shelf),
    /// The SDL's `Calm`.
    Calm(super::types::Calm),
    /// The SDL's `Harsh`.
    Harsh(super::types::Harsh),
    /// The SDL's `Ward`.
    Ward(super::types::Ward),
}
__e::possible!(
    Node { 0 : Book(super::types::Book) rows_0, 1 : Film(super::types::Film) rows_1, 2 :
    Person(super::types::Person) rows_2, 3 : Shelf(super::types::Shelf) rows_3, 4 :
    Calm(super::types::Calm) rows_4, 5 : Harsh(super::types::Harsh) rows_5, 6 :
    Ward(super::types::Ward) rows_6 }
);

#[derive(Debug)]
pub enum Named {
    /// The SDL's `Book`.
    Book(super::types::Book),
    /// The SDL's `Film`.
    Film(super::types::Film),
    /// The SDL's `Person`.
    Person(super::types::Person),
    /// The SDL's `Shelf`.
    Shelf(super::types::Shelf),
}
__e::possible!(
    Named { 0 : Book(super::types::Book) rows_0, 1 : Film(super::types::Film) rows_1, 2 :
    Person(super::types::Person) rows_2, 3 : Shelf(super::types::Shelf) rows_3 }
);

/// What stands on a shelf.
#[derive(Debug)]
pub enum Holding {
    /// The SDL's `Book`.
    Book(super::types::Book),
    /// The SDL's `Film`.
    Film(super::types::Film),
}
__e::possible!(
    Holding { 0 : Book(super::types::Book) rows_0, 1 : Film(super::types::Film) rows_1 }
);

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Book` for `{Self}`",
    note = "write `impl BookResolver for Book` in src/catalogue/graphql/book.rs"
)]
pub trait BookResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn condition(&self) -> Condition;
    fn price(&self) -> Option<f64>;
    fn pages(&self) -> i32;
    fn isbn(&self) -> Option<&str>;
    fn published(&self) -> Option<super::types::Date>;
    fn tags(books: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<String>>;
    fn scores(books: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<Vec<Option<Vec<Option<f64>>>>>>;
    fn shelf(books: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<super::types::Shelf>;
    fn related(books: &[&Self], args: &BookRelatedArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Vec<super::types::Book>>;
    fn summary(books: &[&Self], args: &BookSummaryArgs, ctx: &Ctx<'_>) -> impl __e::Answers<String>;
    fn authors(books: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<super::types::Person>>;
    fn sequel(books: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<super::types::Book>>;
    /// Deprecated: Ask the desk.
    fn borrower(books: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<super::types::Person>>;
}

/// The arguments of `Book.related`.
#[derive(Debug, Clone, PartialEq)]
pub struct BookRelatedArgs {
    pub first: Option<i32>,
}
__e::from_fields!(
    BookRelatedArgs { first : defaulted("first", || __e::Value::Number(From::from(2i64)))
    }
);

/// The arguments of `Book.summary`.
#[derive(Debug, Clone, PartialEq)]
pub struct BookSummaryArgs {
    pub length: i32,
    pub loud: Option<bool>,
}
__e::from_fields!(
    BookSummaryArgs { length : defaulted("length", ||
    __e::Value::Number(From::from(4i64))), loud : defaulted("loud", ||
    __e::Value::Boolean(false)) }
);
__e::bound!(
    super::types::Book, columns { 0 : BookResolver::id, 1 : BookResolver::name, 2 :
    BookResolver::condition, 3 : BookResolver::price, 4 : BookResolver::pages, 5 :
    BookResolver::isbn, 6 : BookResolver::published }, relations { 7 :
    scalars(BookResolver::tags), 8 : scalars(BookResolver::scores), 9 :
    answers(BookResolver::shelf), 10 : answers(BookResolver::related, arguments), 11 :
    scalars(BookResolver::summary, arguments), 12 : answers(BookResolver::authors), 13 :
    answers(BookResolver::sequel), 14 : answers(BookResolver::borrower) }
);

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Film` for `{Self}`",
    note = "write `impl FilmResolver for Film` in src/catalogue/graphql/film.rs"
)]
pub trait FilmResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn condition(&self) -> Condition;
    fn price(&self) -> Option<f64>;
    fn minutes(&self) -> Option<i32>;
    fn shelf(films: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<super::types::Shelf>>;
    fn related(
        films: &[&Self],
        args: &FilmRelatedArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<Holding>>>>;
    fn summary(films: &[&Self], args: &FilmSummaryArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<String>>;
    fn director(films: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<super::types::Person>>;
}

/// The arguments of `Film.related`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilmRelatedArgs {
    pub first: Option<i32>,
}
__e::from_fields!(
    FilmRelatedArgs { first : defaulted("first", || __e::Value::Number(From::from(2i64)))
    }
);

/// The arguments of `Film.summary`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilmSummaryArgs {
    pub length: i32,
}
__e::from_fields!(
    FilmSummaryArgs { length : defaulted("length", ||
    __e::Value::Number(From::from(4i64))) }
);
__e::bound!(
    super::types::Film, columns { 0 : FilmResolver::id, 1 : FilmResolver::name, 2 :
    FilmResolver::condition, 3 : FilmResolver::price, 4 : FilmResolver::minutes },
    relations { 5 : answers(FilmResolver::shelf), 6 : answers(FilmResolver::related,
    arguments), 7 : scalars(FilmResolver::summary, arguments), 8 :
    answers(FilmResolver::director) }
);

/// Someone who writes, reads or keeps a shelf.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Person` for `{Self}`",
    note = "write `impl PersonResolver for Person` in src/catalogue/graphql/person.rs"
)]
pub trait PersonResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn born(&self) -> Option<super::types::Date>;
    fn friend(persons: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<super::types::Person>>;
    fn wrote(persons: &[&Self], args: &PersonWroteArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Vec<super::types::Book>>;
    /// What they like best, of any kind.
    fn likes(persons: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Option<Find>>>;
    fn motto(&self) -> Option<&str>;
}

/// The arguments of `Person.wrote`.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonWroteArgs {
    pub first: __e::MaybeUndefined<i32>,
}
__e::from_fields!(PersonWroteArgs { first : optional("first") });
__e::bound!(
    super::types::Person, columns { 0 : PersonResolver::id, 1 : PersonResolver::name, 2 :
    PersonResolver::born, 6 : PersonResolver::motto }, relations { 3 :
    answers(PersonResolver::friend), 4 : answers(PersonResolver::wrote, arguments), 5 :
    answers(PersonResolver::likes) }
);

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Shelf` for `{Self}`",
    note = "write `impl ShelfResolver for Shelf` in src/catalogue/graphql/shelf.rs"
)]
pub trait ShelfResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn floor(&self) -> i32;
    fn width(&self) -> Option<f64>;
    fn open(&self) -> bool;
    fn keeper(shelfs: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<super::types::Person>>;
    fn holdings(shelfs: &[&Self], args: &ShelfHoldingsArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Holding>>;
    fn rows(shelfs: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Vec<Holding>>>;
    fn gaps(shelfs: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Option<Vec<Option<Vec<Option<Holding>>>>>>;
}

/// The arguments of `Shelf.holdings`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShelfHoldingsArgs {
    pub condition: __e::MaybeUndefined<Condition>,
}
__e::from_fields!(ShelfHoldingsArgs { condition : optional("condition") });
__e::bound!(
    super::types::Shelf, columns { 0 : ShelfResolver::id, 1 : ShelfResolver::name, 2 :
    ShelfResolver::floor, 3 : ShelfResolver::width, 4 : ShelfResolver::open }, relations
    { 5 : answers(ShelfResolver::keeper), 6 : answers(ShelfResolver::holdings,
    arguments), 7 : answers(ShelfResolver::rows), 8 : answers(ShelfResolver::gaps) }
);

/// Whatever a search may find.
#[derive(Debug)]
pub enum Find {
    /// The SDL's `Book`.
    Book(super::types::Book),
    /// The SDL's `Film`.
    Film(super::types::Film),
    /// The SDL's `Person`.
    Person(super::types::Person),
    /// The SDL's `Shelf`.
    Shelf(super::types::Shelf),
}
__e::possible!(
    Find { 0 : Book(super::types::Book) rows_0, 1 : Film(super::types::Film) rows_1, 2 :
    Person(super::types::Person) rows_2, 3 : Shelf(super::types::Shelf) rows_3 }
);

/// Something that may fail.
///
/// With `fail` a field fails saying that text; without it a `Calm` answers.
#[derive(Debug)]
pub enum Trouble {
    /// The SDL's `Calm`.
    Calm(super::types::Calm),
    /// The SDL's `Harsh`.
    Harsh(super::types::Harsh),
}
__e::possible!(
    Trouble { 0 : Calm(super::types::Calm) rows_0, 1 : Harsh(super::types::Harsh) rows_1
    }
);

/// Fails only when told to.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Calm` for `{Self}`",
    note = "write `impl CalmResolver for Calm` in src/catalogue/graphql/calm.rs"
)]
pub trait CalmResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn label(&self) -> &str;
    fn word(calms: &[&Self], args: &CalmWordArgs, ctx: &Ctx<'_>) -> impl __e::Answers<String>;
    fn sure(calms: &[&Self], args: &CalmSureArgs, ctx: &Ctx<'_>) -> impl __e::Answers<String>;
    fn one(calms: &[&Self], args: &CalmOneArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Trouble>;
    fn must(calms: &[&Self], args: &CalmMustArgs, ctx: &Ctx<'_>) -> impl __e::Answers<super::types::Calm>;
    fn next(calms: &[&Self], args: &CalmNextArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Trouble>>;
    fn kin(calms: &[&Self], args: &CalmKinArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Trouble>>;
    fn ward(calms: &[&Self], args: &CalmWardArgs, ctx: &Ctx<'_>) -> impl __e::Answers<super::types::Ward>;
}

/// The arguments of `Calm.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmWordArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(CalmWordArgs { fail : optional("fail") });

/// The arguments of `Calm.sure`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmSureArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(CalmSureArgs { fail : optional("fail") });

/// The arguments of `Calm.one`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmOneArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(CalmOneArgs { fail : optional("fail") });

/// The arguments of `Calm.must`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmMustArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(CalmMustArgs { fail : optional("fail") });

/// The arguments of `Calm.next`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmNextArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(CalmNextArgs { fail : optional("fail") });

/// The arguments of `Calm.kin`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmKinArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(CalmKinArgs { fail : optional("fail") });

/// The arguments of `Calm.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmWardArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(CalmWardArgs { fail : optional("fail") });
__e::bound!(
    super::types::Calm, columns { 0 : CalmResolver::id, 1 : CalmResolver::label },
    relations { 2 : scalars(CalmResolver::word, arguments), 3 :
    scalars(CalmResolver::sure, arguments), 4 : answers(CalmResolver::one, arguments), 5
    : answers(CalmResolver::must, arguments), 6 : answers(CalmResolver::next, arguments),
    7 : answers(CalmResolver::kin, arguments), 8 : answers(CalmResolver::ward, arguments)
    }
);

/// Its `word`, `sure`, `one` and `must` always fail.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Harsh` for `{Self}`",
    note = "write `impl HarshResolver for Harsh` in src/catalogue/graphql/harsh.rs"
)]
pub trait HarshResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn label(&self) -> &str;
    fn word(harshs: &[&Self], args: &HarshWordArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<String>>;
    fn sure(harshs: &[&Self], args: &HarshSureArgs, ctx: &Ctx<'_>) -> impl __e::Answers<String>;
    fn one(harshs: &[&Self], args: &HarshOneArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Trouble>>;
    fn must(harshs: &[&Self], args: &HarshMustArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Trouble>;
    fn next(harshs: &[&Self], args: &HarshNextArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Trouble>>;
    fn kin(harshs: &[&Self], args: &HarshKinArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Vec<super::types::Harsh>>>;
    fn ward(harshs: &[&Self], args: &HarshWardArgs, ctx: &Ctx<'_>) -> impl __e::Answers<super::types::Ward>;
}

/// The arguments of `Harsh.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshWordArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(HarshWordArgs { fail : optional("fail") });

/// The arguments of `Harsh.sure`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshSureArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(HarshSureArgs { fail : optional("fail") });

/// The arguments of `Harsh.one`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshOneArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(HarshOneArgs { fail : optional("fail") });

/// The arguments of `Harsh.must`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshMustArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(HarshMustArgs { fail : optional("fail") });

/// The arguments of `Harsh.next`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshNextArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(HarshNextArgs { fail : optional("fail") });

/// The arguments of `Harsh.kin`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshKinArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(HarshKinArgs { fail : optional("fail") });

/// The arguments of `Harsh.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshWardArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(HarshWardArgs { fail : optional("fail") });
__e::bound!(
    super::types::Harsh, columns { 0 : HarshResolver::id, 1 : HarshResolver::label },
    relations { 2 : scalars(HarshResolver::word, arguments), 3 :
    scalars(HarshResolver::sure, arguments), 4 : answers(HarshResolver::one, arguments),
    5 : answers(HarshResolver::must, arguments), 6 : answers(HarshResolver::next,
    arguments), 7 : answers(HarshResolver::kin, arguments), 8 :
    answers(HarshResolver::ward, arguments) }
);

/// Lists of troubles with every way of being null.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Ward` for `{Self}`",
    note = "write `impl WardResolver for Ward` in src/catalogue/graphql/ward.rs"
)]
pub trait WardResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn loose(wards: &[&Self], args: &WardLooseArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Vec<Option<Trouble>>>>;
    fn filled(wards: &[&Self], args: &WardFilledArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Vec<Trouble>>>;
    fn firm(wards: &[&Self], args: &WardFirmArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Option<Trouble>>>;
    fn strict(wards: &[&Self], args: &WardStrictArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Trouble>>;
    fn grid(
        wards: &[&Self],
        args: &WardGridArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<Vec<Option<Trouble>>>>>>;
    fn full_grid(
        wards: &[&Self],
        args: &WardFullGridArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<Vec<Trouble>>>>>;
    fn firm_rows(
        wards: &[&Self],
        args: &WardFirmRowsArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Vec<Option<Trouble>>>>>;
    fn strict_grid(wards: &[&Self], args: &WardStrictGridArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Vec<Trouble>>>;
    fn words(wards: &[&Self], args: &WardWordsArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Vec<Option<String>>>>;
    fn numbers(
        wards: &[&Self],
        args: &WardNumbersArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<Option<Vec<Option<i32>>>>>;
}

/// The arguments of `Ward.loose`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardLooseArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardLooseArgs { fail : optional("fail") });

/// The arguments of `Ward.filled`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFilledArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardFilledArgs { fail : optional("fail") });

/// The arguments of `Ward.firm`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFirmArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardFirmArgs { fail : optional("fail") });

/// The arguments of `Ward.strict`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardStrictArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardStrictArgs { fail : optional("fail") });

/// The arguments of `Ward.grid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardGridArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardGridArgs { fail : optional("fail") });

/// The arguments of `Ward.fullGrid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFullGridArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardFullGridArgs { fail : optional("fail") });

/// The arguments of `Ward.firmRows`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFirmRowsArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardFirmRowsArgs { fail : optional("fail") });

/// The arguments of `Ward.strictGrid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardStrictGridArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardStrictGridArgs { fail : optional("fail") });

/// The arguments of `Ward.words`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardWordsArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardWordsArgs { fail : optional("fail") });

/// The arguments of `Ward.numbers`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardNumbersArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(WardNumbersArgs { fail : optional("fail") });
__e::bound!(
    super::types::Ward, columns { 0 : WardResolver::id }, relations { 1 :
    answers(WardResolver::loose, arguments), 2 : answers(WardResolver::filled,
    arguments), 3 : answers(WardResolver::firm, arguments), 4 :
    answers(WardResolver::strict, arguments), 5 : answers(WardResolver::grid, arguments),
    6 : answers(WardResolver::full_grid, arguments), 7 : answers(WardResolver::firm_rows,
    arguments), 8 : answers(WardResolver::strict_grid, arguments), 9 :
    scalars(WardResolver::words, arguments), 10 : scalars(WardResolver::numbers,
    arguments) }
);

/// From here to there.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub from: i32,
    pub to: __e::MaybeUndefined<i32>,
    /// How far at a time.
    pub step: Option<f64>,
}
__e::from_fields!(
    Range { from : defaulted("from", || __e::Value::Number(From::from(0i64))), to :
    optional("to"), step : defaulted("step", || __e::float(0.5f64)) }
);

#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    pub depth: i32,
}
__e::from_fields!(Level { depth : required("depth") });

/// Exactly one of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    pub id: __e::MaybeUndefined<String>,
    pub name: __e::MaybeUndefined<String>,
    pub range: __e::MaybeUndefined<Range>,
    pub list: __e::MaybeUndefined<Vec<i32>>,
}
__e::from_fields!(
    Pick { id : optional("id"), name : optional("name"), range : optional("range"), list
    : optional("list") }, exactly_one
);

/// Every shape an input may have.
#[derive(Debug, Clone, PartialEq)]
pub struct EchoInput {
    pub text: __e::MaybeUndefined<String>,
    pub count: Option<i32>,
    pub must: i32,
    /// Deprecated: Flags are gone.
    pub flag: __e::MaybeUndefined<bool>,
    pub ids: __e::MaybeUndefined<Vec<String>>,
    pub conditions: Option<Vec<Option<Condition>>>,
    pub range: Option<Range>,
    /// Once more.
    pub nested: __e::MaybeUndefined<__e::Boxed<EchoInput>>,
    pub ranges: __e::MaybeUndefined<Vec<Range>>,
    pub pick: __e::MaybeUndefined<Pick>,
}
__e::from_fields!(
    EchoInput { text : optional("text"), count : defaulted("count", ||
    __e::Value::Number(From::from(3i64))), must : defaulted("must", ||
    __e::Value::Number(From::from(1i64))), flag : optional("flag"), ids :
    optional("ids"), conditions : defaulted("conditions", ||
    __e::Value::List(vec![__e::Value::Enum(__e::Name::new("GOOD")), __e::Value::Null])),
    range : defaulted("range", || __e::object([("from",
    __e::Value::Number(From::from(2i64))), ("to", __e::Value::Number(From::from(4i64))),
    ("step", __e::float(0.5f64))])), nested : optional("nested"), ranges :
    optional("ranges"), pick : optional("pick") }
);

/// Where reading begins.
#[derive(Debug, Clone, Copy)]
pub struct Query;

/// One thing by its identifier, or null.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.node`",
    note = "write `impl NodeQuery for Query` in src/catalogue/graphql/node.rs"
)]
pub trait NodeQuery {
    fn node(ctx: &Ctx<'_>, id: String) -> impl __e::Answer<Option<Node>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.nodes`",
    note = "write `impl NodesQuery for Query` in src/catalogue/graphql/nodes.rs"
)]
pub trait NodesQuery {
    fn nodes(ctx: &Ctx<'_>, ids: Vec<String>) -> impl __e::Answer<Vec<Option<Node>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.viewer`",
    note = "write `impl ViewerQuery for Query` in src/catalogue/graphql/viewer.rs"
)]
pub trait ViewerQuery {
    fn viewer(ctx: &Ctx<'_>) -> impl __e::Answer<Option<super::types::Person>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.shelf`",
    note = "write `impl ShelfQuery for Query` in src/catalogue/graphql/shelf.rs"
)]
pub trait ShelfQuery {
    fn shelf(ctx: &Ctx<'_>, id: String) -> impl __e::Answer<Option<super::types::Shelf>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.shelves`",
    note = "write `impl ShelvesQuery for Query` in src/catalogue/graphql/shelves.rs"
)]
pub trait ShelvesQuery {
    fn shelves(ctx: &Ctx<'_>) -> impl __e::Answer<Vec<super::types::Shelf>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.holdings`",
    note = "write `impl HoldingsQuery for Query` in src/catalogue/graphql/holdings.rs"
)]
pub trait HoldingsQuery {
    fn holdings(
        ctx: &Ctx<'_>,
        condition: __e::MaybeUndefined<Condition>,
        first: Option<i32>,
    ) -> impl __e::Answer<Vec<Holding>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.search`",
    note = "write `impl SearchQuery for Query` in src/catalogue/graphql/search.rs"
)]
pub trait SearchQuery {
    fn search(ctx: &Ctx<'_>, text: String, first: i32) -> impl __e::Answer<Vec<Find>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.pick`",
    note = "write `impl PickQuery for Query` in src/catalogue/graphql/pick.rs"
)]
pub trait PickQuery {
    fn pick(ctx: &Ctx<'_>, by: Pick) -> impl __e::Answer<Option<Node>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.nothing`",
    note = "write `impl NothingQuery for Query` in src/catalogue/graphql/nothing.rs"
)]
pub trait NothingQuery {
    fn nothing(ctx: &Ctx<'_>) -> impl __e::Answer<Option<Holding>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.empty`",
    note = "write `impl EmptyQuery for Query` in src/catalogue/graphql/empty.rs"
)]
pub trait EmptyQuery {
    fn empty(ctx: &Ctx<'_>) -> impl __e::Answer<Vec<Find>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.trouble`",
    note = "write `impl TroubleQuery for Query` in src/catalogue/graphql/trouble.rs"
)]
pub trait TroubleQuery {
    fn trouble(ctx: &Ctx<'_>, id: String, fail: __e::MaybeUndefined<String>) -> impl __e::Answer<Option<Trouble>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.mustTrouble`",
    note = "write `impl MustTroubleQuery for Query` in src/catalogue/graphql/must.rs"
)]
pub trait MustTroubleQuery {
    fn must_trouble(ctx: &Ctx<'_>, id: String, fail: __e::MaybeUndefined<String>) -> impl __e::Answer<Trouble>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.troubles`",
    note = "write `impl TroublesQuery for Query` in src/catalogue/graphql/troubles.rs"
)]
pub trait TroublesQuery {
    fn troubles(ctx: &Ctx<'_>, fail: __e::MaybeUndefined<String>) -> impl __e::Answer<Option<Vec<Option<Trouble>>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.ward`",
    note = "write `impl WardQuery for Query` in src/catalogue/graphql/ward.rs"
)]
pub trait WardQuery {
    fn ward(ctx: &Ctx<'_>, fail: __e::MaybeUndefined<String>) -> impl __e::Answer<super::types::Ward>;
}

/// Deprecated: No longer supported
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.old`",
    note = "write `impl OldQuery for Query` in src/catalogue/graphql/old.rs"
)]
pub trait OldQuery {
    fn old(ctx: &Ctx<'_>) -> impl __e::Answer<Option<String>>;
}

/// Deprecated: Older than `old`.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.older`",
    note = "write `impl OlderQuery for Query` in src/catalogue/graphql/older.rs"
)]
pub trait OlderQuery {
    fn older(ctx: &Ctx<'_>, than: __e::MaybeUndefined<i32>) -> impl __e::Answer<Option<String>>;
}

/// Its own arguments as JSON, in this order, those left out left out.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.echo`",
    note = "write `impl EchoQuery for Query` in src/catalogue/graphql/echo.rs"
)]
pub trait EchoQuery {
    fn echo(
        ctx: &Ctx<'_>,
        input: __e::MaybeUndefined<EchoInput>,
        list: __e::MaybeUndefined<Vec<i32>>,
        r#enum: __e::MaybeUndefined<Condition>,
        id: __e::MaybeUndefined<String>,
        i: Option<i32>,
        f: Option<f64>,
        s: Option<String>,
        b: Option<bool>,
        matrix: __e::MaybeUndefined<Vec<Option<Vec<Option<i32>>>>>,
        on: __e::MaybeUndefined<super::types::Date>,
        pick: __e::MaybeUndefined<Pick>,
        range: Option<Range>,
        looks: Vec<Condition>,
        none: Option<i32>,
    ) -> impl __e::Answer<Option<String>>;
}

/// The arguments of `Query.node`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryNodeArgs {
    pub id: String,
}
__e::from_fields!(QueryNodeArgs { id : required("id") });

/// The arguments of `Query.nodes`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryNodesArgs {
    pub ids: Vec<String>,
}
__e::from_fields!(QueryNodesArgs { ids : required("ids") });

/// The arguments of `Query.shelf`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryShelfArgs {
    pub id: String,
}
__e::from_fields!(
    QueryShelfArgs { id : defaulted("id", || __e::Value::String(String::from("s1"))) }
);

/// The arguments of `Query.holdings`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryHoldingsArgs {
    pub condition: __e::MaybeUndefined<Condition>,
    pub first: Option<i32>,
}
__e::from_fields!(
    QueryHoldingsArgs { condition : optional("condition"), first : defaulted("first", ||
    __e::Value::Number(From::from(10i64))) }
);

/// The arguments of `Query.search`.
#[derive(Debug, Clone, PartialEq)]
pub struct QuerySearchArgs {
    pub text: String,
    pub first: i32,
}
__e::from_fields!(
    QuerySearchArgs { text : required("text"), first : defaulted("first", ||
    __e::Value::Number(From::from(3i64))) }
);

/// The arguments of `Query.pick`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPickArgs {
    pub by: Pick,
}
__e::from_fields!(QueryPickArgs { by : required("by") });

/// The arguments of `Query.trouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    QueryTroubleArgs { id : defaulted("id", || __e::Value::String(String::from("c1"))),
    fail : optional("fail") }
);

/// The arguments of `Query.mustTrouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryMustTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    QueryMustTroubleArgs { id : defaulted("id", ||
    __e::Value::String(String::from("c1"))), fail : optional("fail") }
);

/// The arguments of `Query.troubles`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTroublesArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(QueryTroublesArgs { fail : optional("fail") });

/// The arguments of `Query.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryWardArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(QueryWardArgs { fail : optional("fail") });

/// The arguments of `Query.older`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryOlderArgs {
    /// Deprecated: Age does not matter.
    pub than: __e::MaybeUndefined<i32>,
}
__e::from_fields!(QueryOlderArgs { than : optional("than") });

/// The arguments of `Query.echo`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEchoArgs {
    pub input: __e::MaybeUndefined<EchoInput>,
    pub list: __e::MaybeUndefined<Vec<i32>>,
    pub r#enum: __e::MaybeUndefined<Condition>,
    pub id: __e::MaybeUndefined<String>,
    pub i: Option<i32>,
    pub f: Option<f64>,
    pub s: Option<String>,
    pub b: Option<bool>,
    pub matrix: __e::MaybeUndefined<Vec<Option<Vec<Option<i32>>>>>,
    pub on: __e::MaybeUndefined<super::types::Date>,
    pub pick: __e::MaybeUndefined<Pick>,
    pub range: Option<Range>,
    pub looks: Vec<Condition>,
    pub none: Option<i32>,
}
__e::from_fields!(
    QueryEchoArgs { input : optional("input"), list : optional("list"), r#enum :
    optional("enum"), id : optional("id"), i : defaulted("i", ||
    __e::Value::Number(From::from(7i64))), f : defaulted("f", || __e::float(1.5f64)), s :
    defaulted("s", || __e::Value::String(String::from("a \"quoted\"\ttext\\ é"))), b :
    defaulted("b", || __e::Value::Boolean(true)), matrix : optional("matrix"), on :
    optional("on"), pick : optional("pick"), range : defaulted("range", ||
    __e::object([("from", __e::Value::Number(From::from(1i64))), ("to",
    __e::Value::Number(From::from(10i64))), ("step", __e::float(0.25f64))])), looks :
    defaulted("looks", || __e::Value::List(vec![__e::Value::Enum(__e::Name::new("GOOD")),
    __e::Value::Enum(__e::Name::new("WORN"))])), none : defaulted("none", ||
    __e::Value::Null) }
);

impl Query {
    __e::query!(resolve_node, answer, NodeQuery::node, QueryNodeArgs { id });
    __e::query!(resolve_nodes, answer, NodesQuery::nodes, QueryNodesArgs { ids });
    __e::query!(resolve_viewer, answer, ViewerQuery::viewer);
    __e::query!(resolve_shelf, answer, ShelfQuery::shelf, QueryShelfArgs { id });
    __e::query!(resolve_shelves, answer, ShelvesQuery::shelves);
    __e::query!(
        resolve_holdings, answer, HoldingsQuery::holdings, QueryHoldingsArgs { condition,
        first }
    );
    __e::query!(
        resolve_search, answer, SearchQuery::search, QuerySearchArgs { text, first }
    );
    __e::query!(resolve_pick, answer, PickQuery::pick, QueryPickArgs { by });
    __e::query!(resolve_nothing, answer, NothingQuery::nothing);
    __e::query!(resolve_empty, answer, EmptyQuery::empty);
    __e::query!(
        resolve_trouble, answer, TroubleQuery::trouble, QueryTroubleArgs { id, fail }
    );
    __e::query!(
        resolve_must_trouble, answer, MustTroubleQuery::must_trouble,
        QueryMustTroubleArgs { id, fail }
    );
    __e::query!(
        resolve_troubles, answer, TroublesQuery::troubles, QueryTroublesArgs { fail }
    );
    __e::query!(resolve_ward, answer, WardQuery::ward, QueryWardArgs { fail });
    __e::query!(resolve_old, scalar, OldQuery::old);
    __e::query!(resolve_older, scalar, OlderQuery::older, QueryOlderArgs { than });
    __e::query!(
        resolve_echo, scalar, EchoQuery::echo, QueryEchoArgs { input, list, r#enum, id,
        i, f, s, b, matrix, on, pick, range, looks, none }
    );
}
__e::root!(
    Query { 0 : Query::resolve_node, 1 : Query::resolve_nodes, 2 : Query::resolve_viewer,
    3 : Query::resolve_shelf, 4 : Query::resolve_shelves, 5 : Query::resolve_holdings, 6
    : Query::resolve_search, 7 : Query::resolve_pick, 8 : Query::resolve_nothing, 9 :
    Query::resolve_empty, 10 : Query::resolve_trouble, 11 : Query::resolve_must_trouble,
    12 : Query::resolve_troubles, 13 : Query::resolve_ward, 14 : Query::resolve_old, 15 :
    Query::resolve_older, 16 : Query::resolve_echo, 17 : __e::introspection::schema, 18 :
    __e::introspection::type_by_name }
);

/// What came of a change.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Tally` for `{Self}`",
    note = "write `impl TallyResolver for Tally` in src/catalogue/graphql/tally.rs"
)]
pub trait TallyResolver: Sized + Send + Sync + 'static {
    /// The counter just after the change.
    fn value(&self) -> i32;
    /// The counter while this is read.
    fn now(tallys: &[&Self], args: &TallyNowArgs, ctx: &Ctx<'_>) -> impl __e::Answers<i32>;
    fn note(tallys: &[&Self], args: &TallyNoteArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<String>>;
    fn history(tallys: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<i32>>;
    fn trouble(tallys: &[&Self], args: &TallyTroubleArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Option<Trouble>>;
    fn must_trouble(tallys: &[&Self], args: &TallyMustTroubleArgs, ctx: &Ctx<'_>) -> impl __e::Answers<Trouble>;
}

/// The arguments of `Tally.now`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyNowArgs {
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(TallyNowArgs { fail : optional("fail") });

/// The arguments of `Tally.note`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyNoteArgs {
    pub text: String,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    TallyNoteArgs { text : defaulted("text", ||
    __e::Value::String(String::from("noted"))), fail : optional("fail") }
);

/// The arguments of `Tally.trouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    TallyTroubleArgs { id : defaulted("id", || __e::Value::String(String::from("c1"))),
    fail : optional("fail") }
);

/// The arguments of `Tally.mustTrouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyMustTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    TallyMustTroubleArgs { id : defaulted("id", ||
    __e::Value::String(String::from("c1"))), fail : optional("fail") }
);
__e::bound!(
    super::types::Tally, columns { 0 : TallyResolver::value }, relations { 1 :
    scalars(TallyResolver::now, arguments), 2 : scalars(TallyResolver::note, arguments),
    3 : scalars(TallyResolver::history), 4 : answers(TallyResolver::trouble, arguments),
    5 : answers(TallyResolver::must_trouble, arguments) }
);

/// One after the other, on one counter.
#[derive(Debug, Clone, Copy)]
pub struct Mutation;

/// Fails before it adds.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.add`",
    note = "write `impl AddMutation for Mutation` in src/catalogue/graphql/add.rs"
)]
pub trait AddMutation {
    fn add(
        ctx: &MutationCtx<'_>,
        by: i32,
        fail: __e::MaybeUndefined<String>,
    ) -> impl __e::Answer<Option<super::types::Tally>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.mustAdd`",
    note = "write `impl MustAddMutation for Mutation` in src/catalogue/graphql/must.rs"
)]
pub trait MustAddMutation {
    fn must_add(
        ctx: &MutationCtx<'_>,
        by: i32,
        fail: __e::MaybeUndefined<String>,
    ) -> impl __e::Answer<super::types::Tally>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.reset`",
    note = "write `impl ResetMutation for Mutation` in src/catalogue/graphql/reset.rs"
)]
pub trait ResetMutation {
    fn reset(ctx: &MutationCtx<'_>, to: Option<i32>) -> impl __e::Answer<i32>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.addAll`",
    note = "write `impl AddAllMutation for Mutation` in src/catalogue/graphql/add.rs"
)]
pub trait AddAllMutation {
    fn add_all(
        ctx: &MutationCtx<'_>,
        steps: Vec<i32>,
        fail: __e::MaybeUndefined<String>,
    ) -> impl __e::Answer<Option<Vec<super::types::Tally>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.undo`",
    note = "write `impl UndoMutation for Mutation` in src/catalogue/graphql/undo.rs"
)]
pub trait UndoMutation {
    fn undo(ctx: &MutationCtx<'_>) -> impl __e::Answer<Option<super::types::Tally>>;
}

/// The arguments of `Mutation.add`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationAddArgs {
    pub by: i32,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    MutationAddArgs { by : defaulted("by", || __e::Value::Number(From::from(1i64))), fail
    : optional("fail") }
);

/// The arguments of `Mutation.mustAdd`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationMustAddArgs {
    pub by: i32,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    MutationMustAddArgs { by : defaulted("by", || __e::Value::Number(From::from(1i64))),
    fail : optional("fail") }
);

/// The arguments of `Mutation.reset`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResetArgs {
    pub to: Option<i32>,
}
__e::from_fields!(
    MutationResetArgs { to : defaulted("to", || __e::Value::Number(From::from(0i64))) }
);

/// The arguments of `Mutation.addAll`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationAddAllArgs {
    pub steps: Vec<i32>,
    pub fail: __e::MaybeUndefined<String>,
}
__e::from_fields!(
    MutationAddAllArgs { steps : required("steps"), fail : optional("fail") }
);

impl Mutation {
    __e::bare_mutation!(
        resolve_add, answer, AddMutation::add, MutationAddArgs { by, fail }
    );
    __e::bare_mutation!(
        resolve_must_add, answer, MustAddMutation::must_add, MutationMustAddArgs { by,
        fail }
    );
    __e::bare_mutation!(
        resolve_reset, scalar, ResetMutation::reset, MutationResetArgs { to }
    );
    __e::bare_mutation!(
        resolve_add_all, answer, AddAllMutation::add_all, MutationAddAllArgs { steps,
        fail }
    );
    __e::bare_mutation!(resolve_undo, answer, UndoMutation::undo);
}
__e::root!(
    Mutation { 0 : Mutation::resolve_add, 1 : Mutation::resolve_must_add, 2 :
    Mutation::resolve_reset, 3 : Mutation::resolve_add_all, 4 : Mutation::resolve_undo }
);

/// The executor's descriptions of the object types, by their names in the SDL.
#[allow(non_upper_case_globals)]
pub mod info {
    use super::__e;
    /// The custom scalars of arguments and input fields, with the checks of their values.
    pub static SCALARS: &[__e::ScalarCheck] = &[
        ("Date", __e::check::<super::super::types::Date>),
    ];
    __e::table!(
        Book, "Book", [column("id"), column("name"), column("condition"), column("price")
        .nullable(), column("pages"), column("isbn").nullable(), column("published")
        .nullable(), relation("tags", & []), relation("scores", & []).nullable(),
        relation("shelf", & [& Shelf]), relation("related", & [& Book]).args:: <
        super::BookRelatedArgs > ().list(10), relation("summary", & []).args:: <
        super::BookSummaryArgs > (), relation("authors", & [& Person]).list(10),
        relation("sequel", & [& Book]).nullable(), relation("borrower", & [& Person])
        .nullable()]
    );
    __e::table!(
        Film, "Film", [column("id"), column("name"), column("condition"), column("price")
        .nullable(), column("minutes").nullable(), relation("shelf", & [& Shelf])
        .nullable(), relation("related", & [& Book, & Film]).nullable().args:: <
        super::FilmRelatedArgs > ().list(10), relation("summary", & []).nullable().args::
        < super::FilmSummaryArgs > (), relation("director", & [& Person]).nullable()]
    );
    __e::table!(
        Person, "Person", [column("id"), column("name"), column("born").nullable(),
        relation("friend", & [& Person]).nullable(), relation("wrote", & [& Book]).args::
        < super::PersonWroteArgs > ().list(10), relation("likes", & [& Book, & Film, &
        Person, & Shelf]).list(10), column("motto").nullable()]
    );
    __e::table!(
        Shelf, "Shelf", [column("id"), column("name"), column("floor"), column("width")
        .nullable(), column("open"), relation("keeper", & [& Person]).nullable(),
        relation("holdings", & [& Book, & Film]).args:: < super::ShelfHoldingsArgs > ()
        .list(10), relation("rows", & [& Book, & Film]).list(10), relation("gaps", & [&
        Book, & Film]).nullable().list(10)]
    );
    __e::table!(
        Calm, "Calm", [column("id"), column("label"), relation("word", & []).args:: <
        super::CalmWordArgs > (), relation("sure", & []).args:: < super::CalmSureArgs >
        (), relation("one", & [& Calm, & Harsh]).args:: < super::CalmOneArgs > (),
        relation("must", & [& Calm]).args:: < super::CalmMustArgs > (), relation("next",
        & [& Calm, & Harsh]).nullable().args:: < super::CalmNextArgs > (),
        relation("kin", & [& Calm, & Harsh]).args:: < super::CalmKinArgs > ().list(10),
        relation("ward", & [& Ward]).args:: < super::CalmWardArgs > ()]
    );
    __e::table!(
        Harsh, "Harsh", [column("id"), column("label"), relation("word", & []).nullable()
        .args:: < super::HarshWordArgs > (), relation("sure", & []).args:: <
        super::HarshSureArgs > (), relation("one", & [& Calm, & Harsh]).nullable().args::
        < super::HarshOneArgs > (), relation("must", & [& Calm, & Harsh]).args:: <
        super::HarshMustArgs > (), relation("next", & [& Calm, & Harsh]).nullable()
        .args:: < super::HarshNextArgs > (), relation("kin", & [& Harsh]).nullable()
        .args:: < super::HarshKinArgs > ().list(10), relation("ward", & [& Ward]).args::
        < super::HarshWardArgs > ()]
    );
    __e::table!(
        Ward, "Ward", [column("id"), relation("loose", & [& Calm, & Harsh]).nullable()
        .args:: < super::WardLooseArgs > ().list(10), relation("filled", & [& Calm, &
        Harsh]).nullable().args:: < super::WardFilledArgs > ().list(10), relation("firm",
        & [& Calm, & Harsh]).args:: < super::WardFirmArgs > ().list(10),
        relation("strict", & [& Calm, & Harsh]).args:: < super::WardStrictArgs > ()
        .list(10), relation("grid", & [& Calm, & Harsh]).nullable().args:: <
        super::WardGridArgs > ().list(10), relation("fullGrid", & [& Calm, & Harsh])
        .nullable().args:: < super::WardFullGridArgs > ().list(10), relation("firmRows",
        & [& Calm, & Harsh]).nullable().args:: < super::WardFirmRowsArgs > ().list(10),
        relation("strictGrid", & [& Calm, & Harsh]).args:: < super::WardStrictGridArgs >
        ().list(10), relation("words", & []).nullable().args:: < super::WardWordsArgs >
        (), relation("numbers", & []).args:: < super::WardNumbersArgs > ()]
    );
    __e::table!(
        Query, "Query", [relation("node", & [& Book, & Film, & Person, & Shelf, & Calm, &
        Harsh, & Ward]).nullable().args:: < super::QueryNodeArgs > (), relation("nodes",
        & [& Book, & Film, & Person, & Shelf, & Calm, & Harsh, & Ward]).args:: <
        super::QueryNodesArgs > ().list(10), relation("viewer", & [& Person]).nullable(),
        relation("shelf", & [& Shelf]).nullable().args:: < super::QueryShelfArgs > (),
        relation("shelves", & [& Shelf]).list(10), relation("holdings", & [& Book, &
        Film]).args:: < super::QueryHoldingsArgs > ().list(10), relation("search", & [&
        Book, & Film, & Person, & Shelf]).args:: < super::QuerySearchArgs > ().list(10),
        relation("pick", & [& Book, & Film, & Person, & Shelf, & Calm, & Harsh, & Ward])
        .nullable().args:: < super::QueryPickArgs > (), relation("nothing", & [& Book, &
        Film]).nullable(), relation("empty", & [& Book, & Film, & Person, & Shelf])
        .list(10), relation("trouble", & [& Calm, & Harsh]).nullable().args:: <
        super::QueryTroubleArgs > (), relation("mustTrouble", & [& Calm, & Harsh]).args::
        < super::QueryMustTroubleArgs > (), relation("troubles", & [& Calm, & Harsh])
        .nullable().args:: < super::QueryTroublesArgs > ().list(10), relation("ward", &
        [& Ward]).args:: < super::QueryWardArgs > (), relation("old", & []).nullable(),
        relation("older", & []).nullable().args:: < super::QueryOlderArgs > (),
        relation("echo", & []).nullable().args:: < super::QueryEchoArgs > ()],
        __e::introspection::SCHEMA_FIELD, __e::introspection::TYPE_FIELD
    );
    __e::table!(
        Tally, "Tally", [column("value"), relation("now", & []).args:: <
        super::TallyNowArgs > (), relation("note", & []).nullable().args:: <
        super::TallyNoteArgs > (), relation("history", & []), relation("trouble", & [&
        Calm, & Harsh]).nullable().args:: < super::TallyTroubleArgs > (),
        relation("mustTrouble", & [& Calm, & Harsh]).args:: < super::TallyMustTroubleArgs
        > ()]
    );
    __e::table!(
        Mutation, "Mutation", [relation("add", & [& Tally]).nullable().args:: <
        super::MutationAddArgs > ().admin(), relation("mustAdd", & [& Tally]).args:: <
        super::MutationMustAddArgs > ().admin(), relation("reset", & []).args:: <
        super::MutationResetArgs > ().admin(), relation("addAll", & [& Tally]).nullable()
        .args:: < super::MutationAddAllArgs > ().list(10).admin(), relation("undo", & [&
        Tally]).nullable().admin()]
    );
}
