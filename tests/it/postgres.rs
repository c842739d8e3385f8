//! Reruns the tests on PostgreSQL: in a private cluster of the installed programs, which is removed with the tests.
//!
//! `cargo test` without a filter does it. To run some of them: `ROLLCALL_TEST_DATABASE=postgres cargo test tag::`.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use rollcall::db;
use sea_orm::sqlx::postgres::PgConnection;
use sea_orm::sqlx::{self, AssertSqlSafe, Connection, Executor};
use tokio::sync::OnceCell;

use crate::database::{self, BACKEND};

/// Modules whose tests use no database, or their own files.
const ELSEWHERE: [&str; 9] = [
    "backup::",
    "codegen_fixtures::",
    "command_line::",
    "executor::",
    "postgres::",
    "schema_diff::",
    "schema_edits::",
    "sender::",
    "tidy::",
];

#[test]
fn every_test_with_a_database_passes_on_postgresql_too() {
    if database::is_postgres() {
        return;
    }
    if let Err(missing) = programs() {
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        return crate::say_aloud(&format!("left out: all tests on PostgreSQL; {missing}"));
    }
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    again.env(BACKEND, "postgres").args(["--color", "never", "--skip", "sqlite"]);
    for module in ELSEWHERE {
        again.args(["--skip", module]);
    }
    let done = again.stdin(Stdio::null()).output().expect("this program runs");
    let text = String::from_utf8_lossy(&done.stdout);
    let said = String::from_utf8_lossy(&done.stderr);
    // The lines of passed tests would hide those of failed ones.
    let told = text.find("\nfailures:\n").map_or(&*text, |at| &text[at..]);
    assert!(done.status.success(), "on PostgreSQL: {}\n{told}\n{said}", done.status);
    let result = text.lines().rfind(|line| line.starts_with("test result:")).expect("a result");
    crate::say_aloud(&format!("on PostgreSQL: {}", result.trim_start_matches("test result: ")));
}

/// The folder of PostgreSQL's programs.
fn programs() -> Result<PathBuf, String> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    // Debian keeps each version in its own folder, outside of PATH. Prefer the newest.
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path()).collect();
    let number = |path: &PathBuf| path.file_name().and_then(OsStr::to_str).and_then(|name| name.parse::<u32>().ok());
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    folders.extend(versions.into_iter().map(|version| version.join("bin")));
    folders.extend(["/usr/local/bin", "/usr/local/pgsql/bin"].map(PathBuf::from));
    // A symbolic link leads to the folder with all programs.
    let whole = |folder: &Path| Some(folder.join("initdb").canonicalize().ok()?.parent()?.to_owned());
    let has_all = |folder: &PathBuf| ["postgres", "pg_ctl"].iter().all(|name| folder.join(name).is_file());
    let found = folders.iter().filter_map(|folder| whole(folder)).find(has_all);
    found.ok_or_else(|| "initdb is neither in PATH nor in /usr/lib/postgresql/*/bin".to_owned())
}

/// Creates a cluster in the folder `$2` with the port `$3`, and with TLS if there is a `$CERTIFICATE`. Keeps it until standard input closes. Only the tests' process holds the
/// other end of that pipe, so it closes however the tests end. Each line from it is a mode to restart in.
const KEEPER: &str = r#"
bin=$1 folder=$2 port=$3
trap '{ "$bin/pg_ctl" stop -D "$folder/data" -m immediate; rm -rf "$folder"; } >/dev/null 2>&1' EXIT
trap 'exit 1' HUP INT TERM
{
    "$bin/initdb" -D "$folder/data" --username=rollcall --auth=trust --encoding=UTF8 --no-locale --no-sync &&
    cat >>"$folder/data/postgresql.conf" <<END &&
listen_addresses = ''
port = $port
unix_socket_directories = '$folder'
max_connections = 500
fsync = off
synchronous_commit = off
full_page_writes = off
END
    if [ -n "${DURABLE:-}" ]; then echo 'synchronous_commit = on' >>"$folder/data/postgresql.conf"; fi &&
    if [ -n "${CERTIFICATE:-}" ]; then
        umask 077 &&
        printf %s "$CERTIFICATE" >"$folder/data/server.crt" && printf %s "$KEY" >"$folder/data/server.key" &&
        printf "ssl = on\nlisten_addresses = '127.0.0.1'\n" >>"$folder/data/postgresql.conf"
    fi &&
    "$bin/pg_ctl" start -D "$folder/data" -l "$folder/server.log" -w
} </dev/null >"$folder/log" 2>&1 || { cat "$folder/log" "$folder/server.log"; exit 1; }
echo ready
while read -r mode; do
    "$bin/pg_ctl" restart -D "$folder/data" -l "$folder/server.log" -m "$mode" -w </dev/null >>"$folder/log" 2>&1 &&
        echo restarted
done
"#;

/// A running server with nothing in it except the tests' databases.
pub struct Cluster {
    folder: PathBuf,
    port: u16,
    /// The server runs until these are closed.
    keeper: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    /// How a template is copied: as files, which is four times as fast as through the log, the default since version
    /// 15.
    copied: &'static str,
    next: AtomicU32,
    released: Mutex<Vec<String>>,
}

static CLUSTER: OnceCell<Result<Cluster, String>> = OnceCell::const_new();

impl Cluster {
    /// The template: a migrated database.
    pub const MIGRATED: &str = "migrated";

    /// The cluster of this process.
    pub async fn running() -> &'static Self {
        match CLUSTER.get_or_init(|| Self::start(5432, &[])).await {
            Ok(cluster) => cluster,
            Err(why) => panic!("no cluster: {why}"),
        }
    }

    /// Starts one that is reached at a port of 127.0.0.1 by TLS, with this certificate and key.
    pub async fn with_tls(certificate: &str, key: &str) -> Result<(Self, u16), String> {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        Ok((Self::start(port, &[("CERTIFICATE", certificate), ("KEY", key)]).await?, port))
    }

    /// Starts one whose commits survive a restart in any mode.
    pub async fn durable() -> Result<Self, String> {
        Self::start(5432, &[("DURABLE", "1")]).await
    }

    /// Restarts the server, and waits until it accepts connections.
    pub fn restart(&self, mode: &str) {
        let (command, said) = &mut *self.keeper.lock().expect("nobody panics with it");
        writeln!(command, "{mode}").expect("a command");
        let mut text = String::new();
        said.read_line(&mut text).expect("a line");
        assert_eq!(text, "restarted\n", "{mode}");
    }

    /// The socket that the server listens on.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    async fn start(port: u16, settings: &[(&str, &str)]) -> Result<Self, String> {
        let programs = programs()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "sh"]).arg(&programs).arg(folder.path()).arg(port.to_string()).current_dir("/");
        keeper.envs(settings.iter().copied());
        // In its own process group, so that a Ctrl+C for the tests does not stop it before it has cleaned up.
        keeper.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        if number("-u", None) == Some(0) {
            // The server refuses to run as root.
            let user = ["postgres", "nobody"]
                .into_iter()
                .find_map(|user| number("-u", Some(user)).zip(number("-g", Some(user))));
            let (user, group) =
                user.ok_or("the server may not run as root, and there is no user postgres or nobody")?;
            chown(folder.path(), Some(user), Some(group)).map_err(|error| error.to_string())?;
            keeper.uid(user).gid(group);
        }
        let mut keeper = keeper.spawn().map_err(|error| error.to_string())?;
        // From here on the script removes the folder.
        let folder = folder.keep();
        let until_we_end = keeper.stdin.take().ok_or("no standard input")?;
        let mut said = BufReader::new(keeper.stdout.take().ok_or("no standard output")?);
        let mut text = String::new();
        said.read_line(&mut text).map_err(|error| error.to_string())?;
        if text != "ready\n" {
            said.read_to_string(&mut text).map_err(|error| error.to_string())?;
            return Err(text);
        }
        let (next, released) = Default::default();
        let mut cluster = Self { folder, port, keeper: Mutex::new((until_we_end, said)), copied: "", next, released };
        let why = |error: &dyn std::fmt::Display| error.to_string();
        let connection = PgConnection::connect(&cluster.url("postgres")).await.map_err(|error| why(&error))?;
        if connection.server_version_num() >= Some(150_000) {
            cluster.copied = "STRATEGY file_copy";
        }
        connection.close().await.map_err(|error| why(&error))?;
        cluster.run([format!("CREATE DATABASE {}", Self::MIGRATED)]).await.map_err(|error| why(&error))?;
        let migrated = db::connect(&cluster.url(Self::MIGRATED)).await.map_err(|error| why(&error))?;
        db::migrate(&migrated).await.map_err(|error| why(&error))?;
        migrated.close().await.map_err(|error| why(&error))?;
        Ok(cluster)
    }

    /// The URL of a database. Names the port, so that no environment variable overrides it.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://rollcall@localhost:{}/{name}?host={}", self.port, self.folder.display())
    }

    /// Creates a database and returns its name.
    pub async fn create(&self, template: &str) -> String {
        let name = format!("test_{}", self.next.fetch_add(1, Ordering::Relaxed));
        // A finished test does not wait for its database to be removed; the next one removes it, so that they do not
        // pile up.
        let released = std::mem::take(&mut *self.released.lock().expect("nobody panics with it"));
        let drops = released.iter().map(|name| format!("DROP DATABASE {name} WITH (FORCE)"));
        let made = self.run(drops.chain([format!("CREATE DATABASE {name} TEMPLATE {template} {}", self.copied)])).await;
        made.unwrap_or_else(|error| panic!("no database: {error}"));
        name
    }

    /// Marks the database for removal.
    pub fn release(&self, name: String) {
        self.released.lock().expect("nobody panics with it").push(name);
    }

    async fn run(&self, statements: impl IntoIterator<Item = String>) -> Result<(), sqlx::Error> {
        let mut connection = PgConnection::connect(&self.url("postgres")).await?;
        for statement in statements {
            connection.execute(AssertSqlSafe(statement)).await?;
        }
        connection.close().await
    }
}

/// Runs `id` for a user, or for the current one.
fn number(flag: &str, user: Option<&str>) -> Option<u32> {
    let done = Command::new("id").arg(flag).args(user).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(done.stdout).ok()?.trim().parse().ok()
}
