//! A server to ask, with what requests to it need.

use std::collections::HashMap;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderValue};
use serde_json::{Value, json};

use crate::client::{Connection, Request};

/// A server to ask.
pub struct Target {
    pub address: SocketAddr,
    host: HeaderValue,
    /// The path of the GraphQL endpoint.
    pub graphql: String,
    /// The value of `Authorization`.
    pub authorization: Option<HeaderValue>,
    /// The cookie of somebody who is signed in.
    pub cookie: Option<HeaderValue>,
    /// The path of a deploy endpoint.
    pub webhook: String,
    /// How many services there are, named `svc-1` and so on.
    pub services: u64,
    /// The cursors after each page of 100 services.
    pub cursors: Vec<String>,
    /// The cursor after the first nine tenths of the services.
    pub late_cursor: String,
    /// The operations by their names, as JSON strings.
    operations: HashMap<String, String>,
    /// Whether it is another program than rollcall, of which less is known.
    pub is_peer: bool,
}

impl Target {
    /// A server with these operations, by their names.
    pub fn new<'a>(
        address: SocketAddr,
        services: u64,
        operations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, String> {
        let operations = operations.into_iter().map(|(name, text)| (name.to_owned(), json!(text).to_string()));
        Ok(Self {
            address,
            host: header(&address.to_string())?,
            graphql: "/graphql".to_owned(),
            authorization: None,
            cookie: None,
            webhook: String::new(),
            services,
            cursors: Vec::new(),
            late_cursor: String::new(),
            operations: operations.collect(),
            is_peer: false,
        })
    }

    /// A named operation as a JSON string.
    pub fn operation(&self, name: &str) -> Option<&str> {
        self.operations.get(name).map(String::as_str)
    }

    /// A request for the operation, with its variables as JSON.
    pub fn query(&self, operation: &str, variables: &str) -> Request {
        let body = format!(r#"{{"query":{operation},"variables":{variables}}}"#);
        let mut request = self.post(&self.graphql, body);
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        request
    }

    /// A request to the deploy endpoint.
    pub fn deploy(&self, body: String) -> Request {
        self.post(&self.webhook, body)
    }

    /// A request for a page of the application.
    pub fn page(&self, path: &str) -> Request {
        let mut request = self.request(Method::GET, path, Bytes::new());
        if let Some(cookie) = &self.cookie {
            request.headers_mut().insert(COOKIE, cookie.clone());
        }
        request
    }

    fn post(&self, path: &str, body: String) -> Request {
        let mut request = self.request(Method::POST, path, body.into());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        request
    }

    fn request(&self, method: Method, path: &str, body: Bytes) -> Request {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        request.headers_mut().insert(HOST, self.host.clone());
        request
    }

    /// A form that a page of the application sends, encoded.
    pub fn form(&self, path: &str, fields: &'static str) -> Result<Request, String> {
        let mut request = self.request(Method::POST, path, Bytes::from_static(fields.as_bytes()));
        request.headers_mut().insert("origin", header(&format!("http://{}", self.address))?);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        if let Some(cookie) = &self.cookie {
            request.headers_mut().insert(COOKIE, cookie.clone());
        }
        Ok(request)
    }

    /// Signs in with the path of a sign-in link.
    pub async fn sign_in(&mut self, link: &str) -> Result<(), String> {
        let answer = Connection::open(self.address).await?.send(self.form(link, "")?).await?;
        let cookie = answer.headers.get("set-cookie").and_then(|cookie| cookie.to_str().ok());
        let cookie = cookie.and_then(|cookie| cookie.split(';').next());
        self.cookie = Some(header(cookie.ok_or_else(|| format!("not signed in: {}", answer.shortened()))?)?);
        Ok(())
    }

    /// Reads the cursors of rollcall's list of services.
    pub async fn read_cursors(&mut self) -> Result<(), String> {
        let text = "query($c:String){account{services(first:100,after:$c){pageInfo{hasNextPage endCursor}}}}";
        let text = json!(text).to_string();
        let mut connection = Connection::open(self.address).await?;
        let mut after = Value::Null;
        loop {
            let answer = connection.send(self.query(&text, &json!({ "c": after }).to_string())).await?;
            let json: Value = serde_json::from_slice(&answer.body).map_err(|_| answer.shortened())?;
            let page = &json["data"]["account"]["services"]["pageInfo"];
            if page["hasNextPage"] != true {
                break;
            }
            after = page["endCursor"].clone();
            self.cursors.push(after.as_str().ok_or_else(|| answer.shortened())?.to_owned());
        }
        let late = ((self.cursors.len() + 1) * 9 / 10).max(1) - 1;
        self.late_cursor = self.cursors.get(late).cloned().unwrap_or_default();
        Ok(())
    }
}

/// A header's value.
pub fn header(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text).map_err(|_| format!("not a header: {text:?}"))
}
