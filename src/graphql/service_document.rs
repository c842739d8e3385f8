//! API documents of services. None is stored yet: the types are there for the clients that name them.

use super::context::Ctx;
use super::id::Id;
use super::schema::*;
use crate::error::Result;

/// An API document of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceDocument {}

impl ServiceDocumentResolver for ServiceDocument {
    fn id(&self) -> Id {
        match *self {}
    }

    async fn html_url(_: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<String>>> {
        Ok(Vec::new())
    }

    async fn source(_: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<ServiceDocumentSource>>> {
        Ok(Vec::new())
    }

    async fn timestamps(_: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Timestamps>>> {
        Ok(Vec::new())
    }
}

/// An integration that API documents are sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiDocIntegration {}

impl ApiDocIntegrationResolver for ApiDocIntegration {
    fn id(&self) -> Id {
        match *self {}
    }

    fn name(&self) -> &str {
        match *self {}
    }

    fn r#type(&self) -> &str {
        match *self {}
    }
}
