//! The documents of a service file.

use sea_orm::sea_query::Value;

use super::yaml::At;
use crate::entity::field_rule::FieldRule;
use crate::entity::{repository, service};

/// A document of a service file.
#[derive(Debug)]
pub(super) struct Document {
    /// The index of its file among the applied files.
    pub(super) file: usize,
    pub(super) subject: Subject,
}

#[derive(Debug)]
pub(super) enum Subject {
    Service(Box<ServiceDocument>),
    Repository(RepositoryDocument),
}

/// A field's value in a document: a value for the column, or the name of the row that it refers to.
#[derive(Debug)]
pub(super) struct Given<C: 'static> {
    pub(super) rule: &'static FieldRule<C>,
    pub(super) said: At<Value>,
}

#[derive(Debug)]
pub(super) struct ServiceDocument {
    pub(super) name: At<String>,
    /// The fields other than the name.
    pub(super) fields: Vec<Given<service::Column>>,
    pub(super) aliases: Option<Vec<At<String>>>,
    pub(super) tags: Option<Vec<(String, String)>>,
    /// The aliases of the repositories.
    pub(super) repositories: Option<Vec<At<String>>>,
}

#[derive(Debug)]
pub(super) struct RepositoryDocument {
    pub(super) name: String,
    pub(super) alias: At<String>,
    /// The fields other than the name and the alias.
    pub(super) fields: Vec<Given<repository::Column>>,
    pub(super) tags: Option<Vec<(String, String)>>,
}
