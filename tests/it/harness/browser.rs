//! A browser for tests of the application. It keeps the session's cookie, sends the origin of its forms, and follows no
//! redirects.

use hyper::Method;
use rollcall::db::Db;
use rollcall::entity::user::{self, ProvisionedBy, Role};
use rollcall::entity::{Timestamp, sign_in_link};
use rollcall::error::Error;
use serde_json::{Value, json};

use crate::harness::app::{Response, TestApp};

/// A browser, signed in or not.
pub struct Browser<'a> {
    app: &'a TestApp,
    /// Its `Cookie` header.
    pub cookie: Option<String>,
}

impl Response {
    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    /// The target of a redirect, without the note that tells the page what the form did.
    pub fn location(&self) -> &str {
        assert_eq!(self.status, 303, "{self:?}");
        let place = self.header("location").expect("a place");
        let notes = ["saved", "deleted", "moved", "tested", "resent"];
        let bare = |note: &str| place.strip_suffix(note)?.strip_suffix("?done=");
        notes.into_iter().find_map(bare).unwrap_or(place)
    }

    /// The target without its query.
    pub fn place(&self) -> &str {
        self.location().split('?').next().expect("a path")
    }
}

impl<'a> Browser<'a> {
    /// The browser of a stranger.
    pub fn new(app: &'a TestApp) -> Self {
        Self { app, cookie: None }
    }

    /// The browser of a new user with this role, signed in with a link.
    pub async fn of(app: &'a TestApp, role: Role) -> Self {
        let email = format!("{role:?}@example.com").to_lowercase();
        let link = link_for(&app.db, &email, role).await;
        let mut browser = Self::new(app);
        assert_eq!(browser.post(&link, &[]).await.location(), "/");
        browser
    }

    /// Gets a page.
    pub async fn get(&self, path: &str) -> Response {
        let cookie = self.cookie.iter().map(|cookie| ("cookie", cookie.as_str()));
        let headers: Vec<_> = [("accept", "text/html")].into_iter().chain(cookie).collect();
        self.app.get_with(path, &headers).await
    }

    /// Gets the part of a page with this id, as the script does.
    pub async fn part(&self, path: &str, id: &str) -> Response {
        let cookie = self.cookie.iter().map(|cookie| ("cookie", cookie.as_str()));
        let headers: Vec<_> = [("accept", "*/*"), ("x-part", id)].into_iter().chain(cookie).collect();
        self.app.get_with(path, &headers).await
    }

    /// Gets a page, which must exist, as text.
    pub async fn page(&self, path: &str) -> String {
        let page = self.get(path).await;
        assert_eq!(page.status, 200, "{path}: {page:?}");
        page.text().to_owned()
    }

    /// Runs an operation as the explorer does, and returns the response.
    pub async fn query(&self, query: &str, variables: Value) -> Value {
        self.query_with(query, variables, &[]).await.json()
    }

    /// The same with additional headers.
    pub async fn query_with(&self, query: &str, variables: Value, headers: &[(&str, &str)]) -> Response {
        let cookie = self.cookie.iter().map(|cookie| ("cookie", cookie.as_str()));
        let kind = [("content-type", "application/json"), ("sec-fetch-site", "same-origin")];
        let headers: Vec<_> = kind.into_iter().chain(cookie).chain(headers.iter().copied()).collect();
        let body = json!({ "query": query, "variables": variables }).to_string();
        self.app.request(Method::POST, "/graphql", &headers, body).await
    }

    /// Submits a form as one of our pages would, and stores the returned cookie.
    pub async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Response {
        let answer = self.post_from(path, form, &[("sec-fetch-site", "same-origin")]).await;
        if let Some(cookie) = answer.header("set-cookie") {
            let pair = cookie.split(';').next().expect("a pair");
            self.cookie = (!pair.ends_with('=')).then(|| pair.to_owned());
        }
        answer
    }

    /// Submits a form with additional headers.
    pub async fn post_from(&self, path: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Response {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let kind = [("content-type", "application/x-www-form-urlencoded"), ("accept", "text/html")];
        let cookie = self.cookie.iter().map(|cookie| ("cookie", cookie.as_str()));
        let headers: Vec<_> = kind.into_iter().chain(cookie).chain(headers.iter().copied()).collect();
        self.app.request(Method::POST, path, &headers, body).await
    }
}

/// The path of a new link for the user with this address, who is created if necessary.
pub async fn link_for(db: &Db, email: &str, role: Role) -> String {
    let made = db.write(async |db| {
        let now = Timestamp::now();
        let user = match user::by_email(db, email).await? {
            Some(user) => user,
            None => user::create(db, email, None, role, ProvisionedBy::CommandLine, now).await?,
        };
        Ok::<_, Error>(sign_in_link::path(&sign_in_link::create(db, Some(user.id), now).await?))
    });
    made.await.expect("a link")
}
