//! A trace collector: accepts spans by OTLP over HTTP and keeps them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use data_encoding::HEXLOWER;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// A post as received.
#[derive(Debug, Clone)]
pub struct Post {
    /// The request line and the headers.
    pub head: String,
    /// The decoded message.
    pub body: Vec<u8>,
}

/// A collector on its own port.
pub struct Collector {
    address: SocketAddr,
    posts: Arc<Mutex<Vec<Post>>>,
}

impl Collector {
    /// A collector that accepts everything.
    pub fn start() -> Self {
        Self::that(true)
    }

    /// A collector that reads requests and never responds.
    pub fn hanging() -> Self {
        Self::that(false)
    }

    fn that(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, posts) = (listener.local_addr().expect("an address"), Arc::<Mutex<Vec<Post>>>::default());
        let kept = Arc::clone(&posts);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(connection, &kept, answers));
            }
        });
        Self { address, posts }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All posts so far.
    pub fn posts(&self) -> Vec<Post> {
        self.posts.lock().expect("posts").clone()
    }

    /// The resource attributes of the first post.
    pub fn resource(&self) -> BTreeMap<String, String> {
        let message = message(&self.posts()[0]);
        attributes(&message.resource_spans[0].resource.as_ref().expect("a resource").attributes)
    }

    /// All spans so far.
    pub fn spans(&self) -> Vec<Span> {
        let spans = self.posts().into_iter().flat_map(|post| message(&post).resource_spans);
        spans.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// The spans of a trace.
    pub fn trace(&self, id: &str) -> Vec<Span> {
        self.spans().into_iter().filter(|span| HEXLOWER.encode(&span.trace_id) == id).collect()
    }
}

fn message(post: &Post) -> ExportTraceServiceRequest {
    ExportTraceServiceRequest::decode(&*post.body).expect("a message of OTLP")
}

/// Attributes by name, as text.
pub fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), text(&attribute.value))).collect()
}

fn serve(connection: TcpStream, kept: &Mutex<Vec<Post>>, answers: bool) {
    let mut from = BufReader::new(connection);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match from.read_line(&mut head) {
                Ok(1..) => {}
                // The client has disconnected.
                _ => return,
            }
        }
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.expect("a length")];
        from.read_exact(&mut body).expect("a body");
        kept.lock().expect("posts").push(Post { head, body });
        if answers {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
            from.get_mut().write_all(answer).expect("a reader");
        }
    }
}
