//! What a document of a service file can say.

use sea_orm::sea_query::Value;

use super::yaml::At;
use crate::entity::field_rule::FieldRule;
use crate::entity::{repository, service};

/// A document of a service file.
#[derive(Debug)]
pub(super) struct Document {
    /// The place of its file among those that are applied.
    pub(super) file: usize,
    pub(super) subject: Subject,
}

#[derive(Debug)]
pub(super) enum Subject {
    Service(Box<ServiceDocument>),
    Repository(RepositoryDocument),
}

/// What a document says of a field of its table's list: a value for the column, or the name of the row that it refers to.
#[derive(Debug)]
pub(super) struct Given<C: 'static> {
    pub(super) rule: &'static FieldRule<C>,
    pub(super) said: At<Value>,
}

#[derive(Debug)]
pub(super) struct ServiceDocument {
    pub(super) name: At<String>,
    /// What is said beside the name.
    pub(super) fields: Vec<Given<service::Column>>,
    pub(super) aliases: Option<Vec<At<String>>>,
    pub(super) tags: Option<Vec<(String, String)>>,
    /// The repositories' aliases.
    pub(super) repositories: Option<Vec<At<String>>>,
}

#[derive(Debug)]
pub(super) struct RepositoryDocument {
    pub(super) name: String,
    pub(super) alias: At<String>,
    /// What is said beside the name and the alias.
    pub(super) fields: Vec<Given<repository::Column>>,
    pub(super) tags: Option<Vec<(String, String)>>,
}
