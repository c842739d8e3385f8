//! Interfaces, unions, and plain objects between them.

use rollcall::engine::write::{Scalar, Writer};
use rollcall::error::Result;

use generated::*;
use types::{ID, Painting, Statue};

super::generated!("src/codegen/fixtures/abstracts.rs");

pub mod types {
    pub use crate::project::codegen_fixtures::State;

    #[derive(Debug)]
    pub struct ID(pub &'static str);
    #[derive(Debug, Clone, Copy)]
    pub struct Painting;
    #[derive(Debug, Clone, Copy)]
    pub struct Statue;
}

impl Scalar for ID {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(self.0);
    }
}

impl PaintingResolver for Painting {
    fn id(&self) -> ID {
        ID("p")
    }
    fn title(&self) -> &str {
        "Sea"
    }
    fn frame(&self) -> Option<&str> {
        Some("oak")
    }
    async fn neighbours(
        paintings: &[&Self],
        args: &PaintingNeighboursArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Vec<Exhibit>>> {
        ctx.state.log(format!("neighbours of {} paintings: {:?}", paintings.len(), args.first));
        Ok(paintings.iter().map(|_| vec![Statue.into(), Painting.into()]).collect())
    }
    async fn painter(paintings: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Maker>>> {
        Ok(paintings.iter().map(|_| Some(Person { name: "Ada".to_owned() }.into())).collect())
    }
}

impl StatueResolver for Statue {
    fn id(&self) -> ID {
        ID("s")
    }
    fn title(&self) -> &str {
        "Thinker"
    }
    async fn neighbours(statues: &[&Self], args: &StatueNeighboursArgs, ctx: &Ctx<'_>) -> Result<Vec<Vec<Statue>>> {
        let StatueNeighboursArgs { first, tall } = args;
        ctx.state.log(format!("neighbours of {} statues: {first:?} {tall:?}", statues.len()));
        Ok(statues.iter().map(|_| vec![]).collect())
    }
}

impl ExhibitQuery for Query {
    async fn exhibit(_: &Ctx<'_>, id: String) -> Result<Option<Exhibit>> {
        Ok((id == "p").then_some(Painting.into()))
    }
}

impl ExhibitsQuery for Query {
    async fn exhibits(_: &Ctx<'_>) -> Result<Vec<Option<Vec<Framed>>>> {
        Ok(vec![None, Some(vec![Painting.into()])])
    }
}

impl WorksQuery for Query {
    async fn works(_: &Ctx<'_>) -> Result<Option<Vec<Work>>> {
        let label = Label { text: "Do not touch".to_owned(), about: Some(Statue.into()) };
        Ok(Some(vec![Statue.into(), label.into(), Painting.into(), Statue.into()]))
    }
}

impl BorrowedQuery for Query {
    async fn borrowed(_: &Ctx<'_>) -> Result<Vec<Lent>> {
        Ok(vec![])
    }
}
