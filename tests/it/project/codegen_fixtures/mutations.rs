//! Mutations with and without a payload, each in a transaction.

use rollcall::engine::input::MaybeUndefined;
use rollcall::engine::write::{Scalar, Writer};
use rollcall::error::{Error as RollcallError, Result, UserError};

use generated::*;
use types::{ID, Note};

super::generated!("src/codegen/fixtures/mutations.rs");

pub mod types {
    pub use crate::project::codegen_fixtures::State;

    #[derive(Debug)]
    pub struct ID(pub String);
    #[derive(Debug)]
    pub struct Note(pub String);
}

impl Scalar for ID {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&self.0);
    }
}

impl From<UserError> for Error {
    fn from(error: UserError) -> Self {
        let path = error.path.iter().map(ToString::to_string).collect();
        Self { message: error.message.into_owned(), path }
    }
}

impl NoteResolver for Note {
    fn id(&self) -> ID {
        ID(format!("n-{}", self.0))
    }
    fn text(&self) -> &str {
        &self.0
    }
    async fn about(notes: &[&Self], _: &NoteAboutArgs, _: &Ctx<'_>) -> Result<Vec<Vec<Note>>> {
        Ok(notes.iter().map(|_| vec![]).collect())
    }
}

impl NoteQuery for Query {
    async fn note(_: &Ctx<'_>, id: String) -> Result<Option<Note>> {
        Ok(Some(Note(id)))
    }
}

impl NoteCreateMutation for Mutation {
    async fn note_create(ctx: &Ctx<'_>, input: NoteCreateInput) -> Result<NoteCreatePayload> {
        let NoteCreateInput { text, colour } = input;
        ctx.state.log(format!("create {text}, {colour:?}"));
        match text.as_str() {
            "" => Err(UserError::new("text", "is empty").within("input").into()),
            "disk full" => Err(RollcallError::internal("no space left")),
            "contended" if ctx.state.logged("create contended") < 3 => {
                Err(RollcallError::internal("others were faster"))
            }
            "hopeless" => Err(RollcallError::internal("others were faster")),
            _ => Ok(NoteCreatePayload { note: Some(Note(text)), ..NoteCreatePayload::default() }),
        }
    }
}

impl NoteDeleteMutation for Mutation {
    async fn note_delete(_: &Ctx<'_>, id: String) -> Result<NoteDeletePayload> {
        Ok(NoteDeletePayload { deleted_note_id: Some(ID(id)), errors: vec![] })
    }
}

impl NoteCountMutation for Mutation {
    async fn note_count(_: &Ctx<'_>) -> Result<i32> {
        Err(UserError::base("nobody counts").into())
    }
}

impl NotesMutation for Mutation {
    async fn notes(_: &Ctx<'_>, texts: Vec<String>) -> Result<Option<Vec<Note>>> {
        Ok(Some(texts.into_iter().map(Note).collect()))
    }
}

impl NoteRenameMutation for Mutation {
    async fn note_rename(_: &Ctx<'_>, id: String, text: MaybeUndefined<String>) -> Result<Option<NoteRenamed>> {
        let text = text.take().ok_or_else(|| UserError::new("text", "is needed"))?;
        Ok(Some(NoteRenamed { note: Note(id + &text), errors: vec![] }))
    }
}
