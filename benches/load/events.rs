//! What subscriptions to events cost those who change something: the same program with ten of them and with none.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::data::Place;
use crate::lines::{LINES, Line};
use crate::options::Options;
use crate::report::Report;
use crate::rounds;
use crate::server::Program;
use crate::subject::{Role, Subject, Waiting};

/// How many subscriptions there are, each to all that the lines change.
pub const SUBSCRIPTIONS: usize = 10;
/// The lines that are measured.
const MEASURED: [&str; 2] = ["M1", "W1-16"];

/// Prints a table for each database and returns the figures.
pub async fn run(program: &Program, places: Vec<Place>, options: &Options) -> Result<Value, String> {
    let lines: Vec<Line> = LINES.into_iter().filter(|line| MEASURED.contains(&line.name)).collect();
    println!("\n# {SUBSCRIPTIONS} subscriptions to all changes, beside none");
    let mut figures = Vec::new();
    for place in &places {
        figures.push(compare(program, place, &lines, options).await?);
    }
    Ok(json!(figures))
}

async fn compare(program: &Program, place: &Place, lines: &[Line], options: &Options) -> Result<Value, String> {
    const TEMPLATE: &str = "without_subscriptions";
    let services = options.services();
    place.fill(program, TEMPLATE, services, 0).await?;
    let receiver = Receiver::start()?;
    let with = Subject::subscribed(place, program, (TEMPLATE, "subscribed"), services, receiver.address).await?;
    let mut without =
        Subject::rollcall(place, (program, Role::Against), (TEMPLATE, "not_subscribed"), (services, 0)).await?;
    without.name = "no subscription".to_owned();
    let mut subjects = [with, without];
    let mut notes = rounds::probe(&mut subjects, lines, options.seed).await?;
    let measured = rounds::measure(&subjects, lines, options).await?;
    let Waiting { missed, .. } = subjects[0].waiting().await?;
    let taken = receiver.taken.load(Ordering::Relaxed);
    if taken == 0 {
        return Err("the receiver of events has got nothing".to_owned());
    }
    notes.push(format!("The receiver took {taken} messages; {missed} were not kept, because too many waited."));
    let report = Report { place, subjects: &subjects, measured: &measured, notes: &notes };
    println!("{}", report.markdown());
    Ok(report.json())
}

/// A receiver of events that takes every message at once. It works in threads of its own, since the bench has one.
struct Receiver {
    address: SocketAddr,
    taken: Arc<AtomicU64>,
}

impl Receiver {
    fn start() -> Result<Self, String> {
        let listen = || {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            Ok::<_, std::io::Error>((listener.local_addr()?, listener))
        };
        let (address, listener) = listen().map_err(|error| format!("no receiver of events: {error}"))?;
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&taken);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let counted = Arc::clone(&counted);
                // A connection ends with an error.
                thread::spawn(move || take(&connection, &counted));
            }
        });
        Ok(Self { address, taken })
    }
}

/// Answers the messages of a connection.
fn take(connection: &TcpStream, counted: &AtomicU64) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection.try_clone()?);
    let (mut connection, mut line, mut body) = (connection, String::new(), Vec::new());
    loop {
        let mut length = 0;
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        counted.fetch_add(1, Ordering::Relaxed);
        connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
    }
}
