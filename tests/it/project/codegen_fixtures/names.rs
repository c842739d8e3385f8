//! Names that Rust reserves.

use rollcall::engine::input::MaybeUndefined;
use rollcall::error::{Result, UserError};

use generated::*;
use types::Self_;

super::generated!("src/codegen/fixtures/names.rs");

pub mod types {
    pub use crate::project::codegen_fixtures::State;

    /// The Rust name of the SDL's `Self`.
    #[derive(Debug)]
    pub struct Self_;
}

impl From<UserError> for Error {
    fn from(error: UserError) -> Self {
        Self { message: Some(error.message.into_owned()) }
    }
}

impl SelfResolver for Self_ {
    fn r#type(&self) -> &str {
        "self"
    }
    fn self_(&self) -> Option<i32> {
        Some(1)
    }
    fn field(&self) -> Option<i32> {
        Some(2)
    }
    fn out(&self) -> Option<&str> {
        None
    }
    fn http_url(&self) -> Option<&str> {
        Some("/")
    }
    fn i_os(&self) -> Option<&str> {
        None
    }
    fn _private(&self) -> Option<i32> {
        None
    }
    fn v1_2(&self) -> Option<i32> {
        Some(12)
    }
    async fn r#dyn(selfs: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<Option<bool>>>>> {
        Ok(selfs.iter().map(|_| Some(vec![Some(true), None])).collect())
    }
    async fn fields(selfs: &[&Self], args: &SelfFieldsArgs, _: &Ctx<'_>) -> Result<Vec<Option<Self_>>> {
        let SelfFieldsArgs { r#in, r#ref } = args;
        let found = r#in.is_undefined() && r#ref == "x";
        Ok(selfs.iter().map(|_| found.then_some(Self_)).collect())
    }
}

impl TypeQuery for query {
    async fn r#type(
        _: &Ctx<'_>,
        r#type: MaybeUndefined<String>,
        self_: MaybeUndefined<i32>,
        ctx: MaybeUndefined<bool>,
        args: MaybeUndefined<i32>,
        r#fn: MaybeUndefined<r#gen>,
    ) -> Result<Option<Self_>> {
        let given = (r#type.take(), self_.take(), ctx.take(), args.take(), r#fn.take());
        Ok((given == (Some("t".to_owned()), Some(1), Some(true), None, Some(r#gen::Self_))).then_some(Self_))
    }
}

impl SelfQuery for query {
    async fn self_(_: &Ctx<'_>) -> Result<r_self> {
        Ok(r_self { self_: Some(3), crate_: None, super_: None, object: Some(4) })
    }
}

fn words() -> r#struct {
    r#struct { r#enum: Some(r#gen::_1), r#move: vec![r#gen::__, r#gen::SelfX, r#gen::InProgress], rows: None }
}

impl MatchQuery for query {
    async fn r#match(_: &Ctx<'_>) -> Result<Option<Vec<r#struct>>> {
        Ok(Some(vec![words()]))
    }
}

impl AsyncQuery for query {
    async fn r#async(_: &Ctx<'_>) -> Result<Option<r#async>> {
        Ok(Some(words().into()))
    }
}

impl ExecutionQuery for query {
    async fn execution(
        _: &Ctx<'_>,
        field: MaybeUndefined<i32>,
        rows: MaybeUndefined<i32>,
        answer: MaybeUndefined<i32>,
        arguments: MaybeUndefined<i32>,
        state: MaybeUndefined<i32>,
        execution: MaybeUndefined<i32>,
    ) -> Result<Option<String>> {
        let given = [field, rows, answer, arguments, state, execution];
        Ok(Some(given.iter().filter_map(|value| value.value()).map(ToString::to_string).collect()))
    }
}

impl LoopMutation for MUTATION {
    async fn r#loop(_: &Ctx<'_>, r#move: input) -> Result<Payload> {
        match r#move.self_ {
            Some(r#gen::Other) => Err(UserError::base("no loops").into()),
            _ => Ok(Payload { ok: Some(Copy { some: Some(1), none: None, ok: None }), errors: vec![] }),
        }
    }
}

impl YieldMutation for MUTATION {
    async fn r#yield(
        _: &Ctx<'_>,
        state: MaybeUndefined<i32>,
        ctx: MaybeUndefined<i32>,
        answer: MaybeUndefined<i32>,
    ) -> Result<Option<i32>> {
        Ok([state, ctx, answer].iter().filter_map(|value| value.value().copied()).reduce(|a, b| a * 10 + b))
    }
}
