// Generated from the SDL by the build. Edit the SDL, never this.

/// The context of a resolver: the state of its request.
pub type Ctx<'a> = ::rollcall::engine::Context<'a, super::types::State>;

/// The context of a mutation: the state of its request, and its transaction.
pub type MutationCtx<'a> = ::rollcall::engine::Context<
    'a,
    <super::types::State as ::rollcall::engine::State>::Writing,
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

impl ::rollcall::engine::write::Scalar for Condition {
    fn write(&self, out: &mut ::rollcall::engine::write::Writer<'_>) {
        out.string(self.as_str());
    }
}

impl ::rollcall::engine::input::Input for Condition {
    fn read(
        value: &::rollcall::engine::input::Value,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        match ::rollcall::engine::input::word(value).and_then(Self::from_word) {
            Some(known) => Ok(known),
            None => ::rollcall::engine::input::no_such_word("Condition", value),
        }
    }
}

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

impl ::rollcall::engine::Node for Node {}

impl ::rollcall::engine::Composite<super::types::State> for Node {
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [::rollcall::engine::plan::ObjectPlan],
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Children<'a>> {
        Box::pin(async move {
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
                        places.push((0u16, rows_0.len() as u32));
                        rows_0.push(object);
                    }
                    Self::Film(object) => {
                        places.push((1u16, rows_1.len() as u32));
                        rows_1.push(object);
                    }
                    Self::Person(object) => {
                        places.push((2u16, rows_2.len() as u32));
                        rows_2.push(object);
                    }
                    Self::Shelf(object) => {
                        places.push((3u16, rows_3.len() as u32));
                        rows_3.push(object);
                    }
                    Self::Calm(object) => {
                        places.push((4u16, rows_4.len() as u32));
                        rows_4.push(object);
                    }
                    Self::Harsh(object) => {
                        places.push((5u16, rows_5.len() as u32));
                        rows_5.push(object);
                    }
                    Self::Ward(object) => {
                        places.push((6u16, rows_6.len() as u32));
                        rows_6.push(object);
                    }
                }
            }
            let levels = vec![
                ::rollcall::engine::level(rows_0, & plans[0usize], execution). await,
                ::rollcall::engine::level(rows_1, & plans[1usize], execution). await,
                ::rollcall::engine::level(rows_2, & plans[2usize], execution). await,
                ::rollcall::engine::level(rows_3, & plans[3usize], execution). await,
                ::rollcall::engine::level(rows_4, & plans[4usize], execution). await,
                ::rollcall::engine::level(rows_5, & plans[5usize], execution). await,
                ::rollcall::engine::level(rows_6, & plans[6usize], execution). await,
            ];
            ::rollcall::engine::Children::of_several(levels, places)
        })
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

impl ::rollcall::engine::Node for Named {}

impl ::rollcall::engine::Composite<super::types::State> for Named {
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [::rollcall::engine::plan::ObjectPlan],
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Children<'a>> {
        Box::pin(async move {
            let mut places = Vec::with_capacity(nodes.len());
            let mut rows_0 = Vec::new();
            let mut rows_1 = Vec::new();
            let mut rows_2 = Vec::new();
            let mut rows_3 = Vec::new();
            for node in nodes {
                match node {
                    Self::Book(object) => {
                        places.push((0u16, rows_0.len() as u32));
                        rows_0.push(object);
                    }
                    Self::Film(object) => {
                        places.push((1u16, rows_1.len() as u32));
                        rows_1.push(object);
                    }
                    Self::Person(object) => {
                        places.push((2u16, rows_2.len() as u32));
                        rows_2.push(object);
                    }
                    Self::Shelf(object) => {
                        places.push((3u16, rows_3.len() as u32));
                        rows_3.push(object);
                    }
                }
            }
            let levels = vec![
                ::rollcall::engine::level(rows_0, & plans[0usize], execution). await,
                ::rollcall::engine::level(rows_1, & plans[1usize], execution). await,
                ::rollcall::engine::level(rows_2, & plans[2usize], execution). await,
                ::rollcall::engine::level(rows_3, & plans[3usize], execution). await,
            ];
            ::rollcall::engine::Children::of_several(levels, places)
        })
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

impl ::rollcall::engine::Node for Holding {}

impl ::rollcall::engine::Composite<super::types::State> for Holding {
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [::rollcall::engine::plan::ObjectPlan],
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Children<'a>> {
        Box::pin(async move {
            let mut places = Vec::with_capacity(nodes.len());
            let mut rows_0 = Vec::new();
            let mut rows_1 = Vec::new();
            for node in nodes {
                match node {
                    Self::Book(object) => {
                        places.push((0u16, rows_0.len() as u32));
                        rows_0.push(object);
                    }
                    Self::Film(object) => {
                        places.push((1u16, rows_1.len() as u32));
                        rows_1.push(object);
                    }
                }
            }
            let levels = vec![
                ::rollcall::engine::level(rows_0, & plans[0usize], execution). await,
                ::rollcall::engine::level(rows_1, & plans[1usize], execution). await,
            ];
            ::rollcall::engine::Children::of_several(levels, places)
        })
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
    fn tags(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<String>>;
    fn scores(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Option<Vec<Option<f64>>>>>>;
    fn shelf(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<super::types::Shelf>;
    fn related(
        books: &[&Self],
        args: &BookRelatedArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<super::types::Book>>;
    fn summary(
        books: &[&Self],
        args: &BookSummaryArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<String>;
    fn authors(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<super::types::Person>>;
    fn sequel(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<super::types::Book>>;
    /// Deprecated: Ask the desk.
    fn borrower(
        books: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<super::types::Person>>;
}

/// The arguments of `Book.related`.
#[derive(Debug, Clone, PartialEq)]
pub struct BookRelatedArgs {
    pub first: Option<i32>,
}

impl ::rollcall::engine::input::FromFields for BookRelatedArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            first: ::rollcall::engine::input::defaulted(
                fields,
                "first",
                || ::rollcall::engine::input::Value::Number(From::from(2i64)),
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

impl ::rollcall::engine::input::FromFields for BookSummaryArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            length: ::rollcall::engine::input::defaulted(
                fields,
                "length",
                || ::rollcall::engine::input::Value::Number(From::from(4i64)),
            )?,
            loud: ::rollcall::engine::input::defaulted(
                fields,
                "loud",
                || ::rollcall::engine::input::Value::Boolean(false),
            )?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Book {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Book {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Book;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&BookResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(&BookResolver::name(self), out)
            }
            2u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &BookResolver::condition(self),
                    out,
                )
            }
            3u16 => {
                ::rollcall::engine::write::Scalar::write(&BookResolver::price(self), out)
            }
            4u16 => {
                ::rollcall::engine::write::Scalar::write(&BookResolver::pages(self), out)
            }
            5u16 => {
                ::rollcall::engine::write::Scalar::write(&BookResolver::isbn(self), out)
            }
            6u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &BookResolver::published(self),
                    out,
                )
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            7u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as BookResolver>::tags(rows, &execution.context(field))
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            8u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as BookResolver>::scores(rows, &execution.context(field))
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            9u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as BookResolver>::shelf(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            10u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as BookResolver>::related(
                                    rows,
                                    execution.arguments::<BookRelatedArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            11u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as BookResolver>::summary(
                                rows,
                                execution.arguments::<BookSummaryArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            12u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as BookResolver>::authors(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            13u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as BookResolver>::sequel(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            14u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as BookResolver>::borrower(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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
    ) -> impl ::rollcall::engine::Answers<Option<super::types::Shelf>>;
    fn related(
        films: &[&Self],
        args: &FilmRelatedArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Option<Holding>>>>;
    fn summary(
        films: &[&Self],
        args: &FilmSummaryArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<String>>;
    fn director(
        films: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<super::types::Person>>;
}

/// The arguments of `Film.related`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilmRelatedArgs {
    pub first: Option<i32>,
}

impl ::rollcall::engine::input::FromFields for FilmRelatedArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            first: ::rollcall::engine::input::defaulted(
                fields,
                "first",
                || ::rollcall::engine::input::Value::Number(From::from(2i64)),
            )?,
        })
    }
}

/// The arguments of `Film.summary`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilmSummaryArgs {
    pub length: i32,
}

impl ::rollcall::engine::input::FromFields for FilmSummaryArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            length: ::rollcall::engine::input::defaulted(
                fields,
                "length",
                || ::rollcall::engine::input::Value::Number(From::from(4i64)),
            )?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Film {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Film {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Film;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&FilmResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(&FilmResolver::name(self), out)
            }
            2u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &FilmResolver::condition(self),
                    out,
                )
            }
            3u16 => {
                ::rollcall::engine::write::Scalar::write(&FilmResolver::price(self), out)
            }
            4u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &FilmResolver::minutes(self),
                    out,
                )
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            5u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as FilmResolver>::shelf(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            6u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as FilmResolver>::related(
                                    rows,
                                    execution.arguments::<FilmRelatedArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            7u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as FilmResolver>::summary(
                                rows,
                                execution.arguments::<FilmSummaryArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            8u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as FilmResolver>::director(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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
    ) -> impl ::rollcall::engine::Answers<Option<super::types::Person>>;
    fn wrote(
        persons: &[&Self],
        args: &PersonWroteArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<super::types::Book>>;
    /// What they like best, of any kind.
    fn likes(
        persons: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Option<Find>>>;
    fn motto(&self) -> Option<&str>;
}

/// The arguments of `Person.wrote`.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonWroteArgs {
    pub first: ::rollcall::engine::input::MaybeUndefined<i32>,
}

impl ::rollcall::engine::input::FromFields for PersonWroteArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            first: ::rollcall::engine::input::optional(fields, "first")?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Person {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Person {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Person;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&PersonResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &PersonResolver::name(self),
                    out,
                )
            }
            2u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &PersonResolver::born(self),
                    out,
                )
            }
            6u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &PersonResolver::motto(self),
                    out,
                )
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            3u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as PersonResolver>::friend(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            4u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as PersonResolver>::wrote(
                                    rows,
                                    execution.arguments::<PersonWroteArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            5u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as PersonResolver>::likes(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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
    ) -> impl ::rollcall::engine::Answers<Option<super::types::Person>>;
    fn holdings(
        shelfs: &[&Self],
        args: &ShelfHoldingsArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Holding>>;
    fn rows(
        shelfs: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Vec<Holding>>>;
    fn gaps(
        shelfs: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Option<Vec<Option<Holding>>>>>>;
}

/// The arguments of `Shelf.holdings`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShelfHoldingsArgs {
    pub condition: ::rollcall::engine::input::MaybeUndefined<Condition>,
}

impl ::rollcall::engine::input::FromFields for ShelfHoldingsArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            condition: ::rollcall::engine::input::optional(fields, "condition")?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Shelf {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Shelf {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Shelf;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&ShelfResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(&ShelfResolver::name(self), out)
            }
            2u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ShelfResolver::floor(self),
                    out,
                )
            }
            3u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &ShelfResolver::width(self),
                    out,
                )
            }
            4u16 => {
                ::rollcall::engine::write::Scalar::write(&ShelfResolver::open(self), out)
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            5u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as ShelfResolver>::keeper(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            6u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as ShelfResolver>::holdings(
                                    rows,
                                    execution.arguments::<ShelfHoldingsArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            7u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as ShelfResolver>::rows(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            8u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as ShelfResolver>::gaps(
                                    rows,
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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

impl ::rollcall::engine::Node for Find {}

impl ::rollcall::engine::Composite<super::types::State> for Find {
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [::rollcall::engine::plan::ObjectPlan],
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Children<'a>> {
        Box::pin(async move {
            let mut places = Vec::with_capacity(nodes.len());
            let mut rows_0 = Vec::new();
            let mut rows_1 = Vec::new();
            let mut rows_2 = Vec::new();
            let mut rows_3 = Vec::new();
            for node in nodes {
                match node {
                    Self::Book(object) => {
                        places.push((0u16, rows_0.len() as u32));
                        rows_0.push(object);
                    }
                    Self::Film(object) => {
                        places.push((1u16, rows_1.len() as u32));
                        rows_1.push(object);
                    }
                    Self::Person(object) => {
                        places.push((2u16, rows_2.len() as u32));
                        rows_2.push(object);
                    }
                    Self::Shelf(object) => {
                        places.push((3u16, rows_3.len() as u32));
                        rows_3.push(object);
                    }
                }
            }
            let levels = vec![
                ::rollcall::engine::level(rows_0, & plans[0usize], execution). await,
                ::rollcall::engine::level(rows_1, & plans[1usize], execution). await,
                ::rollcall::engine::level(rows_2, & plans[2usize], execution). await,
                ::rollcall::engine::level(rows_3, & plans[3usize], execution). await,
            ];
            ::rollcall::engine::Children::of_several(levels, places)
        })
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

impl ::rollcall::engine::Node for Trouble {}

impl ::rollcall::engine::Composite<super::types::State> for Trouble {
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [::rollcall::engine::plan::ObjectPlan],
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Children<'a>> {
        Box::pin(async move {
            let mut places = Vec::with_capacity(nodes.len());
            let mut rows_0 = Vec::new();
            let mut rows_1 = Vec::new();
            for node in nodes {
                match node {
                    Self::Calm(object) => {
                        places.push((0u16, rows_0.len() as u32));
                        rows_0.push(object);
                    }
                    Self::Harsh(object) => {
                        places.push((1u16, rows_1.len() as u32));
                        rows_1.push(object);
                    }
                }
            }
            let levels = vec![
                ::rollcall::engine::level(rows_0, & plans[0usize], execution). await,
                ::rollcall::engine::level(rows_1, & plans[1usize], execution). await,
            ];
            ::rollcall::engine::Children::of_several(levels, places)
        })
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
    ) -> impl ::rollcall::engine::Answers<String>;
    fn sure(
        calms: &[&Self],
        args: &CalmSureArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<String>;
    fn one(
        calms: &[&Self],
        args: &CalmOneArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Trouble>;
    fn must(
        calms: &[&Self],
        args: &CalmMustArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<super::types::Calm>;
    fn next(
        calms: &[&Self],
        args: &CalmNextArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Trouble>>;
    fn kin(
        calms: &[&Self],
        args: &CalmKinArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Trouble>>;
    fn ward(
        calms: &[&Self],
        args: &CalmWardArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<super::types::Ward>;
}

/// The arguments of `Calm.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmWordArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for CalmWordArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.sure`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmSureArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for CalmSureArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.one`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmOneArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for CalmOneArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.must`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmMustArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for CalmMustArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.next`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmNextArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for CalmNextArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.kin`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmKinArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for CalmKinArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Calm.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct CalmWardArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for CalmWardArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Calm {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Calm {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Calm;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&CalmResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(&CalmResolver::label(self), out)
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            2u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as CalmResolver>::word(
                                rows,
                                execution.arguments::<CalmWordArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            3u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as CalmResolver>::sure(
                                rows,
                                execution.arguments::<CalmSureArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            4u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as CalmResolver>::one(
                                    rows,
                                    execution.arguments::<CalmOneArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            5u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as CalmResolver>::must(
                                    rows,
                                    execution.arguments::<CalmMustArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            6u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as CalmResolver>::next(
                                    rows,
                                    execution.arguments::<CalmNextArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            7u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as CalmResolver>::kin(
                                    rows,
                                    execution.arguments::<CalmKinArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            8u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as CalmResolver>::ward(
                                    rows,
                                    execution.arguments::<CalmWardArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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
    ) -> impl ::rollcall::engine::Answers<Option<String>>;
    fn sure(
        harshs: &[&Self],
        args: &HarshSureArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<String>;
    fn one(
        harshs: &[&Self],
        args: &HarshOneArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Trouble>>;
    fn must(
        harshs: &[&Self],
        args: &HarshMustArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Trouble>;
    fn next(
        harshs: &[&Self],
        args: &HarshNextArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Trouble>>;
    fn kin(
        harshs: &[&Self],
        args: &HarshKinArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<super::types::Harsh>>>;
    fn ward(
        harshs: &[&Self],
        args: &HarshWardArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<super::types::Ward>;
}

/// The arguments of `Harsh.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshWordArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for HarshWordArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.sure`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshSureArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for HarshSureArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.one`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshOneArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for HarshOneArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.must`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshMustArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for HarshMustArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.next`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshNextArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for HarshNextArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.kin`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshKinArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for HarshKinArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Harsh.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarshWardArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for HarshWardArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Harsh {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Harsh {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Harsh;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&HarshResolver::id(self), out)
            }
            1u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &HarshResolver::label(self),
                    out,
                )
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            2u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as HarshResolver>::word(
                                rows,
                                execution.arguments::<HarshWordArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            3u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as HarshResolver>::sure(
                                rows,
                                execution.arguments::<HarshSureArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            4u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as HarshResolver>::one(
                                    rows,
                                    execution.arguments::<HarshOneArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            5u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as HarshResolver>::must(
                                    rows,
                                    execution.arguments::<HarshMustArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            6u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as HarshResolver>::next(
                                    rows,
                                    execution.arguments::<HarshNextArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            7u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as HarshResolver>::kin(
                                    rows,
                                    execution.arguments::<HarshKinArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            8u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as HarshResolver>::ward(
                                    rows,
                                    execution.arguments::<HarshWardArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Option<Trouble>>>>;
    fn filled(
        wards: &[&Self],
        args: &WardFilledArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Trouble>>>;
    fn firm(
        wards: &[&Self],
        args: &WardFirmArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Option<Trouble>>>;
    fn strict(
        wards: &[&Self],
        args: &WardStrictArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Trouble>>;
    fn grid(
        wards: &[&Self],
        args: &WardGridArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Option<Vec<Option<Trouble>>>>>>;
    fn full_grid(
        wards: &[&Self],
        args: &WardFullGridArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Option<Vec<Trouble>>>>>;
    fn firm_rows(
        wards: &[&Self],
        args: &WardFirmRowsArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Vec<Option<Trouble>>>>>;
    fn strict_grid(
        wards: &[&Self],
        args: &WardStrictGridArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Vec<Trouble>>>;
    fn words(
        wards: &[&Self],
        args: &WardWordsArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Vec<Option<String>>>>;
    fn numbers(
        wards: &[&Self],
        args: &WardNumbersArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<Option<Vec<Option<i32>>>>>;
}

/// The arguments of `Ward.loose`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardLooseArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardLooseArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.filled`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFilledArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardFilledArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.firm`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFirmArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardFirmArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.strict`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardStrictArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardStrictArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.grid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardGridArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardGridArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.fullGrid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFullGridArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardFullGridArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.firmRows`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardFirmRowsArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardFirmRowsArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.strictGrid`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardStrictGridArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardStrictGridArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.words`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardWordsArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardWordsArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Ward.numbers`.
#[derive(Debug, Clone, PartialEq)]
pub struct WardNumbersArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for WardNumbersArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Ward {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Ward {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Ward;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(&WardResolver::id(self), out)
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            1u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::loose(
                                    rows,
                                    execution.arguments::<WardLooseArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            2u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::filled(
                                    rows,
                                    execution.arguments::<WardFilledArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            3u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::firm(
                                    rows,
                                    execution.arguments::<WardFirmArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            4u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::strict(
                                    rows,
                                    execution.arguments::<WardStrictArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            5u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::grid(
                                    rows,
                                    execution.arguments::<WardGridArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            6u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::full_grid(
                                    rows,
                                    execution.arguments::<WardFullGridArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            7u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::firm_rows(
                                    rows,
                                    execution.arguments::<WardFirmRowsArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            8u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as WardResolver>::strict_grid(
                                    rows,
                                    execution.arguments::<WardStrictGridArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            9u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as WardResolver>::words(
                                rows,
                                execution.arguments::<WardWordsArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            10u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as WardResolver>::numbers(
                                rows,
                                execution.arguments::<WardNumbersArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            _ => execution.unresolved(field),
        }
    }
}

/// From here to there.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub from: i32,
    pub to: ::rollcall::engine::input::MaybeUndefined<i32>,
    /// How far at a time.
    pub step: Option<f64>,
}

impl ::rollcall::engine::input::FromFields for Range {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            from: ::rollcall::engine::input::defaulted(
                fields,
                "from",
                || ::rollcall::engine::input::Value::Number(From::from(0i64)),
            )?,
            to: ::rollcall::engine::input::optional(fields, "to")?,
            step: ::rollcall::engine::input::defaulted(
                fields,
                "step",
                || ::rollcall::engine::input::float(0.5f64),
            )?,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    pub depth: i32,
}

impl ::rollcall::engine::input::FromFields for Level {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            depth: ::rollcall::engine::input::required(fields, "depth")?,
        })
    }
}

/// Exactly one of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    pub id: ::rollcall::engine::input::MaybeUndefined<String>,
    pub name: ::rollcall::engine::input::MaybeUndefined<String>,
    pub range: ::rollcall::engine::input::MaybeUndefined<Range>,
    pub list: ::rollcall::engine::input::MaybeUndefined<Vec<i32>>,
}

impl ::rollcall::engine::input::FromFields for Pick {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        ::rollcall::engine::input::exactly_one(fields)?;
        Ok(Self {
            id: ::rollcall::engine::input::optional(fields, "id")?,
            name: ::rollcall::engine::input::optional(fields, "name")?,
            range: ::rollcall::engine::input::optional(fields, "range")?,
            list: ::rollcall::engine::input::optional(fields, "list")?,
        })
    }
}

/// Every shape an input may have.
#[derive(Debug, Clone, PartialEq)]
pub struct EchoInput {
    pub text: ::rollcall::engine::input::MaybeUndefined<String>,
    pub count: Option<i32>,
    pub must: i32,
    /// Deprecated: Flags are gone.
    pub flag: ::rollcall::engine::input::MaybeUndefined<bool>,
    pub ids: ::rollcall::engine::input::MaybeUndefined<Vec<String>>,
    pub conditions: Option<Vec<Option<Condition>>>,
    pub range: Option<Range>,
    /// Once more.
    pub nested: ::rollcall::engine::input::MaybeUndefined<
        ::rollcall::engine::Boxed<EchoInput>,
    >,
    pub ranges: ::rollcall::engine::input::MaybeUndefined<Vec<Range>>,
    pub pick: ::rollcall::engine::input::MaybeUndefined<Pick>,
}

impl ::rollcall::engine::input::FromFields for EchoInput {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            text: ::rollcall::engine::input::optional(fields, "text")?,
            count: ::rollcall::engine::input::defaulted(
                fields,
                "count",
                || ::rollcall::engine::input::Value::Number(From::from(3i64)),
            )?,
            must: ::rollcall::engine::input::defaulted(
                fields,
                "must",
                || ::rollcall::engine::input::Value::Number(From::from(1i64)),
            )?,
            flag: ::rollcall::engine::input::optional(fields, "flag")?,
            ids: ::rollcall::engine::input::optional(fields, "ids")?,
            conditions: ::rollcall::engine::input::defaulted(
                fields,
                "conditions",
                || ::rollcall::engine::input::Value::List(
                    vec![
                        ::rollcall::engine::input::Value::Enum(::rollcall::engine::input::Name::new("GOOD")),
                        ::rollcall::engine::input::Value::Null
                    ],
                ),
            )?,
            range: ::rollcall::engine::input::defaulted(
                fields,
                "range",
                || ::rollcall::engine::input::object([
                    ("from", ::rollcall::engine::input::Value::Number(From::from(2i64))),
                    ("to", ::rollcall::engine::input::Value::Number(From::from(4i64))),
                    ("step", ::rollcall::engine::input::float(0.5f64)),
                ]),
            )?,
            nested: ::rollcall::engine::input::optional(fields, "nested")?,
            ranges: ::rollcall::engine::input::optional(fields, "ranges")?,
            pick: ::rollcall::engine::input::optional(fields, "pick")?,
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
    /// One thing by its identifier, or null.
    fn node(ctx: &Ctx<'_>, id: String) -> impl ::rollcall::engine::Answer<Option<Node>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.nodes`",
    note = "write `impl NodesQuery for Query` in src/graphql/nodes.rs"
)]
pub trait NodesQuery {
    fn nodes(
        ctx: &Ctx<'_>,
        ids: Vec<String>,
    ) -> impl ::rollcall::engine::Answer<Vec<Option<Node>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.viewer`",
    note = "write `impl ViewerQuery for Query` in src/graphql/viewer.rs"
)]
pub trait ViewerQuery {
    fn viewer(
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answer<Option<super::types::Person>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.shelf`",
    note = "write `impl ShelfQuery for Query` in src/graphql/shelf.rs"
)]
pub trait ShelfQuery {
    fn shelf(
        ctx: &Ctx<'_>,
        id: String,
    ) -> impl ::rollcall::engine::Answer<Option<super::types::Shelf>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.shelves`",
    note = "write `impl ShelvesQuery for Query` in src/graphql/shelves.rs"
)]
pub trait ShelvesQuery {
    fn shelves(
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answer<Vec<super::types::Shelf>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.holdings`",
    note = "write `impl HoldingsQuery for Query` in src/graphql/holdings.rs"
)]
pub trait HoldingsQuery {
    fn holdings(
        ctx: &Ctx<'_>,
        condition: ::rollcall::engine::input::MaybeUndefined<Condition>,
        first: Option<i32>,
    ) -> impl ::rollcall::engine::Answer<Vec<Holding>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.search`",
    note = "write `impl SearchQuery for Query` in src/graphql/search.rs"
)]
pub trait SearchQuery {
    fn search(
        ctx: &Ctx<'_>,
        text: String,
        first: i32,
    ) -> impl ::rollcall::engine::Answer<Vec<Find>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.pick`",
    note = "write `impl PickQuery for Query` in src/graphql/pick.rs"
)]
pub trait PickQuery {
    fn pick(ctx: &Ctx<'_>, by: Pick) -> impl ::rollcall::engine::Answer<Option<Node>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.nothing`",
    note = "write `impl NothingQuery for Query` in src/graphql/nothing.rs"
)]
pub trait NothingQuery {
    fn nothing(ctx: &Ctx<'_>) -> impl ::rollcall::engine::Answer<Option<Holding>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.empty`",
    note = "write `impl EmptyQuery for Query` in src/graphql/empty.rs"
)]
pub trait EmptyQuery {
    fn empty(ctx: &Ctx<'_>) -> impl ::rollcall::engine::Answer<Vec<Find>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.trouble`",
    note = "write `impl TroubleQuery for Query` in src/graphql/trouble.rs"
)]
pub trait TroubleQuery {
    fn trouble(
        ctx: &Ctx<'_>,
        id: String,
        fail: ::rollcall::engine::input::MaybeUndefined<String>,
    ) -> impl ::rollcall::engine::Answer<Option<Trouble>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.mustTrouble`",
    note = "write `impl MustTroubleQuery for Query` in src/graphql/must.rs"
)]
pub trait MustTroubleQuery {
    fn must_trouble(
        ctx: &Ctx<'_>,
        id: String,
        fail: ::rollcall::engine::input::MaybeUndefined<String>,
    ) -> impl ::rollcall::engine::Answer<Trouble>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.troubles`",
    note = "write `impl TroublesQuery for Query` in src/graphql/troubles.rs"
)]
pub trait TroublesQuery {
    fn troubles(
        ctx: &Ctx<'_>,
        fail: ::rollcall::engine::input::MaybeUndefined<String>,
    ) -> impl ::rollcall::engine::Answer<Option<Vec<Option<Trouble>>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.ward`",
    note = "write `impl WardQuery for Query` in src/graphql/ward.rs"
)]
pub trait WardQuery {
    fn ward(
        ctx: &Ctx<'_>,
        fail: ::rollcall::engine::input::MaybeUndefined<String>,
    ) -> impl ::rollcall::engine::Answer<super::types::Ward>;
}

/// Deprecated: No longer supported
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.old`",
    note = "write `impl OldQuery for Query` in src/graphql/old.rs"
)]
pub trait OldQuery {
    /// Deprecated: No longer supported
    fn old(ctx: &Ctx<'_>) -> impl ::rollcall::engine::Answer<Option<String>>;
}

/// Deprecated: Older than `old`.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.older`",
    note = "write `impl OlderQuery for Query` in src/graphql/older.rs"
)]
pub trait OlderQuery {
    /// Deprecated: Older than `old`.
    fn older(
        ctx: &Ctx<'_>,
        than: ::rollcall::engine::input::MaybeUndefined<i32>,
    ) -> impl ::rollcall::engine::Answer<Option<String>>;
}

/// Its own arguments as JSON, in this order, those left out left out.
#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Query.echo`",
    note = "write `impl EchoQuery for Query` in src/graphql/echo.rs"
)]
pub trait EchoQuery {
    /// Its own arguments as JSON, in this order, those left out left out.
    fn echo(
        ctx: &Ctx<'_>,
        input: ::rollcall::engine::input::MaybeUndefined<EchoInput>,
        list: ::rollcall::engine::input::MaybeUndefined<Vec<i32>>,
        r#enum: ::rollcall::engine::input::MaybeUndefined<Condition>,
        id: ::rollcall::engine::input::MaybeUndefined<String>,
        i: Option<i32>,
        f: Option<f64>,
        s: Option<String>,
        b: Option<bool>,
        matrix: ::rollcall::engine::input::MaybeUndefined<Vec<Option<Vec<Option<i32>>>>>,
        on: ::rollcall::engine::input::MaybeUndefined<super::types::Date>,
        pick: ::rollcall::engine::input::MaybeUndefined<Pick>,
        range: Option<Range>,
        looks: Vec<Condition>,
        none: Option<i32>,
    ) -> impl ::rollcall::engine::Answer<Option<String>>;
}

/// The arguments of `Query.node`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryNodeArgs {
    pub id: String,
}

impl ::rollcall::engine::input::FromFields for QueryNodeArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            id: ::rollcall::engine::input::required(fields, "id")?,
        })
    }
}

/// The arguments of `Query.nodes`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryNodesArgs {
    pub ids: Vec<String>,
}

impl ::rollcall::engine::input::FromFields for QueryNodesArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            ids: ::rollcall::engine::input::required(fields, "ids")?,
        })
    }
}

/// The arguments of `Query.shelf`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryShelfArgs {
    pub id: String,
}

impl ::rollcall::engine::input::FromFields for QueryShelfArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            id: ::rollcall::engine::input::defaulted(
                fields,
                "id",
                || ::rollcall::engine::input::Value::String(String::from("s1")),
            )?,
        })
    }
}

/// The arguments of `Query.holdings`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryHoldingsArgs {
    pub condition: ::rollcall::engine::input::MaybeUndefined<Condition>,
    pub first: Option<i32>,
}

impl ::rollcall::engine::input::FromFields for QueryHoldingsArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            condition: ::rollcall::engine::input::optional(fields, "condition")?,
            first: ::rollcall::engine::input::defaulted(
                fields,
                "first",
                || ::rollcall::engine::input::Value::Number(From::from(10i64)),
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

impl ::rollcall::engine::input::FromFields for QuerySearchArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            text: ::rollcall::engine::input::required(fields, "text")?,
            first: ::rollcall::engine::input::defaulted(
                fields,
                "first",
                || ::rollcall::engine::input::Value::Number(From::from(3i64)),
            )?,
        })
    }
}

/// The arguments of `Query.pick`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPickArgs {
    pub by: Pick,
}

impl ::rollcall::engine::input::FromFields for QueryPickArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            by: ::rollcall::engine::input::required(fields, "by")?,
        })
    }
}

/// The arguments of `Query.trouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTroubleArgs {
    pub id: String,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for QueryTroubleArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            id: ::rollcall::engine::input::defaulted(
                fields,
                "id",
                || ::rollcall::engine::input::Value::String(String::from("c1")),
            )?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.mustTrouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryMustTroubleArgs {
    pub id: String,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for QueryMustTroubleArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            id: ::rollcall::engine::input::defaulted(
                fields,
                "id",
                || ::rollcall::engine::input::Value::String(String::from("c1")),
            )?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.troubles`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTroublesArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for QueryTroublesArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.ward`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryWardArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for QueryWardArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Query.older`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryOlderArgs {
    /// Deprecated: Age does not matter.
    pub than: ::rollcall::engine::input::MaybeUndefined<i32>,
}

impl ::rollcall::engine::input::FromFields for QueryOlderArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            than: ::rollcall::engine::input::optional(fields, "than")?,
        })
    }
}

/// The arguments of `Query.echo`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEchoArgs {
    pub input: ::rollcall::engine::input::MaybeUndefined<EchoInput>,
    pub list: ::rollcall::engine::input::MaybeUndefined<Vec<i32>>,
    pub r#enum: ::rollcall::engine::input::MaybeUndefined<Condition>,
    pub id: ::rollcall::engine::input::MaybeUndefined<String>,
    pub i: Option<i32>,
    pub f: Option<f64>,
    pub s: Option<String>,
    pub b: Option<bool>,
    pub matrix: ::rollcall::engine::input::MaybeUndefined<Vec<Option<Vec<Option<i32>>>>>,
    pub on: ::rollcall::engine::input::MaybeUndefined<super::types::Date>,
    pub pick: ::rollcall::engine::input::MaybeUndefined<Pick>,
    pub range: Option<Range>,
    pub looks: Vec<Condition>,
    pub none: Option<i32>,
}

impl ::rollcall::engine::input::FromFields for QueryEchoArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            input: ::rollcall::engine::input::optional(fields, "input")?,
            list: ::rollcall::engine::input::optional(fields, "list")?,
            r#enum: ::rollcall::engine::input::optional(fields, "enum")?,
            id: ::rollcall::engine::input::optional(fields, "id")?,
            i: ::rollcall::engine::input::defaulted(
                fields,
                "i",
                || ::rollcall::engine::input::Value::Number(From::from(7i64)),
            )?,
            f: ::rollcall::engine::input::defaulted(
                fields,
                "f",
                || ::rollcall::engine::input::float(1.5f64),
            )?,
            s: ::rollcall::engine::input::defaulted(
                fields,
                "s",
                || ::rollcall::engine::input::Value::String(
                    String::from("a \"quoted\"\ttext\\ é"),
                ),
            )?,
            b: ::rollcall::engine::input::defaulted(
                fields,
                "b",
                || ::rollcall::engine::input::Value::Boolean(true),
            )?,
            matrix: ::rollcall::engine::input::optional(fields, "matrix")?,
            on: ::rollcall::engine::input::optional(fields, "on")?,
            pick: ::rollcall::engine::input::optional(fields, "pick")?,
            range: ::rollcall::engine::input::defaulted(
                fields,
                "range",
                || ::rollcall::engine::input::object([
                    ("from", ::rollcall::engine::input::Value::Number(From::from(1i64))),
                    ("to", ::rollcall::engine::input::Value::Number(From::from(10i64))),
                    ("step", ::rollcall::engine::input::float(0.25f64)),
                ]),
            )?,
            looks: ::rollcall::engine::input::defaulted(
                fields,
                "looks",
                || ::rollcall::engine::input::Value::List(
                    vec![
                        ::rollcall::engine::input::Value::Enum(::rollcall::engine::input::Name::new("GOOD")),
                        ::rollcall::engine::input::Value::Enum(::rollcall::engine::input::Name::new("WORN"))
                    ],
                ),
            )?,
            none: ::rollcall::engine::input::defaulted(
                fields,
                "none",
                || ::rollcall::engine::input::Value::Null,
            )?,
        })
    }
}

impl Query {
    fn resolve_node<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryNodeArgs>(field).clone();
            let answer = <Query as NodeQuery>::node(
                    &execution.context(field),
                    arguments.id,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_nodes<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryNodesArgs>(field).clone();
            let answer = <Query as NodesQuery>::nodes(
                    &execution.context(field),
                    arguments.ids,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_viewer<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = <Query as ViewerQuery>::viewer(&execution.context(field)).await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_shelf<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryShelfArgs>(field).clone();
            let answer = <Query as ShelfQuery>::shelf(
                    &execution.context(field),
                    arguments.id,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_shelves<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = <Query as ShelvesQuery>::shelves(&execution.context(field))
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_holdings<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryHoldingsArgs>(field).clone();
            let answer = <Query as HoldingsQuery>::holdings(
                    &execution.context(field),
                    arguments.condition,
                    arguments.first,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_search<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QuerySearchArgs>(field).clone();
            let answer = <Query as SearchQuery>::search(
                    &execution.context(field),
                    arguments.text,
                    arguments.first,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_pick<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryPickArgs>(field).clone();
            let answer = <Query as PickQuery>::pick(
                    &execution.context(field),
                    arguments.by,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_nothing<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = <Query as NothingQuery>::nothing(&execution.context(field))
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_empty<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = <Query as EmptyQuery>::empty(&execution.context(field)).await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_trouble<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryTroubleArgs>(field).clone();
            let answer = <Query as TroubleQuery>::trouble(
                    &execution.context(field),
                    arguments.id,
                    arguments.fail,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_must_trouble<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryMustTroubleArgs>(field).clone();
            let answer = <Query as MustTroubleQuery>::must_trouble(
                    &execution.context(field),
                    arguments.id,
                    arguments.fail,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_troubles<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryTroublesArgs>(field).clone();
            let answer = <Query as TroublesQuery>::troubles(
                    &execution.context(field),
                    arguments.fail,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_ward<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryWardArgs>(field).clone();
            let answer = <Query as WardQuery>::ward(
                    &execution.context(field),
                    arguments.fail,
                )
                .await;
            ::rollcall::engine::objects(
                    answer.map(|answer| vec![answer]),
                    1,
                    field,
                    execution,
                )
                .await
        })
    }
    fn resolve_old<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = <Query as OldQuery>::old(&execution.context(field)).await;
            ::rollcall::engine::scalars(answer.map(|answer| vec![answer]), 1, execution)
        })
    }
    fn resolve_older<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryOlderArgs>(field).clone();
            let answer = <Query as OlderQuery>::older(
                    &execution.context(field),
                    arguments.than,
                )
                .await;
            ::rollcall::engine::scalars(answer.map(|answer| vec![answer]), 1, execution)
        })
    }
    fn resolve_echo<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let arguments = execution.arguments::<QueryEchoArgs>(field).clone();
            let answer = <Query as EchoQuery>::echo(
                    &execution.context(field),
                    arguments.input,
                    arguments.list,
                    arguments.r#enum,
                    arguments.id,
                    arguments.i,
                    arguments.f,
                    arguments.s,
                    arguments.b,
                    arguments.matrix,
                    arguments.on,
                    arguments.pick,
                    arguments.range,
                    arguments.looks,
                    arguments.none,
                )
                .await;
            ::rollcall::engine::scalars(answer.map(|answer| vec![answer]), 1, execution)
        })
    }
}

impl ::rollcall::engine::Node for Query {}

impl ::rollcall::engine::Object<super::types::State> for Query {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Query;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        let _ = field;
        out.null();
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        let _ = rows;
        match field.index() {
            0u16 => Self::resolve_node(field, execution),
            1u16 => Self::resolve_nodes(field, execution),
            2u16 => Self::resolve_viewer(field, execution),
            3u16 => Self::resolve_shelf(field, execution),
            4u16 => Self::resolve_shelves(field, execution),
            5u16 => Self::resolve_holdings(field, execution),
            6u16 => Self::resolve_search(field, execution),
            7u16 => Self::resolve_pick(field, execution),
            8u16 => Self::resolve_nothing(field, execution),
            9u16 => Self::resolve_empty(field, execution),
            10u16 => Self::resolve_trouble(field, execution),
            11u16 => Self::resolve_must_trouble(field, execution),
            12u16 => Self::resolve_troubles(field, execution),
            13u16 => Self::resolve_ward(field, execution),
            14u16 => Self::resolve_old(field, execution),
            15u16 => Self::resolve_older(field, execution),
            16u16 => Self::resolve_echo(field, execution),
            17u16 => {
                Box::pin(::rollcall::engine::introspection::schema(field, execution))
            }
            18u16 => {
                Box::pin(
                    ::rollcall::engine::introspection::type_by_name(field, execution),
                )
            }
            _ => execution.unresolved(field),
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
    ) -> impl ::rollcall::engine::Answers<i32>;
    fn note(
        tallys: &[&Self],
        args: &TallyNoteArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<String>>;
    fn history(
        tallys: &[&Self],
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Vec<i32>>;
    fn trouble(
        tallys: &[&Self],
        args: &TallyTroubleArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Option<Trouble>>;
    fn must_trouble(
        tallys: &[&Self],
        args: &TallyMustTroubleArgs,
        ctx: &Ctx<'_>,
    ) -> impl ::rollcall::engine::Answers<Trouble>;
}

/// The arguments of `Tally.now`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyNowArgs {
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for TallyNowArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Tally.note`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyNoteArgs {
    pub text: String,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for TallyNoteArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            text: ::rollcall::engine::input::defaulted(
                fields,
                "text",
                || ::rollcall::engine::input::Value::String(String::from("noted")),
            )?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Tally.trouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyTroubleArgs {
    pub id: String,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for TallyTroubleArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            id: ::rollcall::engine::input::defaulted(
                fields,
                "id",
                || ::rollcall::engine::input::Value::String(String::from("c1")),
            )?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Tally.mustTrouble`.
#[derive(Debug, Clone, PartialEq)]
pub struct TallyMustTroubleArgs {
    pub id: String,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for TallyMustTroubleArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            id: ::rollcall::engine::input::defaulted(
                fields,
                "id",
                || ::rollcall::engine::input::Value::String(String::from("c1")),
            )?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

impl ::rollcall::engine::Node for super::types::Tally {}

impl ::rollcall::engine::Object<super::types::State> for super::types::Tally {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Tally;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        match field {
            0u16 => {
                ::rollcall::engine::write::Scalar::write(
                    &TallyResolver::value(self),
                    out,
                )
            }
            _ => out.null(),
        }
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        match field.index() {
            1u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as TallyResolver>::now(
                                rows,
                                execution.arguments::<TallyNowArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            2u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as TallyResolver>::note(
                                rows,
                                execution.arguments::<TallyNoteArgs>(field),
                                &execution.context(field),
                            )
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            3u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::scalars(
                        <Self as TallyResolver>::history(rows, &execution.context(field))
                            .await,
                        rows.len(),
                        execution,
                    )
                })
            }
            4u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as TallyResolver>::trouble(
                                    rows,
                                    execution.arguments::<TallyTroubleArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            5u16 => {
                ::rollcall::engine::boxed(move || async move {
                    ::rollcall::engine::objects(
                            <Self as TallyResolver>::must_trouble(
                                    rows,
                                    execution.arguments::<TallyMustTroubleArgs>(field),
                                    &execution.context(field),
                                )
                                .await,
                            rows.len(),
                            field,
                            execution,
                        )
                        .await
                })
            }
            _ => execution.unresolved(field),
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
    /// Fails before it adds.
    fn add(
        ctx: &MutationCtx<'_>,
        by: i32,
        fail: ::rollcall::engine::input::MaybeUndefined<String>,
    ) -> impl ::rollcall::engine::Answer<Option<super::types::Tally>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.mustAdd`",
    note = "write `impl MustAddMutation for Mutation` in src/graphql/must.rs"
)]
pub trait MustAddMutation {
    fn must_add(
        ctx: &MutationCtx<'_>,
        by: i32,
        fail: ::rollcall::engine::input::MaybeUndefined<String>,
    ) -> impl ::rollcall::engine::Answer<super::types::Tally>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.reset`",
    note = "write `impl ResetMutation for Mutation` in src/graphql/reset.rs"
)]
pub trait ResetMutation {
    fn reset(
        ctx: &MutationCtx<'_>,
        to: Option<i32>,
    ) -> impl ::rollcall::engine::Answer<i32>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.addAll`",
    note = "write `impl AddAllMutation for Mutation` in src/graphql/add.rs"
)]
pub trait AddAllMutation {
    fn add_all(
        ctx: &MutationCtx<'_>,
        steps: Vec<i32>,
        fail: ::rollcall::engine::input::MaybeUndefined<String>,
    ) -> impl ::rollcall::engine::Answer<Option<Vec<super::types::Tally>>>;
}

#[diagnostic::on_unimplemented(
    message = "nothing resolves the SDL's `Mutation.undo`",
    note = "write `impl UndoMutation for Mutation` in src/graphql/undo.rs"
)]
pub trait UndoMutation {
    fn undo(
        ctx: &MutationCtx<'_>,
    ) -> impl ::rollcall::engine::Answer<Option<super::types::Tally>>;
}

/// The arguments of `Mutation.add`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationAddArgs {
    pub by: i32,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for MutationAddArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            by: ::rollcall::engine::input::defaulted(
                fields,
                "by",
                || ::rollcall::engine::input::Value::Number(From::from(1i64)),
            )?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Mutation.mustAdd`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationMustAddArgs {
    pub by: i32,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for MutationMustAddArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            by: ::rollcall::engine::input::defaulted(
                fields,
                "by",
                || ::rollcall::engine::input::Value::Number(From::from(1i64)),
            )?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

/// The arguments of `Mutation.reset`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResetArgs {
    pub to: Option<i32>,
}

impl ::rollcall::engine::input::FromFields for MutationResetArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            to: ::rollcall::engine::input::defaulted(
                fields,
                "to",
                || ::rollcall::engine::input::Value::Number(From::from(0i64)),
            )?,
        })
    }
}

/// The arguments of `Mutation.addAll`.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationAddAllArgs {
    pub steps: Vec<i32>,
    pub fail: ::rollcall::engine::input::MaybeUndefined<String>,
}

impl ::rollcall::engine::input::FromFields for MutationAddAllArgs {
    fn from_fields(
        fields: &::rollcall::engine::input::Fields,
    ) -> Result<Self, ::rollcall::engine::input::InputError> {
        Ok(Self {
            steps: ::rollcall::engine::input::required(fields, "steps")?,
            fail: ::rollcall::engine::input::optional(fields, "fail")?,
        })
    }
}

impl Mutation {
    fn resolve_add<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = execution
                .mutate(
                    field,
                    |context| {
                        let arguments = execution
                            .arguments::<MutationAddArgs>(field)
                            .clone();
                        Box::pin(
                            <Mutation as AddMutation>::add(
                                context,
                                arguments.by,
                                arguments.fail,
                            ),
                        )
                    },
                    ::rollcall::engine::Execution::unidentified,
                );
            let answer = answer.await;
            ::rollcall::engine::payload(answer, field, execution).await
        })
    }
    fn resolve_must_add<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = execution
                .mutate(
                    field,
                    |context| {
                        let arguments = execution
                            .arguments::<MutationMustAddArgs>(field)
                            .clone();
                        Box::pin(
                            <Mutation as MustAddMutation>::must_add(
                                context,
                                arguments.by,
                                arguments.fail,
                            ),
                        )
                    },
                    ::rollcall::engine::Execution::unidentified,
                );
            let answer = answer.await;
            ::rollcall::engine::payload(answer, field, execution).await
        })
    }
    fn resolve_reset<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = execution
                .mutate(
                    field,
                    |context| {
                        let arguments = execution
                            .arguments::<MutationResetArgs>(field)
                            .clone();
                        Box::pin(
                            <Mutation as ResetMutation>::reset(context, arguments.to),
                        )
                    },
                    ::rollcall::engine::Execution::unidentified,
                );
            let answer = answer.await;
            ::rollcall::engine::scalars(answer.map(|answer| vec![answer]), 1, execution)
        })
    }
    fn resolve_add_all<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = execution
                .mutate(
                    field,
                    |context| {
                        let arguments = execution
                            .arguments::<MutationAddAllArgs>(field)
                            .clone();
                        Box::pin(
                            <Mutation as AddAllMutation>::add_all(
                                context,
                                arguments.steps,
                                arguments.fail,
                            ),
                        )
                    },
                    ::rollcall::engine::Execution::unidentified,
                );
            let answer = answer.await;
            ::rollcall::engine::payload(answer, field, execution).await
        })
    }
    fn resolve_undo<'r, 'a: 'r>(
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        Box::pin(async move {
            let answer = execution
                .mutate(
                    field,
                    |context| { Box::pin(<Mutation as UndoMutation>::undo(context)) },
                    ::rollcall::engine::Execution::unidentified,
                );
            let answer = answer.await;
            ::rollcall::engine::payload(answer, field, execution).await
        })
    }
}

impl ::rollcall::engine::Node for Mutation {}

impl ::rollcall::engine::Object<super::types::State> for Mutation {
    const INFO: &'static ::rollcall::engine::ObjectInfo = &info::Mutation;
    fn write_column(&self, field: u16, out: &mut ::rollcall::engine::write::Writer<'_>) {
        let _ = field;
        out.null();
    }
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a ::rollcall::engine::plan::FieldPlan,
        execution: &'r ::rollcall::engine::Execution<'a, super::types::State>,
    ) -> ::rollcall::engine::BoxFuture<'r, ::rollcall::engine::Slot<'a>> {
        let _ = rows;
        match field.index() {
            0u16 => Self::resolve_add(field, execution),
            1u16 => Self::resolve_must_add(field, execution),
            2u16 => Self::resolve_reset(field, execution),
            3u16 => Self::resolve_add_all(field, execution),
            4u16 => Self::resolve_undo(field, execution),
            _ => execution.unresolved(field),
        }
    }
}

/// The executor's descriptions of the object types, by their names in the SDL.
#[allow(non_upper_case_globals)]
pub mod info {
    /// The custom scalars of arguments and input fields, with the checks of their values.
    pub static SCALARS: &[::rollcall::engine::input::ScalarCheck] = &[
        ("Date", ::rollcall::engine::input::check::<super::super::types::Date>),
    ];
    /// `Book`.
    pub static Book: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Book",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "name",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "condition",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "price",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "pages",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "isbn",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "published",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "tags",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "scores",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "shelf",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Shelf],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "related",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::BookRelatedArgs>,
                ),
                objects: &[&Book],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "summary",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::BookSummaryArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "authors",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Person],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "sequel",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Book],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "borrower",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Person],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Film`.
    pub static Film: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Film",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "name",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "condition",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "price",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "minutes",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "shelf",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Shelf],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "related",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::FilmRelatedArgs>,
                ),
                objects: &[&Book, &Film],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "summary",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::FilmSummaryArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "director",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Person],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Person`.
    pub static Person: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Person",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "name",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "born",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "friend",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Person],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "wrote",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::PersonWroteArgs>,
                ),
                objects: &[&Book],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "likes",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Book, &Film, &Person, &Shelf],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "motto",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Shelf`.
    pub static Shelf: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Shelf",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "name",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "floor",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "width",
                kind: ::rollcall::engine::Kind::Column,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "open",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "keeper",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Person],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "holdings",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::ShelfHoldingsArgs>,
                ),
                objects: &[&Book, &Film],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "rows",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Book, &Film],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "gaps",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Book, &Film],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Calm`.
    pub static Calm: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Calm",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "label",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "word",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::CalmWordArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "sure",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::CalmSureArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "one",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::CalmOneArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "must",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::CalmMustArgs>,
                ),
                objects: &[&Calm],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "next",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::CalmNextArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "kin",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::CalmKinArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "ward",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::CalmWardArgs>,
                ),
                objects: &[&Ward],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Harsh`.
    pub static Harsh: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Harsh",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "label",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "word",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::HarshWordArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "sure",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::HarshSureArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "one",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::HarshOneArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "must",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::HarshMustArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "next",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::HarshNextArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "kin",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::HarshKinArgs>,
                ),
                objects: &[&Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "ward",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::HarshWardArgs>,
                ),
                objects: &[&Ward],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Ward`.
    pub static Ward: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Ward",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "id",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "loose",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardLooseArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "filled",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardFilledArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "firm",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardFirmArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "strict",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardStrictArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "grid",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardGridArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "fullGrid",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardFullGridArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "firmRows",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardFirmRowsArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "strictGrid",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<
                        super::WardStrictGridArgs,
                    >,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "words",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardWordsArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "numbers",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::WardNumbersArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Query`.
    pub static Query: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Query",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "node",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryNodeArgs>,
                ),
                objects: &[&Book, &Film, &Person, &Shelf, &Calm, &Harsh, &Ward],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "nodes",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryNodesArgs>,
                ),
                objects: &[&Book, &Film, &Person, &Shelf, &Calm, &Harsh, &Ward],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "viewer",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Person],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "shelf",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryShelfArgs>,
                ),
                objects: &[&Shelf],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "shelves",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Shelf],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "holdings",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryHoldingsArgs>,
                ),
                objects: &[&Book, &Film],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "search",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QuerySearchArgs>,
                ),
                objects: &[&Book, &Film, &Person, &Shelf],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "pick",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryPickArgs>,
                ),
                objects: &[&Book, &Film, &Person, &Shelf, &Calm, &Harsh, &Ward],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "nothing",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Book, &Film],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "empty",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[&Book, &Film, &Person, &Shelf],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "trouble",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryTroubleArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "mustTrouble",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<
                        super::QueryMustTroubleArgs,
                    >,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "troubles",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryTroublesArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "ward",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryWardArgs>,
                ),
                objects: &[&Ward],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "old",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "older",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryOlderArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "echo",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::QueryEchoArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::introspection::SCHEMA_FIELD,
            ::rollcall::engine::introspection::TYPE_FIELD,
        ],
    };
    /// `Tally`.
    pub static Tally: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Tally",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "value",
                kind: ::rollcall::engine::Kind::Column,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "now",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::TallyNowArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "note",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::TallyNoteArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "history",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: None,
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "trouble",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::TallyTroubleArgs>,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
            ::rollcall::engine::FieldInfo {
                name: "mustTrouble",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<
                        super::TallyMustTroubleArgs,
                    >,
                ),
                objects: &[&Calm, &Harsh],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Read,
            },
        ],
    };
    /// `Mutation`.
    pub static Mutation: ::rollcall::engine::ObjectInfo = ::rollcall::engine::ObjectInfo {
        name: "Mutation",
        fields: &[
            ::rollcall::engine::FieldInfo {
                name: "add",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::MutationAddArgs>,
                ),
                objects: &[&Tally],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Admin,
            },
            ::rollcall::engine::FieldInfo {
                name: "mustAdd",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<
                        super::MutationMustAddArgs,
                    >,
                ),
                objects: &[&Tally],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Admin,
            },
            ::rollcall::engine::FieldInfo {
                name: "reset",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: false,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<super::MutationResetArgs>,
                ),
                objects: &[],
                cost: ::rollcall::engine::Cost::NONE,
                scope: ::rollcall::engine::Scope::Admin,
            },
            ::rollcall::engine::FieldInfo {
                name: "addAll",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: Some(
                    ::rollcall::engine::input::read_arguments::<
                        super::MutationAddAllArgs,
                    >,
                ),
                objects: &[&Tally],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::List(10u32),
                },
                scope: ::rollcall::engine::Scope::Admin,
            },
            ::rollcall::engine::FieldInfo {
                name: "undo",
                kind: ::rollcall::engine::Kind::Relation,
                nullable: true,
                arguments: None,
                objects: &[&Tally],
                cost: ::rollcall::engine::Cost {
                    weight: 1u32,
                    per_day: 0u32,
                    size: ::rollcall::engine::Size::One,
                },
                scope: ::rollcall::engine::Scope::Admin,
            },
        ],
    };
}
