// Generated from the SDL by the build. Edit the SDL, never this.

use ::rollcall::engine::generated as __e;

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

impl Condition {
    /// The name of the value in the SDL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "NEW",
            Self::Good => "GOOD",
            Self::Worn => "WORN",
            Self::Lost => "LOST",
            Self::Burnt => "BURNT",
        }
    }
    /// The value with this name in the SDL.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "NEW" => Some(Self::New),
            "GOOD" => Some(Self::Good),
            "WORN" => Some(Self::Worn),
            "LOST" => Some(Self::Lost),
            "BURNT" => Some(Self::Burnt),
            _ => None,
        }
    }
}

__e::word!(Condition, "Condition");

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

impl From<super::types::Book> for Node {
    fn from(object: super::types::Book) -> Self {
        Self::Book(object)
    }
}

impl From<super::types::Film> for Node {
    fn from(object: super::types::Film) -> Self {
        Self::Film(object)
    }
}

impl From<super::types::Person> for Node {
    fn from(object: super::types::Person) -> Self {
        Self::Person(object)
    }
}

impl From<super::types::Shelf> for Node {
    fn from(object: super::types::Shelf) -> Self {
        Self::Shelf(object)
    }
}

impl From<super::types::Calm> for Node {
    fn from(object: super::types::Calm) -> Self {
        Self::Calm(object)
    }
}

impl From<super::types::Harsh> for Node {
    fn from(object: super::types::Harsh) -> Self {
        Self::Harsh(object)
    }
}

impl From<super::types::Ward> for Node {
    fn from(object: super::types::Ward) -> Self {
        Self::Ward(object)
    }
}

impl __e::Composite for Node {
    fn leaves<'a>(nodes: Vec<&'a Self>) -> __e::Leaves<'a> {
        let mut places = Vec::with_capacity(nodes.len());
        let mut rows_0 = Vec::new();
        let mut rows_1 = Vec::new();
        let mut rows_2 = Vec::new();
        let mut rows_3 = Vec::new();
        let mut rows_4 = Vec::new();
        let mut rows_5 = Vec::new();
        let mut rows_6 = Vec::new();
        for node in nodes {
            match node {
                Self::Book(object) => {
                    places.push((0, rows_0.len() as u32));
                    rows_0.push(object);
                }
                Self::Film(object) => {
                    places.push((1, rows_1.len() as u32));
                    rows_1.push(object);
                }
                Self::Person(object) => {
                    places.push((2, rows_2.len() as u32));
                    rows_2.push(object);
                }
                Self::Shelf(object) => {
                    places.push((3, rows_3.len() as u32));
                    rows_3.push(object);
                }
                Self::Calm(object) => {
                    places.push((4, rows_4.len() as u32));
                    rows_4.push(object);
                }
                Self::Harsh(object) => {
                    places.push((5, rows_5.len() as u32));
                    rows_5.push(object);
                }
                Self::Ward(object) => {
                    places.push((6, rows_6.len() as u32));
                    rows_6.push(object);
                }
            }
        }
        __e::Leaves::of_several(
            vec![
                __e::objects(rows_0), __e::objects(rows_1), __e::objects(rows_2),
                __e::objects(rows_3), __e::objects(rows_4), __e::objects(rows_5),
                __e::objects(rows_6)
            ],
            places,
        )
    }
}

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

impl From<super::types::Book> for Named {
    fn from(object: super::types::Book) -> Self {
        Self::Book(object)
    }
}

impl From<super::types::Film> for Named {
    fn from(object: super::types::Film) -> Self {
        Self::Film(object)
    }
}

impl From<super::types::Person> for Named {
    fn from(object: super::types::Person) -> Self {
        Self::Person(object)
    }
}

impl From<super::types::Shelf> for Named {
    fn from(object: super::types::Shelf) -> Self {
        Self::Shelf(object)
    }
}

impl __e::Composite for Named {
    fn leaves<'a>(nodes: Vec<&'a Self>) -> __e::Leaves<'a> {
        let mut places = Vec::with_capacity(nodes.len());
        let mut rows_0 = Vec::new();
        let mut rows_1 = Vec::new();
        let mut rows_2 = Vec::new();
        let mut rows_3 = Vec::new();
        for node in nodes {
            match node {
                Self::Book(object) => {
                    places.push((0, rows_0.len() as u32));
                    rows_0.push(object);
                }
                Self::Film(object) => {
                    places.push((1, rows_1.len() as u32));
                    rows_1.push(object);
                }
                Self::Person(object) => {
                    places.push((2, rows_2.len() as u32));
                    rows_2.push(object);
                }
                Self::Shelf(object) => {
                    places.push((3, rows_3.len() as u32));
                    rows_3.push(object);
                }
            }
        }
        __e::Leaves::of_several(
            vec![
                __e::objects(rows_0), __e::objects(rows_1), __e::objects(rows_2),
                __e::objects(rows_3)
            ],
            places,
        )
    }
}

/// What stands on a shelf.
#[derive(Debug)]
pub enum Holding {
    /// The SDL's `Book`.
    Book(super::types::Book),
    /// The SDL's `Film`.
    Film(super::types::Film),
}

impl From<super::types::Book> for Holding {
    fn from(object: super::types::Book) -> Self {
        Self::Book(object)
    }
}

impl From<super::types::Film> for Holding {
    fn from(object: super::types::Film) -> Self {
        Self::Film(object)
    }
}

impl __e::Composite for Holding {
    fn leaves<'a>(nodes: Vec<&'a Self>) -> __e::Leaves<'a> {
        let mut places = Vec::with_capacity(nodes.len());
        let mut rows_0 = Vec::new();
        let mut rows_1 = Vec::new();
        for node in nodes {
            match node {
                Self::Book(object) => {
                    places.push((0, rows_0.len() as u32));
                    rows_0.push(object);
                }
                Self::Film(object) => {
                    places.push((1, rows_1.len() as u32));
                    rows_1.push(object);
                }
            }
        }
        __e::Leaves::of_several(vec![__e::objects(rows_0), __e::objects(rows_1)], places)
    }
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Book` for `{Self}`",
    note = "write `impl BookResolver for Book` in src/graphql/book.rs"
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
    fn scores(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<Vec<Option<f64>>>>>>;
    fn shelf(books: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<super::types::Shelf>;
    fn related(
        books: &[&Self],
        args: &BookRelatedArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<super::types::Book>>;
    fn summary(
        books: &[&Self],
        args: &BookSummaryArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<String>;
    fn authors(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<super::types::Person>>;
    fn sequel(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<super::types::Book>>;
    /// Deprecated: Ask the desk.
    fn borrower(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<super::types::Person>>;
}

/// The arguments of `Book.related`.
#[derive(Debug, Clone, PartialEq)]
pub struct BookRelatedArgs {
    pub first: Option<i32>,
}

impl __e::FromFields for BookRelatedArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            first: __e::defaulted(
                fields,
                "first",
                || __e::Value::Number(From::from(2i64)),
            )?,
        })
    }
}

/// The arguments of `Book.summary`.
#[derive(Debug, Clone, PartialEq)]
pub struct BookSummaryArgs {
    pub length: i32,
    pub loud: Option<bool>,
}

impl __e::FromFields for BookSummaryArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            length: __e::defaulted(
                fields,
                "length",
                || __e::Value::Number(From::from(4i64)),
            )?,
            loud: __e::defaulted(fields, "loud", || __e::Value::Boolean(false))?,
        })
    }
}

impl __e::Object for super::types::Book {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(BookResolver::id(self), out),
            1 => __e::put(BookResolver::name(self), out),
            2 => __e::put(BookResolver::condition(self), out),
            3 => __e::put(BookResolver::price(self), out),
            4 => __e::put(BookResolver::pages(self), out),
            5 => __e::put(BookResolver::isbn(self), out),
            6 => __e::put(BookResolver::published(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            7 => __e::resolve!(call, scalars, BookResolver::tags),
            8 => __e::resolve!(call, scalars, BookResolver::scores),
            9 => __e::resolve!(call, answers, BookResolver::shelf),
            10 => __e::resolve!(call, answers, BookResolver::related, arguments),
            11 => __e::resolve!(call, scalars, BookResolver::summary, arguments),
            12 => __e::resolve!(call, answers, BookResolver::authors),
            13 => __e::resolve!(call, answers, BookResolver::sequel),
            14 => __e::resolve!(call, answers, BookResolver::borrower),
            _ => call.unresolved(),
        }
    }
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Film` for `{Self}`",
    note = "write `impl FilmResolver for Film` in src/graphql/film.rs"
)]
pub trait FilmResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn condition(&self) -> Condition;
    fn price(&self) -> Option<f64>;
    fn minutes(&self) -> Option<i32>;
    fn shelf(
        films: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<super::types::Shelf>>;
    fn related(
        films: &[&Self],
        args: &FilmRelatedArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<Holding>>>>;
    fn summary(
        films: &[&Self],
        args: &FilmSummaryArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<String>>;
    fn director(
        films: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<super::types::Person>>;
}

/// The arguments of `Film.related`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilmRelatedArgs {
    pub first: Option<i32>,
}

impl __e::FromFields for FilmRelatedArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            first: __e::defaulted(
                fields,
                "first",
                || __e::Value::Number(From::from(2i64)),
            )?,
        })
    }
}

/// The arguments of `Film.summary`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilmSummaryArgs {
    pub length: i32,
}

impl __e::FromFields for FilmSummaryArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            length: __e::defaulted(
                fields,
                "length",
                || __e::Value::Number(From::from(4i64)),
            )?,
        })
    }
}

impl __e::Object for super::types::Film {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(FilmResolver::id(self), out),
            1 => __e::put(FilmResolver::name(self), out),
            2 => __e::put(FilmResolver::condition(self), out),
            3 => __e::put(FilmResolver::price(self), out),
            4 => __e::put(FilmResolver::minutes(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            5 => __e::resolve!(call, answers, FilmResolver::shelf),
            6 => __e::resolve!(call, answers, FilmResolver::related, arguments),
            7 => __e::resolve!(call, scalars, FilmResolver::summary, arguments),
            8 => __e::resolve!(call, answers, FilmResolver::director),
            _ => call.unresolved(),
        }
    }
}

/// Someone who writes, reads or keeps a shelf.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Person` for `{Self}`",
    note = "write `impl PersonResolver for Person` in src/graphql/person.rs"
)]
pub trait PersonResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn born(&self) -> Option<super::types::Date>;
    fn friend(
        persons: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<super::types::Person>>;
    fn wrote(
        persons: &[&Self],
        args: &PersonWroteArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<super::types::Book>>;
    /// What they like best, of any kind.
    fn likes(persons: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Option<Find>>>;
    fn motto(&self) -> Option<&str>;
}

/// The arguments of `Person.wrote`.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonWroteArgs {
    pub first: __e::MaybeUndefined<i32>,
}

impl __e::FromFields for PersonWroteArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            first: __e::optional(fields, "first")?,
        })
    }
}

impl __e::Object for super::types::Person {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(PersonResolver::id(self), out),
            1 => __e::put(PersonResolver::name(self), out),
            2 => __e::put(PersonResolver::born(self), out),
            6 => __e::put(PersonResolver::motto(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            3 => __e::resolve!(call, answers, PersonResolver::friend),
            4 => __e::resolve!(call, answers, PersonResolver::wrote, arguments),
            5 => __e::resolve!(call, answers, PersonResolver::likes),
            _ => call.unresolved(),
        }
    }
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Shelf` for `{Self}`",
    note = "write `impl ShelfResolver for Shelf` in src/graphql/shelf.rs"
)]
pub trait ShelfResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn name(&self) -> &str;
    fn floor(&self) -> i32;
    fn width(&self) -> Option<f64>;
    fn open(&self) -> bool;
    fn keeper(
        shelfs: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<super::types::Person>>;
    fn holdings(
        shelfs: &[&Self],
        args: &ShelfHoldingsArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<Holding>>;
    fn rows(shelfs: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<Vec<Holding>>>;
    fn gaps(
        shelfs: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<Vec<Option<Holding>>>>>>;
}

/// The arguments of `Shelf.holdings`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShelfHoldingsArgs {
    pub condition: __e::MaybeUndefined<Condition>,
}

impl __e::FromFields for ShelfHoldingsArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            condition: __e::optional(fields, "condition")?,
        })
    }
}

impl __e::Object for super::types::Shelf {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(ShelfResolver::id(self), out),
            1 => __e::put(ShelfResolver::name(self), out),
            2 => __e::put(ShelfResolver::floor(self), out),
            3 => __e::put(ShelfResolver::width(self), out),
            4 => __e::put(ShelfResolver::open(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            5 => __e::resolve!(call, answers, ShelfResolver::keeper),
            6 => __e::resolve!(call, answers, ShelfResolver::holdings, arguments),
            7 => __e::resolve!(call, answers, ShelfResolver::rows),
            8 => __e::resolve!(call, answers, ShelfResolver::gaps),
            _ => call.unresolved(),
        }
    }
}

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

impl From<super::types::Book> for Find {
    fn from(object: super::types::Book) -> Self {
        Self::Book(object)
    }
}

impl From<super::types::Film> for Find {
    fn from(object: super::types::Film) -> Self {
        Self::Film(object)
    }
}

impl From<super::types::Person> for Find {
    fn from(object: super::types::Person) -> Self {
        Self::Person(object)
    }
}

impl From<super::types::Shelf> for Find {
    fn from(object: super::types::Shelf) -> Self {
        Self::Shelf(object)
    }
}

impl __e::Composite for Find {
    fn leaves<'a>(nodes: Vec<&'a Self>) -> __e::Leaves<'a> {
        let mut places = Vec::with_capacity(nodes.len());
        let mut rows_0 = Vec::new();
        let mut rows_1 = Vec::new();
        let mut rows_2 = Vec::new();
        let mut rows_3 = Vec::new();
        for node in nodes {
            match node {
                Self::Book(object) => {
                    places.push((0, rows_0.len() as u32));
                    rows_0.push(object);
                }
                Self::Film(object) => {
                    places.push((1, rows_1.len() as u32));
                    rows_1.push(object);
                }
                Self::Person(object) => {
                    places.push((2, rows_2.len() as u32));
                    rows_2.push(object);
                }
                Self::Shelf(object) => {
                    places.push((3, rows_3.len() as u32));
                    rows_3.push(object);
                }
            }
        }
        __e::Leaves::of_several(
            vec![
                __e::objects(rows_0), __e::objects(rows_1), __e::objects(rows_2),
                __e::objects(rows_3)
            ],
            places,
        )
    }
}

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

impl From<super::types::Calm> for Trouble {
    fn from(object: super::types::Calm) -> Self {
        Self::Calm(object)
    }
}

impl From<super::types::Harsh> for Trouble {
    fn from(object: super::types::Harsh) -> Self {
        Self::Harsh(object)
    }
}

impl __e::Composite for Trouble {
    fn leaves<'a>(nodes: Vec<&'a Self>) -> __e::Leaves<'a> {
        let mut places = Vec::with_capacity(nodes.len());
        let mut rows_0 = Vec::new();
        let mut rows_1 = Vec::new();
        for node in nodes {
            match node {
                Self::Calm(object) => {
                    places.push((0, rows_0.len() as u32));
                    rows_0.push(object);
                }
                Self::Harsh(object) => {
                    places.push((1, rows_1.len() as u32));
                    rows_1.push(object);
                }
            }
        }
        __e::Leaves::of_several(vec![__e::objects(rows_0), __e::objects(rows_1)], places)
    }
}

/// Fails only when told to.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Calm` for `{Self}`",
    note = "write `impl CalmResolver for Calm` in src/graphql/calm.rs"
)]
pub trait CalmResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn label(&self) -> &str;
    fn word(
        calms: &[&Self],
        args: &CalmWordArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<String>;
    fn sure(
        calms: &[&Self],
        args: &CalmSureArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<String>;
    fn one(
        calms: &[&Self],
        args: &CalmOneArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Trouble>;
    fn must(
        calms: &[&Self],
        args: &CalmMustArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<super::types::Calm>;
    fn next(
        calms: &[&Self],
        args: &CalmNextArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Trouble>>;
    fn kin(
        calms: &[&Self],
        args: &CalmKinArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<Trouble>>;
    fn ward(
        calms: &[&Self],
        args: &CalmWardArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<super::types::Ward>;
}

/// The arguments of `Calm.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmWordArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for CalmWordArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.sure`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmSureArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for CalmSureArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.one`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmOneArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for CalmOneArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.must`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmMustArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for CalmMustArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.next`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmNextArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for CalmNextArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.kin`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmKinArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for CalmKinArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmWardArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for CalmWardArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

impl __e::Object for super::types::Calm {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(CalmResolver::id(self), out),
            1 => __e::put(CalmResolver::label(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            2 => __e::resolve!(call, scalars, CalmResolver::word, arguments),
            3 => __e::resolve!(call, scalars, CalmResolver::sure, arguments),
            4 => __e::resolve!(call, answers, CalmResolver::one, arguments),
            5 => __e::resolve!(call, answers, CalmResolver::must, arguments),
            6 => __e::resolve!(call, answers, CalmResolver::next, arguments),
            7 => __e::resolve!(call, answers, CalmResolver::kin, arguments),
            8 => __e::resolve!(call, answers, CalmResolver::ward, arguments),
            _ => call.unresolved(),
        }
    }
}

/// Its `word`, `sure`, `one` and `must` always fail.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Harsh` for `{Self}`",
    note = "write `impl HarshResolver for Harsh` in src/graphql/harsh.rs"
)]
pub trait HarshResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn label(&self) -> &str;
    fn word(
        harshs: &[&Self],
        args: &HarshWordArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<String>>;
    fn sure(
        harshs: &[&Self],
        args: &HarshSureArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<String>;
    fn one(
        harshs: &[&Self],
        args: &HarshOneArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Trouble>>;
    fn must(
        harshs: &[&Self],
        args: &HarshMustArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Trouble>;
    fn next(
        harshs: &[&Self],
        args: &HarshNextArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Trouble>>;
    fn kin(
        harshs: &[&Self],
        args: &HarshKinArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<super::types::Harsh>>>;
    fn ward(
        harshs: &[&Self],
        args: &HarshWardArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<super::types::Ward>;
}

/// The arguments of `Harsh.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshWordArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for HarshWordArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.sure`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshSureArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for HarshSureArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.one`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshOneArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for HarshOneArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.must`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshMustArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for HarshMustArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.next`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshNextArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for HarshNextArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.kin`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshKinArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for HarshKinArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshWardArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for HarshWardArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

impl __e::Object for super::types::Harsh {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(HarshResolver::id(self), out),
            1 => __e::put(HarshResolver::label(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            2 => __e::resolve!(call, scalars, HarshResolver::word, arguments),
            3 => __e::resolve!(call, scalars, HarshResolver::sure, arguments),
            4 => __e::resolve!(call, answers, HarshResolver::one, arguments),
            5 => __e::resolve!(call, answers, HarshResolver::must, arguments),
            6 => __e::resolve!(call, answers, HarshResolver::next, arguments),
            7 => __e::resolve!(call, answers, HarshResolver::kin, arguments),
            8 => __e::resolve!(call, answers, HarshResolver::ward, arguments),
            _ => call.unresolved(),
        }
    }
}

/// Lists of troubles with every way of being null.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Ward` for `{Self}`",
    note = "write `impl WardResolver for Ward` in src/graphql/ward.rs"
)]
pub trait WardResolver: Sized + Send + Sync + 'static {
    fn id(&self) -> super::types::ID;
    fn loose(
        wards: &[&Self],
        args: &WardLooseArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<Trouble>>>>;
    fn filled(
        wards: &[&Self],
        args: &WardFilledArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Trouble>>>;
    fn firm(
        wards: &[&Self],
        args: &WardFirmArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<Option<Trouble>>>;
    fn strict(
        wards: &[&Self],
        args: &WardStrictArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<Trouble>>;
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
    fn strict_grid(
        wards: &[&Self],
        args: &WardStrictGridArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Vec<Vec<Trouble>>>;
    fn words(
        wards: &[&Self],
        args: &WardWordsArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Vec<Option<String>>>>;
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

impl __e::FromFields for WardLooseArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.filled`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFilledArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardFilledArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.firm`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFirmArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardFirmArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.strict`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardStrictArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardStrictArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.grid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardGridArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardGridArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.fullGrid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFullGridArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardFullGridArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.firmRows`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFirmRowsArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardFirmRowsArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.strictGrid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardStrictGridArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardStrictGridArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.words`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardWordsArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardWordsArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.numbers`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardNumbersArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for WardNumbersArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

impl __e::Object for super::types::Ward {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(WardResolver::id(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            1 => __e::resolve!(call, answers, WardResolver::loose, arguments),
            2 => __e::resolve!(call, answers, WardResolver::filled, arguments),
            3 => __e::resolve!(call, answers, WardResolver::firm, arguments),
            4 => __e::resolve!(call, answers, WardResolver::strict, arguments),
            5 => __e::resolve!(call, answers, WardResolver::grid, arguments),
            6 => __e::resolve!(call, answers, WardResolver::full_grid, arguments),
            7 => __e::resolve!(call, answers, WardResolver::firm_rows, arguments),
            8 => __e::resolve!(call, answers, WardResolver::strict_grid, arguments),
            9 => __e::resolve!(call, scalars, WardResolver::words, arguments),
            10 => __e::resolve!(call, scalars, WardResolver::numbers, arguments),
            _ => call.unresolved(),
        }
    }
}

/// From here to there.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub from: i32,
    pub to: __e::MaybeUndefined<i32>,
    /// How far at a time.
    pub step: Option<f64>,
}

impl __e::FromFields for Range {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            from: __e::defaulted(
                fields,
                "from",
                || __e::Value::Number(From::from(0i64)),
            )?,
            to: __e::optional(fields, "to")?,
            step: __e::defaulted(fields, "step", || __e::float(0.5f64))?,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    pub depth: i32,
}

impl __e::FromFields for Level {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            depth: __e::required(fields, "depth")?,
        })
    }
}

/// Exactly one of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    pub id: __e::MaybeUndefined<String>,
    pub name: __e::MaybeUndefined<String>,
    pub range: __e::MaybeUndefined<Range>,
    pub list: __e::MaybeUndefined<Vec<i32>>,
}

impl __e::FromFields for Pick {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        __e::exactly_one(fields)?;
        Ok(Self {
            id: __e::optional(fields, "id")?,
            name: __e::optional(fields, "name")?,
            range: __e::optional(fields, "range")?,
            list: __e::optional(fields, "list")?,
        })
    }
}

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

impl __e::FromFields for EchoInput {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            text: __e::optional(fields, "text")?,
            count: __e::defaulted(
                fields,
                "count",
                || __e::Value::Number(From::from(3i64)),
            )?,
            must: __e::defaulted(
                fields,
                "must",
                || __e::Value::Number(From::from(1i64)),
            )?,
            flag: __e::optional(fields, "flag")?,
            ids: __e::optional(fields, "ids")?,
            conditions: __e::defaulted(
                fields,
                "conditions",
                || __e::Value::List(
                    vec![__e::Value::Enum(__e::Name::new("GOOD")), __e::Value::Null],
                ),
            )?,
            range: __e::defaulted(
                fields,
                "range",
                || __e::object([
                    ("from", __e::Value::Number(From::from(2i64))),
                    ("to", __e::Value::Number(From::from(4i64))),
                    ("step", __e::float(0.5f64)),
                ]),
            )?,
            nested: __e::optional(fields, "nested")?,
            ranges: __e::optional(fields, "ranges")?,
            pick: __e::optional(fields, "pick")?,
        })
    }
}

/// Where reading begins.
#[derive(Debug, Clone, Copy)]
pub struct Query;

/// One thing by its identifier, or null.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.node`",
    note = "write `impl NodeQuery for Query` in src/graphql/node.rs"
)]
pub trait NodeQuery {
    fn node(ctx: &Ctx<'_>, id: String) -> impl __e::Answer<Option<Node>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.nodes`",
    note = "write `impl NodesQuery for Query` in src/graphql/nodes.rs"
)]
pub trait NodesQuery {
    fn nodes(ctx: &Ctx<'_>, ids: Vec<String>) -> impl __e::Answer<Vec<Option<Node>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.viewer`",
    note = "write `impl ViewerQuery for Query` in src/graphql/viewer.rs"
)]
pub trait ViewerQuery {
    fn viewer(ctx: &Ctx<'_>) -> impl __e::Answer<Option<super::types::Person>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.shelf`",
    note = "write `impl ShelfQuery for Query` in src/graphql/shelf.rs"
)]
pub trait ShelfQuery {
    fn shelf(ctx: &Ctx<'_>, id: String) -> impl __e::Answer<Option<super::types::Shelf>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.shelves`",
    note = "write `impl ShelvesQuery for Query` in src/graphql/shelves.rs"
)]
pub trait ShelvesQuery {
    fn shelves(ctx: &Ctx<'_>) -> impl __e::Answer<Vec<super::types::Shelf>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.holdings`",
    note = "write `impl HoldingsQuery for Query` in src/graphql/holdings.rs"
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
    note = "write `impl SearchQuery for Query` in src/graphql/search.rs"
)]
pub trait SearchQuery {
    fn search(ctx: &Ctx<'_>, text: String, first: i32) -> impl __e::Answer<Vec<Find>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.pick`",
    note = "write `impl PickQuery for Query` in src/graphql/pick.rs"
)]
pub trait PickQuery {
    fn pick(ctx: &Ctx<'_>, by: Pick) -> impl __e::Answer<Option<Node>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.nothing`",
    note = "write `impl NothingQuery for Query` in src/graphql/nothing.rs"
)]
pub trait NothingQuery {
    fn nothing(ctx: &Ctx<'_>) -> impl __e::Answer<Option<Holding>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.empty`",
    note = "write `impl EmptyQuery for Query` in src/graphql/empty.rs"
)]
pub trait EmptyQuery {
    fn empty(ctx: &Ctx<'_>) -> impl __e::Answer<Vec<Find>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.trouble`",
    note = "write `impl TroubleQuery for Query` in src/graphql/trouble.rs"
)]
pub trait TroubleQuery {
    fn trouble(
        ctx: &Ctx<'_>,
        id: String,
        fail: __e::MaybeUndefined<String>,
    ) -> impl __e::Answer<Option<Trouble>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.mustTrouble`",
    note = "write `impl MustTroubleQuery for Query` in src/graphql/must.rs"
)]
pub trait MustTroubleQuery {
    fn must_trouble(
        ctx: &Ctx<'_>,
        id: String,
        fail: __e::MaybeUndefined<String>,
    ) -> impl __e::Answer<Trouble>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.troubles`",
    note = "write `impl TroublesQuery for Query` in src/graphql/troubles.rs"
)]
pub trait TroublesQuery {
    fn troubles(
        ctx: &Ctx<'_>,
        fail: __e::MaybeUndefined<String>,
    ) -> impl __e::Answer<Option<Vec<Option<Trouble>>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.ward`",
    note = "write `impl WardQuery for Query` in src/graphql/ward.rs"
)]
pub trait WardQuery {
    fn ward(
        ctx: &Ctx<'_>,
        fail: __e::MaybeUndefined<String>,
    ) -> impl __e::Answer<super::types::Ward>;
}

/// Deprecated: No longer supported
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.old`",
    note = "write `impl OldQuery for Query` in src/graphql/old.rs"
)]
pub trait OldQuery {
    fn old(ctx: &Ctx<'_>) -> impl __e::Answer<Option<String>>;
}

/// Deprecated: Older than `old`.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.older`",
    note = "write `impl OlderQuery for Query` in src/graphql/older.rs"
)]
pub trait OlderQuery {
    fn older(
        ctx: &Ctx<'_>,
        than: __e::MaybeUndefined<i32>,
    ) -> impl __e::Answer<Option<String>>;
}

/// Its own arguments as JSON, in this order, those left out left out.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.echo`",
    note = "write `impl EchoQuery for Query` in src/graphql/echo.rs"
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

impl __e::FromFields for QueryNodeArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            id: __e::required(fields, "id")?,
        })
    }
}

/// The arguments of `Query.nodes`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryNodesArgs {
    pub ids: Vec<String>,
}

impl __e::FromFields for QueryNodesArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            ids: __e::required(fields, "ids")?,
        })
    }
}

/// The arguments of `Query.shelf`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryShelfArgs {
    pub id: String,
}

impl __e::FromFields for QueryShelfArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            id: __e::defaulted(fields, "id", || __e::Value::String(String::from("s1")))?,
        })
    }
}

/// The arguments of `Query.holdings`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryHoldingsArgs {
    pub condition: __e::MaybeUndefined<Condition>,
    pub first: Option<i32>,
}

impl __e::FromFields for QueryHoldingsArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            condition: __e::optional(fields, "condition")?,
            first: __e::defaulted(
                fields,
                "first",
                || __e::Value::Number(From::from(10i64)),
            )?,
        })
    }
}

/// The arguments of `Query.search`.
#[derive(Debug, Clone, PartialEq)]
pub struct QuerySearchArgs {
    pub text: String,
    pub first: i32,
}

impl __e::FromFields for QuerySearchArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            text: __e::required(fields, "text")?,
            first: __e::defaulted(
                fields,
                "first",
                || __e::Value::Number(From::from(3i64)),
            )?,
        })
    }
}

/// The arguments of `Query.pick`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPickArgs {
    pub by: Pick,
}

impl __e::FromFields for QueryPickArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            by: __e::required(fields, "by")?,
        })
    }
}

/// The arguments of `Query.trouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for QueryTroubleArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            id: __e::defaulted(fields, "id", || __e::Value::String(String::from("c1")))?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.mustTrouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryMustTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for QueryMustTroubleArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            id: __e::defaulted(fields, "id", || __e::Value::String(String::from("c1")))?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.troubles`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTroublesArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for QueryTroublesArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryWardArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for QueryWardArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.older`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryOlderArgs {
    /// Deprecated: Age does not matter.
    pub than: __e::MaybeUndefined<i32>,
}

impl __e::FromFields for QueryOlderArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            than: __e::optional(fields, "than")?,
        })
    }
}

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

impl __e::FromFields for QueryEchoArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            input: __e::optional(fields, "input")?,
            list: __e::optional(fields, "list")?,
            r#enum: __e::optional(fields, "enum")?,
            id: __e::optional(fields, "id")?,
            i: __e::defaulted(fields, "i", || __e::Value::Number(From::from(7i64)))?,
            f: __e::defaulted(fields, "f", || __e::float(1.5f64))?,
            s: __e::defaulted(
                fields,
                "s",
                || __e::Value::String(String::from("a \"quoted\"\ttext\\ é")),
            )?,
            b: __e::defaulted(fields, "b", || __e::Value::Boolean(true))?,
            matrix: __e::optional(fields, "matrix")?,
            on: __e::optional(fields, "on")?,
            pick: __e::optional(fields, "pick")?,
            range: __e::defaulted(
                fields,
                "range",
                || __e::object([
                    ("from", __e::Value::Number(From::from(1i64))),
                    ("to", __e::Value::Number(From::from(10i64))),
                    ("step", __e::float(0.25f64)),
                ]),
            )?,
            looks: __e::defaulted(
                fields,
                "looks",
                || __e::Value::List(
                    vec![
                        __e::Value::Enum(__e::Name::new("GOOD")),
                        __e::Value::Enum(__e::Name::new("WORN"))
                    ],
                ),
            )?,
            none: __e::defaulted(fields, "none", || __e::Value::Null)?,
        })
    }
}

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

impl __e::Object for Query {
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            0 => Self::resolve_node(call),
            1 => Self::resolve_nodes(call),
            2 => Self::resolve_viewer(call),
            3 => Self::resolve_shelf(call),
            4 => Self::resolve_shelves(call),
            5 => Self::resolve_holdings(call),
            6 => Self::resolve_search(call),
            7 => Self::resolve_pick(call),
            8 => Self::resolve_nothing(call),
            9 => Self::resolve_empty(call),
            10 => Self::resolve_trouble(call),
            11 => Self::resolve_must_trouble(call),
            12 => Self::resolve_troubles(call),
            13 => Self::resolve_ward(call),
            14 => Self::resolve_old(call),
            15 => Self::resolve_older(call),
            16 => Self::resolve_echo(call),
            17 => __e::introspection::schema(call),
            18 => __e::introspection::type_by_name(call),
            _ => call.unresolved(),
        }
    }
}

/// What came of a change.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the fields of the SDL's type `Tally` for `{Self}`",
    note = "write `impl TallyResolver for Tally` in src/graphql/tally.rs"
)]
pub trait TallyResolver: Sized + Send + Sync + 'static {
    /// The counter just after the change.
    fn value(&self) -> i32;
    /// The counter while this is read.
    fn now(
        tallys: &[&Self],
        args: &TallyNowArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<i32>;
    fn note(
        tallys: &[&Self],
        args: &TallyNoteArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<String>>;
    fn history(tallys: &[&Self], ctx: &Ctx<'_>) -> impl __e::Answers<Vec<i32>>;
    fn trouble(
        tallys: &[&Self],
        args: &TallyTroubleArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Option<Trouble>>;
    fn must_trouble(
        tallys: &[&Self],
        args: &TallyMustTroubleArgs,
        ctx: &Ctx<'_>,
    ) -> impl __e::Answers<Trouble>;
}

/// The arguments of `Tally.now`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyNowArgs {
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for TallyNowArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Tally.note`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyNoteArgs {
    pub text: String,
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for TallyNoteArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            text: __e::defaulted(
                fields,
                "text",
                || __e::Value::String(String::from("noted")),
            )?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Tally.trouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for TallyTroubleArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            id: __e::defaulted(fields, "id", || __e::Value::String(String::from("c1")))?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Tally.mustTrouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyMustTroubleArgs {
    pub id: String,
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for TallyMustTroubleArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            id: __e::defaulted(fields, "id", || __e::Value::String(String::from("c1")))?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

impl __e::Object for super::types::Tally {
    fn write_column(&self, field: u16, out: &mut __e::Writer<'_>) {
        match field {
            0 => __e::put(TallyResolver::value(self), out),
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            1 => __e::resolve!(call, scalars, TallyResolver::now, arguments),
            2 => __e::resolve!(call, scalars, TallyResolver::note, arguments),
            3 => __e::resolve!(call, scalars, TallyResolver::history),
            4 => __e::resolve!(call, answers, TallyResolver::trouble, arguments),
            5 => __e::resolve!(call, answers, TallyResolver::must_trouble, arguments),
            _ => call.unresolved(),
        }
    }
}

/// One after the other, on one counter.
#[derive(Debug, Clone, Copy)]
pub struct Mutation;

/// Fails before it adds.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.add`",
    note = "write `impl AddMutation for Mutation` in src/graphql/add.rs"
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
    note = "write `impl MustAddMutation for Mutation` in src/graphql/must.rs"
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
    note = "write `impl ResetMutation for Mutation` in src/graphql/reset.rs"
)]
pub trait ResetMutation {
    fn reset(ctx: &MutationCtx<'_>, to: Option<i32>) -> impl __e::Answer<i32>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.addAll`",
    note = "write `impl AddAllMutation for Mutation` in src/graphql/add.rs"
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
    note = "write `impl UndoMutation for Mutation` in src/graphql/undo.rs"
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

impl __e::FromFields for MutationAddArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            by: __e::defaulted(fields, "by", || __e::Value::Number(From::from(1i64)))?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Mutation.mustAdd`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationMustAddArgs {
    pub by: i32,
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for MutationMustAddArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            by: __e::defaulted(fields, "by", || __e::Value::Number(From::from(1i64)))?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Mutation.reset`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResetArgs {
    pub to: Option<i32>,
}

impl __e::FromFields for MutationResetArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            to: __e::defaulted(fields, "to", || __e::Value::Number(From::from(0i64)))?,
        })
    }
}

/// The arguments of `Mutation.addAll`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationAddAllArgs {
    pub steps: Vec<i32>,
    pub fail: __e::MaybeUndefined<String>,
}

impl __e::FromFields for MutationAddAllArgs {
    fn from_fields(fields: &__e::Fields) -> Result<Self, __e::InputError> {
        Ok(Self {
            steps: __e::required(fields, "steps")?,
            fail: __e::optional(fields, "fail")?,
        })
    }
}

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

impl __e::Object for Mutation {
    fn resolve<'r, 'a: 'r>(call: __e::Call<'r, 'a, Self>) -> __e::Resolved<'r, 'a> {
        match call.index() {
            0 => Self::resolve_add(call),
            1 => Self::resolve_must_add(call),
            2 => Self::resolve_reset(call),
            3 => Self::resolve_add_all(call),
            4 => Self::resolve_undo(call),
            _ => call.unresolved(),
        }
    }
}

/// The executor's descriptions of the object types, by their names in the SDL.
#[allow(non_upper_case_globals)]
pub mod info {
    use super::__e;
    /// The custom scalars of arguments and input fields, with the checks of their values.
    pub static SCALARS: &[__e::ScalarCheck] = &[
        ("Date", __e::check::<super::super::types::Date>),
    ];
    pub static Book: __e::ObjectInfo = __e::ObjectInfo {
        name: "Book",
        fields: &[
            __e::column("id"),
            __e::column("name"),
            __e::column("condition"),
            __e::column("price").nullable(),
            __e::column("pages"),
            __e::column("isbn").nullable(),
            __e::column("published").nullable(),
            __e::relation("tags", &[]),
            __e::relation("scores", &[]).nullable(),
            __e::relation("shelf", &[&Shelf]),
            __e::relation("related", &[&Book]).args::<super::BookRelatedArgs>().list(10),
            __e::relation("summary", &[]).args::<super::BookSummaryArgs>(),
            __e::relation("authors", &[&Person]).list(10),
            __e::relation("sequel", &[&Book]).nullable(),
            __e::relation("borrower", &[&Person]).nullable(),
        ],
    };
    pub static Film: __e::ObjectInfo = __e::ObjectInfo {
        name: "Film",
        fields: &[
            __e::column("id"),
            __e::column("name"),
            __e::column("condition"),
            __e::column("price").nullable(),
            __e::column("minutes").nullable(),
            __e::relation("shelf", &[&Shelf]).nullable(),
            __e::relation("related", &[&Book, &Film])
                .nullable()
                .args::<super::FilmRelatedArgs>()
                .list(10),
            __e::relation("summary", &[]).nullable().args::<super::FilmSummaryArgs>(),
            __e::relation("director", &[&Person]).nullable(),
        ],
    };
    pub static Person: __e::ObjectInfo = __e::ObjectInfo {
        name: "Person",
        fields: &[
            __e::column("id"),
            __e::column("name"),
            __e::column("born").nullable(),
            __e::relation("friend", &[&Person]).nullable(),
            __e::relation("wrote", &[&Book]).args::<super::PersonWroteArgs>().list(10),
            __e::relation("likes", &[&Book, &Film, &Person, &Shelf]).list(10),
            __e::column("motto").nullable(),
        ],
    };
    pub static Shelf: __e::ObjectInfo = __e::ObjectInfo {
        name: "Shelf",
        fields: &[
            __e::column("id"),
            __e::column("name"),
            __e::column("floor"),
            __e::column("width").nullable(),
            __e::column("open"),
            __e::relation("keeper", &[&Person]).nullable(),
            __e::relation("holdings", &[&Book, &Film])
                .args::<super::ShelfHoldingsArgs>()
                .list(10),
            __e::relation("rows", &[&Book, &Film]).list(10),
            __e::relation("gaps", &[&Book, &Film]).nullable().list(10),
        ],
    };
    pub static Calm: __e::ObjectInfo = __e::ObjectInfo {
        name: "Calm",
        fields: &[
            __e::column("id"),
            __e::column("label"),
            __e::relation("word", &[]).args::<super::CalmWordArgs>(),
            __e::relation("sure", &[]).args::<super::CalmSureArgs>(),
            __e::relation("one", &[&Calm, &Harsh]).args::<super::CalmOneArgs>(),
            __e::relation("must", &[&Calm]).args::<super::CalmMustArgs>(),
            __e::relation("next", &[&Calm, &Harsh])
                .nullable()
                .args::<super::CalmNextArgs>(),
            __e::relation("kin", &[&Calm, &Harsh]).args::<super::CalmKinArgs>().list(10),
            __e::relation("ward", &[&Ward]).args::<super::CalmWardArgs>(),
        ],
    };
    pub static Harsh: __e::ObjectInfo = __e::ObjectInfo {
        name: "Harsh",
        fields: &[
            __e::column("id"),
            __e::column("label"),
            __e::relation("word", &[]).nullable().args::<super::HarshWordArgs>(),
            __e::relation("sure", &[]).args::<super::HarshSureArgs>(),
            __e::relation("one", &[&Calm, &Harsh])
                .nullable()
                .args::<super::HarshOneArgs>(),
            __e::relation("must", &[&Calm, &Harsh]).args::<super::HarshMustArgs>(),
            __e::relation("next", &[&Calm, &Harsh])
                .nullable()
                .args::<super::HarshNextArgs>(),
            __e::relation("kin", &[&Harsh])
                .nullable()
                .args::<super::HarshKinArgs>()
                .list(10),
            __e::relation("ward", &[&Ward]).args::<super::HarshWardArgs>(),
        ],
    };
    pub static Ward: __e::ObjectInfo = __e::ObjectInfo {
        name: "Ward",
        fields: &[
            __e::column("id"),
            __e::relation("loose", &[&Calm, &Harsh])
                .nullable()
                .args::<super::WardLooseArgs>()
                .list(10),
            __e::relation("filled", &[&Calm, &Harsh])
                .nullable()
                .args::<super::WardFilledArgs>()
                .list(10),
            __e::relation("firm", &[&Calm, &Harsh])
                .args::<super::WardFirmArgs>()
                .list(10),
            __e::relation("strict", &[&Calm, &Harsh])
                .args::<super::WardStrictArgs>()
                .list(10),
            __e::relation("grid", &[&Calm, &Harsh])
                .nullable()
                .args::<super::WardGridArgs>()
                .list(10),
            __e::relation("fullGrid", &[&Calm, &Harsh])
                .nullable()
                .args::<super::WardFullGridArgs>()
                .list(10),
            __e::relation("firmRows", &[&Calm, &Harsh])
                .nullable()
                .args::<super::WardFirmRowsArgs>()
                .list(10),
            __e::relation("strictGrid", &[&Calm, &Harsh])
                .args::<super::WardStrictGridArgs>()
                .list(10),
            __e::relation("words", &[]).nullable().args::<super::WardWordsArgs>(),
            __e::relation("numbers", &[]).args::<super::WardNumbersArgs>(),
        ],
    };
    pub static Query: __e::ObjectInfo = __e::ObjectInfo {
        name: "Query",
        fields: &[
            __e::relation("node", &[&Book, &Film, &Person, &Shelf, &Calm, &Harsh, &Ward])
                .nullable()
                .args::<super::QueryNodeArgs>(),
            __e::relation(
                    "nodes",
                    &[&Book, &Film, &Person, &Shelf, &Calm, &Harsh, &Ward],
                )
                .args::<super::QueryNodesArgs>()
                .list(10),
            __e::relation("viewer", &[&Person]).nullable(),
            __e::relation("shelf", &[&Shelf]).nullable().args::<super::QueryShelfArgs>(),
            __e::relation("shelves", &[&Shelf]).list(10),
            __e::relation("holdings", &[&Book, &Film])
                .args::<super::QueryHoldingsArgs>()
                .list(10),
            __e::relation("search", &[&Book, &Film, &Person, &Shelf])
                .args::<super::QuerySearchArgs>()
                .list(10),
            __e::relation("pick", &[&Book, &Film, &Person, &Shelf, &Calm, &Harsh, &Ward])
                .nullable()
                .args::<super::QueryPickArgs>(),
            __e::relation("nothing", &[&Book, &Film]).nullable(),
            __e::relation("empty", &[&Book, &Film, &Person, &Shelf]).list(10),
            __e::relation("trouble", &[&Calm, &Harsh])
                .nullable()
                .args::<super::QueryTroubleArgs>(),
            __e::relation("mustTrouble", &[&Calm, &Harsh])
                .args::<super::QueryMustTroubleArgs>(),
            __e::relation("troubles", &[&Calm, &Harsh])
                .nullable()
                .args::<super::QueryTroublesArgs>()
                .list(10),
            __e::relation("ward", &[&Ward]).args::<super::QueryWardArgs>(),
            __e::relation("old", &[]).nullable(),
            __e::relation("older", &[]).nullable().args::<super::QueryOlderArgs>(),
            __e::relation("echo", &[]).nullable().args::<super::QueryEchoArgs>(),
            __e::introspection::SCHEMA_FIELD,
            __e::introspection::TYPE_FIELD,
        ],
    };
    pub static Tally: __e::ObjectInfo = __e::ObjectInfo {
        name: "Tally",
        fields: &[
            __e::column("value"),
            __e::relation("now", &[]).args::<super::TallyNowArgs>(),
            __e::relation("note", &[]).nullable().args::<super::TallyNoteArgs>(),
            __e::relation("history", &[]),
            __e::relation("trouble", &[&Calm, &Harsh])
                .nullable()
                .args::<super::TallyTroubleArgs>(),
            __e::relation("mustTrouble", &[&Calm, &Harsh])
                .args::<super::TallyMustTroubleArgs>(),
        ],
    };
    pub static Mutation: __e::ObjectInfo = __e::ObjectInfo {
        name: "Mutation",
        fields: &[
            __e::relation("add", &[&Tally])
                .nullable()
                .args::<super::MutationAddArgs>()
                .admin(),
            __e::relation("mustAdd", &[&Tally])
                .args::<super::MutationMustAddArgs>()
                .admin(),
            __e::relation("reset", &[]).args::<super::MutationResetArgs>().admin(),
            __e::relation("addAll", &[&Tally])
                .nullable()
                .args::<super::MutationAddAllArgs>()
                .list(10)
                .admin(),
            __e::relation("undo", &[&Tally]).nullable().admin(),
        ],
    };
}
