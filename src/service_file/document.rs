//! What a document of a service file can say.

use super::yaml::At;

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

/// What a key says: `None` that it is not there, the inner `None` that it is null or empty.
pub(super) type Given<T> = Option<At<Option<T>>>;

#[derive(Debug)]
pub(super) struct ServiceDocument {
    pub(super) name: At<String>,
    pub(super) description: Given<String>,
    pub(super) owner: Given<String>,
    pub(super) tier: Given<String>,
    pub(super) lifecycle: Given<String>,
    pub(super) product: Given<String>,
    pub(super) language: Given<String>,
    pub(super) framework: Given<String>,
    pub(super) aliases: Option<Vec<At<String>>>,
    pub(super) tags: Option<Vec<(String, String)>>,
    /// The repositories' aliases.
    pub(super) repositories: Option<Vec<At<String>>>,
}

#[derive(Debug)]
pub(super) struct RepositoryDocument {
    pub(super) name: String,
    pub(super) alias: At<String>,
    pub(super) url: Given<String>,
    pub(super) default_branch: Given<String>,
    pub(super) private: Option<bool>,
    pub(super) visible: Option<bool>,
    pub(super) tags: Option<Vec<(String, String)>>,
}
