//! When the API document of a service is pulled from its URL, and how that went the last time. A service has a row while
//! it has an `api_document_url`. A new URL has a new row, so whoever still pulls the old one finds no row to write to.

use std::net::IpAddr;

use sea_orm::sea_query::ExprTrait;

use super::prelude::*;
use super::{service, service_document};
use crate::db::Db;

/// No pull is put off for longer, in microseconds: 25 hours, an hour more than the longest interval after failures.
const LONGEST_WAIT: i64 = 25 * 3_600_000_000;

super::table! {
    "document_pull", unrecorded, left_out("when this installation pulls documents; the other one begins anew");

    /// The service; at most one row per service.
    pub service_id: i64,
    /// When the document is pulled next.
    pub next_pull_at: Timestamp,
    /// When the document was last received, or found unchanged.
    pub pulled_at: Option<Timestamp>,
    /// Why the last pull failed; `None` if it succeeded.
    pub error: Option<String>,
    /// The number of pulls that failed since the last success.
    pub failures: i32,
    /// The `ETag` of the document.
    pub etag: Option<String>,
    /// Its `Last-Modified`.
    pub last_modified: Option<String>,
}

/// Schedules the pulls of a service whose URL changes. A new URL is pulled at once, and keeps the document of the old one
/// until then. Without a URL, the pulled document is deleted. The caller has locked the service.
pub async fn follow(
    db: &dyn WriteHandle,
    service_id: i64,
    before: Option<&str>,
    after: Option<&str>,
) -> Result<(), db::Error> {
    if before == after {
        return Ok(());
    }
    db.exec(Entity::delete_many().filter(Column::ServiceId.eq(service_id))).await?;
    if after.is_some() {
        let row = ActiveModel {
            service_id: Set(service_id),
            next_pull_at: Set(Timestamp::now()),
            failures: Set(0),
            ..Default::default()
        };
        db.exec(Entity::insert(row)).await?;
    } else {
        use service_document::{Column, Entity};
        let pulled = Entity::delete_many().filter(Column::ServiceId.eq(service_id));
        db.exec(pulled.filter(Column::IntegrationId.is_null())).await?;
    }
    Ok(())
}

/// Schedules a pull of every service with a URL, at once. No service may have a row yet.
pub async fn begin_all(db: &dyn WriteHandle) -> Result<(), db::Error> {
    let rows = Query::select()
        .column(service::Column::Id)
        .expr(Expr::value(Timestamp::now()))
        .expr(Expr::value(0))
        .from(service::Entity)
        .and_where(service::Column::ApiDocumentUrl.is_not_null())
        .take();
    let columns = [Column::ServiceId, Column::NextPullAt, Column::Failures];
    let mut insert = Query::insert();
    let insert = insert.into_table(Entity).columns(columns).select_from(rows);
    db.execute::<Entity>(insert.map_err(|error| db::Error::fault(error.to_string()))?).await.map(drop)
}

/// Takes at most `most` rows that are due at `now`, those first that have waited longest. Nobody else takes them before
/// `until`, so of several processes one pulls each document. A row that is put off for longer than any interval is due
/// too: the clock was ahead.
pub async fn claim(db: &Db, now: Timestamp, until: Timestamp, most: u64) -> Result<Vec<Model>, db::Error> {
    let farthest = Timestamp::from_micros(now.as_micros() + LONGEST_WAIT);
    // Two ranges of one index.
    let is_due = || Column::NextPullAt.lte(now).or(Column::NextPullAt.gt(farthest));
    let due = || {
        let due = Entity::find().select_only().column(Column::Id).filter(is_due());
        due.order_by_asc(Column::NextPullAt).order_by_asc(Column::Id).limit(most)
    };
    // A run with nothing to do takes no write lock.
    let ids: Vec<i64> = db.read().rows(sea_orm::QueryTrait::as_query(&due()), |row| row.get(0)).await?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    db.write(async |tx| {
        // Another process may have taken them meanwhile. The row lock makes this statement see that.
        let take = Entity::update_many()
            .col_expr(Column::NextPullAt, Expr::value(until))
            .filter(db::any(tx, Column::Id, &ids))
            .filter(is_due());
        tx.updated(take).await
    })
    .await
}

/// Where a URL leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The host in lower case. An IPv6 address keeps its brackets.
    pub host: String,
    /// The port, if the URL states one.
    pub port: Option<u16>,
    /// Whether the scheme is `https`.
    pub is_encrypted: bool,
}

impl Address {
    /// Reads the URL of a document. `None` for anything that different programs could read differently.
    pub fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let is_encrypted = match scheme {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
        let (host, port) = host_and_port(authority)?;
        path.bytes().all(is_plain).then_some(Self { host, port, is_encrypted })
    }

    /// The port, stated or not.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(self.default_port())
    }

    /// The port of the scheme.
    pub fn default_port(&self) -> u16 {
        if self.is_encrypted { 443 } else { 80 }
    }

    /// Whether the host is this machine.
    fn is_loopback(&self) -> bool {
        let address = self.host.trim_matches(['[', ']']).parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

/// Splits `host` or `host:port`. The host is returned in lower case. `None` if there is anything else, such as a user.
pub fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let (host, port) = match text.rsplit_once(':').filter(|(_, port)| is_port(port)) {
        Some((host, port)) => (host, Some(port.parse::<u16>().ok().filter(|port| *port > 0)?)),
        None => (text, None),
    };
    let is_name = |host: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        !host.is_empty() && host.bytes().all(known)
    };
    let is_known = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => is_name(host),
    };
    is_known.then(|| (host.to_ascii_lowercase(), port))
}

/// Checks the URL of a document.
pub fn check_url(url: &str) -> Result<(), UserError> {
    let wrong = |what: &'static str| Err(UserError::new("apiDocumentUrl", what));
    if url.split_once("://").is_some_and(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or("").contains('@')) {
        return wrong("apiDocumentUrl must not contain a user or a password: everyone who reads the service reads it");
    }
    match Address::parse(url) {
        Some(address) if address.is_encrypted || address.is_loopback() => Ok(()),
        Some(_) => wrong("apiDocumentUrl must begin with https://; http:// is only for this machine"),
        None => wrong("apiDocumentUrl must be a URL such as https://docs.example.com/openapi.yml"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_leads_to_one_host() {
        for (url, host, port) in [
            ("https://docs.example.com/openapi.yml", "docs.example.com", 443),
            ("https://DOCS.example.com:8443?x=@y", "docs.example.com", 8443),
            ("http://localhost/a", "localhost", 80),
            ("http://[::1]:8080/a#b", "[::1]", 8080),
        ] {
            let address = Address::parse(url).expect(url);
            assert_eq!((&*address.host, address.port()), (host, port), "{url}");
            assert!(check_url(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "docs.example.com/a",
            "ftp://docs.example.com/a",
            "https://",
            "https:///a",
            "https://ada:secret@docs.example.com/a",
            "https://docs.example.com@evil.example.com/",
            "https://docs.example.com\\@evil.example.com/",
            "https://docs.example.com:x/",
            "https://docs.example.com:0/",
            "https://docs.example.com:70000/",
            "https://[docs]/",
            "https://docs.example.com/a b",
            "https://dócs.example.com/",
            "http://docs.example.com/a",
            "http://10.0.0.1/a",
            "http://localhost.example.com/a",
        ] {
            assert!(check_url(url).is_err(), "{url}");
        }
    }
}
