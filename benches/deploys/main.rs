//! The deploy webhook under load, and pages with many deploys, against a server in its own process.
//!
//! `posts` compares the server with one that commits every post alone, in turns, on the same disk and fully durable.
//! `pages` reads the same pages from a server with 1,000 deploys and one with 1,000,000, in turns. Name one of them to
//! run it alone: `cargo bench --bench deploys -- posts`.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use rollcall::config::{self, Command as Settings};
use rollcall::db::{self, Db};
use rollcall::deploy::{Deploys, commit::GROUP};
use rollcall::generate;
use rollcall::graphql::{Catalogue, Settings as CatalogueSettings};
use rollcall::http::{self, App};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

mod client;
mod pages;
mod posts;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = Runtime::new().expect("a runtime");
    match *arguments {
        ["serve", url, group] => runtime.block_on(serve(url, group.parse().expect("a number"))),
        [] => {
            posts::run(&runtime);
            pages::run(&runtime);
        }
        ["posts"] => posts::run(&runtime),
        ["pages"] => pages::run(&runtime),
        _ => panic!("say posts, pages or nothing"),
    }
}

/// The folder of the databases: on the disk of the build, because a temporary folder may be in memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// Creates a database in this folder with services `svc-1`, `svc-2`, …
async fn database(folder: &Path, services: u64) -> (String, Db) {
    let url = format!("sqlite://{}", folder.join("rollcall.db").display());
    let db = db::connect(&url).await.expect("a database");
    db::migrate(&db).await.expect("migrations");
    generate::catalogue(&db, services, |_| {}).await.expect("services");
    (url, db)
}

/// A server that ends when dropped.
struct Server {
    address: SocketAddr,
    process: Child,
    until_we_end: Option<ChildStdin>,
}

impl Server {
    /// Serves the database, with at most this many deploys per transaction.
    fn start(url: &str, group: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["serve", url, &group.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("a server");
        let mut line = String::new();
        let said = process.stdout.take().expect("standard output");
        BufReader::new(said).read_line(&mut line).expect("an address");
        let until_we_end = process.stdin.take();
        Self { address: line.trim().parse().expect("an address"), process, until_we_end }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.until_we_end.take());
        let _ = self.process.wait();
    }
}

/// The server's process: serves until standard input closes.
async fn serve(url: &str, group: usize) {
    let flags = ["rollcall", "serve", "--token-limit", "0", "--ip-limit", "0", "--database-url", url];
    let Ok(Settings::Serve(settings)) = config::parse(flags) else { panic!("not the flags of serve") };
    let db = db::connect(url).await.expect("a database");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let app_url = settings.addresses.app_url(&address.into());
    let catalogue = Catalogue::new(db.clone(), CatalogueSettings::new(settings.account_name, app_url));
    let app = App::new(db.clone(), catalogue, settings.edge);
    let app = if group == GROUP { app } else { app.with_deploys(Deploys::start(db.clone(), group)) };
    println!("{address}");
    let (told, stop) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(told);
    });
    http::serve(Arc::new(app), listener, None, async {
        let _ = stop.await;
    })
    .await;
    db.close().await.expect("closed");
}

/// The percentile of the sorted values.
fn percentile<T: Copy>(sorted: &[T], share: f64) -> T {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
