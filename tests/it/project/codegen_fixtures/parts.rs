//! Types bound to rows from which lists leave groups of columns out: what each method gets of a row, and which groups a
//! selection reads.

use rollcall::engine::input::{Input, InputError, Value};
use rollcall::engine::page::{Cursor, Edge, Page, PageArguments, PageRequest, PartialPage};
use rollcall::engine::write::{Scalar, Writer};
use rollcall::error::Result;

use generated::*;
use types::{Author, Poem};

super::generated!("src/codegen/fixtures/parts.rs");

pub mod author;
pub mod poem;

pub mod types {
    pub use super::author::Model as Author;
    pub use super::poem::Model as Poem;
    pub use super::{Day, ID, partial_list, to_one};
    pub use crate::project::codegen_fixtures::State;

    macro_rules! fields {
        ($($declarations:tt)*) => {};
    }

    fields! {
        Author {
            key author_id: poems;
        }
        Poem {
            core: initial, heading;
            texts: inscription;
            row: form;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Day(pub u8);

impl Scalar for Day {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&format!("day {}", self.0));
    }
}

impl Input for Day {
    fn read(_: &Value) -> Result<Self, InputError> {
        Ok(Self(1))
    }
}

#[derive(Debug)]
pub struct ID(i64);

impl ID {
    // The catalogue takes the class of an id from the row.
    #[allow(clippy::extra_unused_type_parameters)]
    pub fn of_row<M>(number: i64) -> Self {
        Self(number)
    }
}

impl Scalar for ID {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&self.0.to_string());
    }
}

impl From<i64> for Author {
    fn from(id: i64) -> Self {
        Self { id }
    }
}

pub async fn to_one<M: From<i64>>(_: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<Option<M>>> {
    Ok(keys.into_iter().map(|key| key.map(M::from)).collect())
}

pub async fn partial_list(
    ctx: &Ctx<'_>,
    _: &PageArguments,
    key: &'static str,
    parents: Vec<i64>,
) -> Result<Vec<PoemConnectionType>> {
    ctx.state.log(format!("poems whose {key} is one of {parents:?}"));
    Ok(parents.into_iter().map(|parent| page(parent, ctx)).collect())
}

/// A poem without the columns that the selection does not read.
fn page(author: i64, ctx: &Ctx<'_>) -> PoemConnectionType {
    let groups = ctx.reads_of_nodes::<Poem>();
    ctx.state.log(format!("reads {groups:b}"));
    let mut node = poem(Some(author));
    if groups & 1 == 0 {
        node = Poem { motto: None, dedication: None, lines: None, ..node };
    }
    if groups & 2 == 0 {
        node = Poem { author_id: None, ..node };
    }
    let edges = vec![Edge { cursor: Cursor::id(node.id), node }];
    PartialPage::new(Page::new(edges, &PageRequest { first: 1, after: None }))
}

fn poem(author_id: Option<i64>) -> Poem {
    Poem {
        id: 1,
        title: "Gold".to_owned(),
        form: String::new(),
        written_on: Day(3),
        read_on: None,
        motto: Some("carpe diem".to_owned()),
        dedication: Some("to nobody".to_owned()),
        lines: Some(14),
        author_id,
        ink: poem::Ink { is_dry: true },
    }
}

impl AuthorResolver for Author {}

impl PoemResolver for Poem {
    fn initial(poem: &impl PoemCore) -> &str {
        &poem.title()[..1]
    }

    async fn heading(poems: &[&impl PoemCore], args: &PoemHeadingArgs, _: &Ctx<'_>) -> Result<Vec<String>> {
        let times = args.times.value().and_then(|times| usize::try_from(*times).ok()).unwrap_or(1);
        Ok(poems.iter().map(|poem| format!("{}, day {}", poem.title().repeat(times), poem.written_on().0)).collect())
    }

    fn inscription(poem: &impl PoemTexts) -> &str {
        poem.dedication().unwrap_or("to everybody")
    }

    fn form(&self) -> &str {
        if self.form.is_empty() { "free" } else { &self.form }
    }

    fn is_signed(&self) -> bool {
        self.ink.is_dry && self.author_id.is_some() && self.motto.is_some()
    }
}

impl PoemsQuery for Query {
    async fn poems(ctx: &Ctx<'_>) -> Result<PoemConnectionType> {
        Ok(page(7, ctx))
    }
}

impl PoemQuery for Query {
    async fn poem(ctx: &Ctx<'_>) -> Result<Poem> {
        ctx.state.log(format!("reads {:b}", ctx.reads_of_nodes::<Poem>()));
        Ok(poem(None))
    }
}
