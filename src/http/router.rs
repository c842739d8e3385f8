//! Every path there is.

use hyper::Method;

use crate::app;
use crate::entity::integration::WEBHOOKS;

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The GraphQL API.
    GraphQl,
    /// The webhook of a deploy endpoint.
    Deploy,
    /// The schema file.
    Sdl,
    /// Whether the process lives.
    Livez,
    /// Whether it can answer requests.
    Readyz,
    /// The application's pages.
    App,
    /// Nothing.
    Unknown,
}

impl Route {
    /// The route of a path, as it stands in the request.
    pub fn of(path: &str) -> Self {
        match path {
            // One client adds the slash.
            "/graphql" | "/graphql/" => Self::GraphQl,
            "/public/schema.graphql" | "/public/schemas/schema.graphql" => Self::Sdl,
            "/livez" => Self::Livez,
            "/readyz" => Self::Readyz,
            _ if path.starts_with(WEBHOOKS) => Self::Deploy,
            _ if app::owns(path) => Self::App,
            _ => Self::Unknown,
        }
    }

    /// The methods that the route answers, as `Allow` lists them.
    pub fn methods(self) -> &'static str {
        match self {
            Self::GraphQl | Self::Deploy => "POST",
            Self::Sdl | Self::Livez | Self::Readyz => "GET, HEAD",
            Self::App => "GET, HEAD, POST",
            Self::Unknown => "",
        }
    }

    /// Whether the route answers `method`. A path that leads nowhere answers all methods, with 404.
    pub fn allows(self, method: &Method) -> bool {
        self == Self::Unknown || self.methods().split(", ").any(|allowed| allowed == method.as_str())
    }

    /// The route's name in the log. Never the path itself, which can hold a secret.
    pub fn name(self) -> &'static str {
        match self {
            Self::GraphQl => "/graphql",
            Self::Deploy => "/integrations/deploy",
            Self::Sdl => "/public/schema.graphql",
            Self::Livez => "/livez",
            Self::Readyz => "/readyz",
            Self::App => "app",
            Self::Unknown => "unknown",
        }
    }
}
