//! A service has documentation.

use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::service_document::{self, Format};
use crate::entity::{check, tool};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `HasDocumentationCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct HasDocumentation {
    /// A value of the SDL's `HasDocumentationSubtypeEnum`, which has only one.
    pub(in crate::graphql::standards::check) document_subtype: String,
    /// A value of the SDL's `HasDocumentationTypeEnum`.
    pub(in crate::graphql::standards::check) document_type: String,
}

/// The categories of tools that are technical documentation.
const TECHNICAL: [ToolCategory; 4] =
    [ToolCategory::Wiki, ToolCategory::Runbooks, ToolCategory::DesignDocumentation, ToolCategory::ArchitectureDiagram];

impl HasDocumentation {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        subtype: MaybeUndefined<HasDocumentationSubtypeEnum>,
        of_type: MaybeUndefined<HasDocumentationTypeEnum>,
    ) -> Result<()> {
        let subtype = subtype.map_value(HasDocumentationSubtypeEnum::as_str);
        change.word("documentSubtype", &mut self.document_subtype, subtype);
        change.word("documentType", &mut self.document_type, of_type.map_value(HasDocumentationTypeEnum::as_str));
        Ok(())
    }

    fn is_technical(&self) -> bool {
        self.document_type == HasDocumentationTypeEnum::Tech.as_str()
    }
}

impl Asks for HasDocumentation {
    fn wanted(&self) -> String {
        if self.is_technical() {
            let words: Vec<_> = TECHNICAL.iter().map(|category| category.as_str()).collect();
            format!("technical documentation: a tool of one of the categories {}", words.join(", "))
        } else {
            "an API document in the format OpenAPI".to_owned()
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        match (found, self.is_technical()) {
            (Some(title), _) => format!("It has the documentation {}.", quoted(title)),
            (None, true) => "It has no technical documentation.".to_owned(),
            (None, false) => "It has no API document in the format OpenAPI.".to_owned(),
        }
    }

    async fn question(&self, _: &check::Model, _: Facts<'_>) -> Result<Question> {
        if self.is_technical() {
            let tools = Rows::new(tool::Entity, tool::Column::ServiceId)
                .and_where(tool::Column::Category.is_in(TECHNICAL.map(ToolCategory::as_str)));
            return Ok(Question::new(tools.exist_where(None), first(&tools, tool::Column::DisplayName.into_expr())));
        }
        let documents = Rows::new(service_document::Entity, service_document::Column::ServiceId)
            .and_where(service_document::Column::Format.eq(Format::OpenApi));
        let title = service_document::Column::Title.into_expr();
        Ok(Question::new(documents.exist_where(None), first(&documents, title)))
    }
}
