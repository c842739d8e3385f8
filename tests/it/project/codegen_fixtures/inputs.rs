//! Inputs: defaults, `@oneOf`, recursion, lists.

use rollcall::engine::input::{Input, InputError, MaybeUndefined, Value};
use rollcall::error::Result;

use generated::*;
use types::Day;

super::generated!("src/codegen/fixtures/inputs.rs");

pub mod types {
    pub use crate::project::codegen_fixtures::State;

    #[derive(Debug, Clone, PartialEq)]
    pub struct Day(pub String);
}

impl Input for Day {
    fn read(value: &Value) -> Result<Self, InputError> {
        String::read(value).map(Self)
    }
}

impl PriceQuery for Query {
    async fn price(ctx: &Ctx<'_>, parcel: Parcel, discount: Option<f64>, on: MaybeUndefined<Day>) -> Result<f64> {
        ctx.state.log(format!("{parcel:?}"));
        ctx.state.log(format!("{discount:?} {on:?}"));
        Ok(2.0)
    }
}

impl BestQuery for Query {
    async fn best(
        ctx: &Ctx<'_>,
        parcels: Vec<Parcel>,
        to: MaybeUndefined<Recipient>,
        speeds: Option<Vec<Speed>>,
        at: Option<Place>,
    ) -> Result<Option<String>> {
        ctx.state.log(format!("{parcels:?} {to:?} {speeds:?} {at:?}"));
        Ok(None)
    }
}
