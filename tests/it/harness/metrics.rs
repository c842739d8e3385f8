//! The figures of a process, read from their own listener as a scraper reads them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hyper::Method;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::harness::app::{Response, TestApp, send};

pub async fn request(address: SocketAddr, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
    send(&Client::builder(TokioExecutor::new()).build_http(), address, method, path, headers, "").await
}

/// The metrics by name and labels. Checks that the text is valid OpenMetrics: each family is described before its first
/// sample, samples are unique, buckets add up, and the text has an end mark.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let (mut family, mut kind) = ("", "");
    let body = text.strip_suffix("# EOF\n").expect("an end");
    for line in body.lines() {
        if let Some(line) = line.strip_prefix("# ") {
            match *line.splitn(3, ' ').collect::<Vec<_>>() {
                ["HELP", name, help] if !help.is_empty() => family = name,
                ["TYPE", name, of] if name == family => kind = of,
                ["UNIT", name, unit] if name == family && name.ends_with(&format!("_{unit}")) => {}
                _ => panic!("{line:?} after {family}"),
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').expect("a value");
        let bare = name.split('{').next().unwrap_or_default();
        let suffixes: &[&str] = match kind {
            "counter" => &["_total"],
            "gauge" => &[""],
            "info" => &["_info"],
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => panic!("{kind} of {line:?}"),
        };
        let suffix = bare.strip_prefix(family).expect("a sample of its family");
        assert!(suffixes.contains(&suffix), "{line:?} in the {kind} {family}");
        assert!(name == bare || name.ends_with("\"}"), "{line:?}");
        let value: f64 = value.parse().expect("a number");
        assert!(samples.insert(name.to_owned(), value).is_none(), "{name} stands twice");
    }
    for (name, count) in samples.iter().filter(|(name, _)| name.contains("_bucket{") && name.contains("le=\"+Inf\"")) {
        let total = name.replace("_bucket{", "_count{").replace(",le=\"+Inf\"", "").replace("le=\"+Inf\",", "");
        let total = total.replace("{le=\"+Inf\"}", "");
        assert_eq!(samples.get(&total), Some(count), "{total}");
    }
    samples
}

pub async fn figures(app: &TestApp) -> BTreeMap<String, f64> {
    let address = app.metrics.expect("a listener for figures");
    let answer = request(address, Method::GET, "/metrics", &[]).await;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)));
    parse(std::str::from_utf8(&answer.body).expect("text"))
}
