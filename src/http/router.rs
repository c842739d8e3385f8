//! All paths of the service.

use std::borrow::Cow;

use hyper::Method;
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use percent_encoding::percent_decode_str;

use crate::app;
use crate::entity::integration::{DOCUMENTS, WEBHOOKS};
use crate::entity::{feed, text};
use crate::http::handlers::badge::BADGES;
use crate::scim;

/// The routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The GraphQL API.
    GraphQl,
    /// The webhook of a deploy endpoint.
    Deploy,
    /// The webhook of an endpoint for API documents.
    Document,
    /// The Model Context Protocol.
    Mcp,
    /// What is where, for language models.
    Llms,
    /// The schema file.
    Sdl,
    /// Liveness.
    Livez,
    /// Readiness.
    Readyz,
    /// The badge of a service.
    Badge,
    /// A feed of deploys or changes.
    Feed,
    /// SCIM: users and groups, for identity providers.
    Scim,
    /// The application's pages.
    App,
    /// An unknown path.
    Unknown,
}

impl Route {
    /// The route of a request's path.
    pub fn from_path(path: &str) -> Self {
        match path {
            // One client adds the slash.
            "/graphql" | "/graphql/" => Self::GraphQl,
            "/mcp" => Self::Mcp,
            "/llms.txt" => Self::Llms,
            "/public/schema.graphql" | "/public/schemas/schema.graphql" => Self::Sdl,
            "/livez" => Self::Livez,
            "/readyz" => Self::Readyz,
            _ if is_webhook(path, WEBHOOKS) => Self::Deploy,
            _ if is_webhook(path, DOCUMENTS) => Self::Document,
            _ if path.starts_with(BADGES) => Self::Badge,
            _ if path.starts_with(feed::PATH) => Self::Feed,
            _ if scim::below(path).is_some() => Self::Scim,
            _ if app::owns(path) => Self::App,
            _ => Self::Unknown,
        }
    }

    /// The methods that the route accepts, in the format of `Allow`.
    pub fn methods(self) -> &'static str {
        match self {
            Self::GraphQl | Self::Mcp | Self::Deploy | Self::Document => "POST",
            Self::Sdl | Self::Llms | Self::Badge | Self::Feed | Self::Livez | Self::Readyz => "GET, HEAD",
            Self::App => "GET, HEAD, POST",
            Self::Scim => "GET, POST, PUT, PATCH, DELETE",
            Self::Unknown => "",
        }
    }

    /// Reports whether the route accepts `method`. Unknown paths accept every method and answer 404.
    pub fn allows(self, method: &Method) -> bool {
        self == Self::Unknown || self.methods().split(", ").any(|allowed| allowed == method.as_str())
    }

    /// The route's name in the log. Never the path itself, which can hold a secret.
    pub fn name(self) -> &'static str {
        match self {
            Self::GraphQl => "/graphql",
            Self::Deploy => "/integrations/deploy",
            Self::Document => "/integrations/document",
            Self::Mcp => "/mcp",
            Self::Llms => "/llms.txt",
            Self::Sdl => "/public/schema.graphql",
            Self::Livez => "/livez",
            Self::Readyz => "/readyz",
            Self::Badge => "/badges/services",
            Self::Feed => "/feeds",
            Self::Scim => scim::PATH,
            Self::App => "app",
            Self::Unknown => "unknown",
        }
    }

    /// The part of a path that is safe to show. `None` where any part may be a secret: the URL of a deploy endpoint,
    /// the token of a feed, the key of a sign-in link, or a mistyped form of one of these.
    pub fn shown(self, path: &str) -> Option<&str> {
        let first = path.split('/').nth(1).unwrap_or_default();
        match self {
            Self::Deploy | Self::Document | Self::Feed | Self::Unknown => None,
            Self::App if ["", "sign-in", "integrations"].contains(&first) => path.get(..=first.len()),
            Self::App
            | Self::Badge
            | Self::GraphQl
            | Self::Scim
            | Self::Mcp
            | Self::Sdl
            | Self::Llms
            | Self::Livez
            | Self::Readyz => Some(path),
        }
    }
}

/// The address of the page that a request asks for, with its query.
pub fn page_asked_for(parts: &Parts) -> Option<&str> {
    let is_page = parts.method == Method::GET && Route::from_path(parts.uri.path()) == Route::App;
    parts.uri.path_and_query().map(PathAndQuery::as_str).filter(|_| is_page)
}

/// Whether requests with this method have a body.
pub fn has_body(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
}

/// The method for the log. Unknown methods are not logged, because the caller chooses their text.
pub fn method_name(method: &Method) -> &str {
    match *method {
        Method::GET | Method::HEAD | Method::POST | Method::PUT | Method::PATCH | Method::DELETE | Method::OPTIONS => {
            method.as_str()
        }
        _ => "other",
    }
}

/// Whether a path is below a webhook's prefix, or is the prefix with its id forgotten.
fn is_webhook(path: &str, prefix: &str) -> bool {
    below(path, prefix).is_some() || path == prefix.trim_end_matches('/')
}

/// The rest of a path below a webhook's prefix, also if slashes are doubled: people put URLs together.
pub fn below<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    if let Some(rest) = path.strip_prefix(prefix).filter(|rest| !rest.starts_with('/')) {
        return Some(rest);
    }
    let mut rest = path;
    for part in prefix.split('/').filter(|part| !part.is_empty()) {
        rest = rest.strip_prefix('/')?.trim_start_matches('/').strip_prefix(part)?;
    }
    Some(rest.strip_prefix('/')?.trim_start_matches('/'))
}

/// The id of a webhook, as it is stored: in lower case, without the blanks that a file or a variable ends in, and without
/// a slash at the end.
pub fn webhook_id(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches('/');
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b'-') {
        return Cow::Borrowed(text);
    }
    let decoded = percent_decode_str(text).decode_utf8_lossy();
    Cow::Owned(text::trim(&decoded).trim_end_matches('/').to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_the_id_of_a_webhook_mean_nothing() {
        for id in
            ["ab-1", "AB-1", "ab-1/", "ab-1%20", "ab-1%C2%A0", "ab-1%E2%80%8B", "%EF%BB%BFab-1%0A", "ab-1/%E2%81%A0"]
        {
            assert_eq!(webhook_id(id), "ab-1", "{id}");
        }
    }

    #[test]
    fn no_path_is_shown_with_a_secret() {
        for (path, shown) in [
            ("/graphql", Some("/graphql")),
            ("/livez", Some("/livez")),
            ("/mcp", Some("/mcp")),
            ("/", Some("/")),
            ("/services/shop/edit", Some("/services/shop/edit")),
            ("/sign-in", Some("/sign-in")),
            ("/sign-in/secret", Some("/sign-in")),
            ("/integrations", Some("/integrations")),
            ("/integrations/7/rename", Some("/integrations")),
            ("/integrations/deploy/secret", None),
            ("/integrations/deploy", None),
            ("/integrations/document/secret/cart", None),
            ("/integrations/deploy%2Fsecret", Some("/integrations")),
            ("/integrations//deploy/secret", None),
            ("//integrations/deploy/secret", None),
            ("/integrations/deploys/secret", Some("/integrations")),
            ("/sign%2Din/secret", None),
            ("/feeds/secret/deploys.atom", None),
            ("//feeds/secret/deploys.atom", Some("/")),
            ("/feeds%2Fsecret/deploys.atom", None),
            ("/feed/secret", None),
            ("/scim/v2/Users/7", Some("/scim/v2/Users/7")),
            ("/scim/v2", Some("/scim/v2")),
            ("/scim/v1/Users", None),
            ("/secret", None),
            ("*", None),
        ] {
            assert_eq!(Route::from_path(path).shown(path), shown, "{path}");
        }
    }
}
