//! Types bound to rows: methods derived from columns, and hand-written methods that override them.

use rollcall::engine::page::{Cursor, Edge, Page, PageArguments, PageRequest};
use rollcall::engine::write::{Scalar, Writer};
use rollcall::error::{Error, Result};

use generated::*;
use types::{Author, Poem};

super::generated!("src/codegen/fixtures/rows.rs");

pub mod author;
pub mod poem;

pub mod types {
    pub use super::author::Model as Author;
    pub use super::poem::Model as Poem;
    pub use super::{Day, ID, list, list_through, to_its_one, to_one};
    pub use crate::project::codegen_fixtures::State;

    macro_rules! fields {
        ($($declarations:tt)*) => {};
    }

    fields! {
        Author {
            key author_id: poems;
            through fondness: liked;
        }
        Poem {
            row: printer;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Day(pub u8);

#[derive(Debug)]
pub struct ID(String);

impl ID {
    #[allow(private_bounds)]
    pub fn of_row<M: Found>(number: i64) -> Self {
        Self(format!("{}-{number}", M::NOUN))
    }
}

impl Scalar for ID {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&self.0);
    }
}

impl Scalar for Day {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&format!("day {}", self.0));
    }
}

impl rollcall::engine::input::Input for Day {
    fn read(_: &rollcall::engine::input::Value) -> Result<Self, rollcall::engine::input::InputError> {
        Ok(Self(1))
    }
}

trait Found {
    const NOUN: &'static str;

    fn found(id: i64) -> Self;
}

impl Found for Author {
    const NOUN: &'static str = "author";

    fn found(id: i64) -> Self {
        Self { id, name: format!("author {id}") }
    }
}

impl Found for Poem {
    const NOUN: &'static str = "poem";

    fn found(id: i64) -> Self {
        poem(id, None, None)
    }
}

#[allow(private_bounds)]
pub async fn to_one<M: Found>(ctx: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<Option<M>>> {
    ctx.state.log(format!("rows {keys:?}"));
    Ok(keys.into_iter().map(|key| key.map(M::found)).collect())
}

#[allow(private_bounds)]
pub async fn to_its_one<M: Found>(ctx: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<M>> {
    let rows = to_one(ctx, keys).await?.into_iter().collect::<Option<Vec<M>>>();
    rows.ok_or_else(|| Error::internal("a row is missing"))
}

#[allow(private_bounds)]
pub async fn list<M: Found>(
    ctx: &Ctx<'_>,
    args: &PageArguments,
    key: &'static str,
    parents: Vec<i64>,
) -> Result<Vec<Page<M>>> {
    ctx.state.log(format!("rows whose {key} is one of {parents:?}"));
    let request = args.request()?;
    Ok(parents.into_iter().map(|parent| page(10 * parent, &request)).collect())
}

#[allow(private_bounds)]
pub async fn list_through<M: Found>(
    ctx: &Ctx<'_>,
    args: &PageArguments,
    links: &'static str,
    [parent, target]: [&'static str; 2],
    parents: Vec<i64>,
) -> Result<Vec<Page<M>>> {
    ctx.state.log(format!("rows that {target} of {links} names, where {parent} is one of {parents:?}"));
    let request = args.request()?;
    Ok(parents.into_iter().map(|parent| page(100 * parent, &request)).collect())
}

/// Two rows.
fn page<M: Found>(first: i64, request: &PageRequest) -> Page<M> {
    let row = |id| Edge { node: M::found(id), cursor: Cursor::id(id) };
    Page::new(vec![row(first), row(first + 1)], request)
}

fn poem(id: i64, motto: Option<&str>, translator_id: Option<i64>) -> Poem {
    Poem {
        id,
        title: format!("poem {id}"),
        motto: motto.map(str::to_owned),
        lines: 14,
        rhymes: true,
        rating: None,
        written_on: Day(3),
        read_on: None,
        dedication: None,
        form: String::new(),
        author_id: 7,
        translator_id,
        printer_id: None,
    }
}

impl AuthorResolver for Author {
    fn initial(&self) -> &str {
        &self.name[..1]
    }
}

impl PoemResolver for Poem {
    fn dedication(&self) -> &str {
        self.dedication.as_deref().unwrap_or("to nobody")
    }

    fn form(&self) -> &str {
        if self.form.is_empty() { "free" } else { &self.form }
    }

    async fn printer(poems: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Author>> {
        to_its_one(ctx, poems.iter().map(|poem| poem.printer_id.or(Some(poem.author_id))).collect()).await
    }
}

impl PoemSaidQuery for Query {
    async fn poem_said(_: &Ctx<'_>, poem: PoemInput) -> Result<String> {
        let PoemInput { title, lines, form, rating, texts } = poem;
        let texts: Vec<_> = texts.iter().collect();
        Ok(format!("{title}, {lines:?}, {form:?}, {rating:?}, {texts:?}"))
    }
}

impl PoemsQuery for Query {
    async fn poems(_: &Ctx<'_>) -> Result<Vec<Poem>> {
        Ok(vec![poem(1, Some("carpe diem"), None), poem(2, None, Some(8))])
    }
}
