//! A private PostgreSQL in a temporary folder, from the installed programs. It is removed when the process that started
//! it ends, however that ends.
//!
//! Shared by the tests and by `benches/load`.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use tokio_postgres::{NoTls, SimpleQueryMessage};

/// The folder of PostgreSQL's programs, or why there is none.
pub fn programs() -> Result<PathBuf, String> {
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

/// Creates a cluster in the folder `$2` with the port `$3` and the settings `$4`, and with TLS if there is a
/// `$CERTIFICATE`. The user `certified` must have a certificate that `$AUTHORITY` has signed. Keeps it until standard
/// input closes. Only our process holds the other end of that pipe, so it closes however we end. Each line from it is a
/// mode to restart in, or `fill` or `free` and one of the disks of [`ON_DISKS`], or `standby` to add a replica at the
/// next port, or `promote` to let it accept writes.
const KEEPER: &str = r#"
bin=$1 folder=$2 port=$3 settings=$4
ulimit -c 0
trap '{
    for server in standby data; do "$bin/pg_ctl" stop -D "$folder/$server" -m immediate; done; rm -rf "$folder"
} >/dev/null 2>&1' EXIT
trap 'exit 1' HUP INT TERM
{
    "$bin/initdb" -D "$folder/data" --username=rollcall --auth=trust --encoding=UTF8 --no-locale --no-sync ${INITDB:-} &&
    cat >>"$folder/data/postgresql.conf" <<END &&
listen_addresses = ''
port = $port
unix_socket_directories = '$folder'
max_connections = 500
$settings
END
    if [ -n "${CERTIFICATE:-}" ]; then
        umask 077 &&
        printf %s "$CERTIFICATE" >"$folder/data/server.crt" && printf %s "$KEY" >"$folder/data/server.key" &&
        printf %s "$AUTHORITY" >"$folder/data/root.crt" &&
        printf "ssl = on\nssl_ca_file = 'root.crt'\nlisten_addresses = '127.0.0.1'\n" >>"$folder/data/postgresql.conf" &&
        sed -i '1i hostssl all certified all cert' "$folder/data/pg_hba.conf"
    fi &&
    "$bin/pg_ctl" start -D "$folder/data" -l "$folder/server.log" -w
} </dev/null >"$folder/log" 2>&1 || { cat "$folder/log" "$folder/server.log"; exit 1; }
echo ready
pg_ctl() { "$bin/pg_ctl" "$@" -D "$folder/data" -l "$folder/server.log" -w </dev/null >>"$folder/log" 2>&1; }
while read -r mode disk; do
    case $mode in
    fill)
        # The server frees a little now and then.
        touch "$folder/is-full"
        while [ -e "$folder/is-full" ]; do cat /dev/zero >>"$folder/$disk/ballast"; sleep 0.1; done 2>/dev/null &
        filler=$!
        until [ -s "$folder/$disk/ballast" ]; do sleep 0.01; done
        echo filled
        ;;
    free)
        rm "$folder/is-full"
        wait "$filler"
        rm "$folder/$disk/ballast"
        # Without room for its log, it has ended.
        until "$bin/pg_ctl" status -D "$folder/data" >/dev/null 2>&1 && grep -q ^ready "$folder/data/postmaster.pid"; do
            pg_ctl start || sleep 0.1
        done
        echo freed
        ;;
    standby)
        "$bin/pg_basebackup" -D "$folder/standby" -R -h "$folder" -p "$port" -U rollcall -c fast --no-sync </dev/null \
            >>"$folder/log" 2>&1 &&
        echo "port = $((port + 1))" >>"$folder/standby/postgresql.conf" &&
        "$bin/pg_ctl" start -D "$folder/standby" -l "$folder/standby.log" -w </dev/null >>"$folder/log" 2>&1 &&
        echo "standing by"
        ;;
    promote) "$bin/pg_ctl" promote -D "$folder/standby" -w </dev/null >>"$folder/log" 2>&1 && echo promoted ;;
    *) pg_ctl restart -m "$mode" && echo restarted ;;
    esac
done
"#;

/// Runs a keeper with two small disks, which are file systems in memory of the size `$DISK`: `data`, and `wal` for the
/// log. The files of the log are small, so that it soon needs a new one. Needs no privileges: in its own namespaces
/// this user is root, and then another one, because the server refuses to run as root.
const ON_DISKS: &str = r#"
folder=$5
export folder INITDB="--wal-segsize=1 --waldir=$folder/wal"
mkdir "$folder/data" "$folder/wal"
unshare --map-root-user --mount sh -c '
    for disk in data wal; do mount -t tmpfs -o "size=$DISK,mode=700" none "$folder/$disk" || exit 1; done
    exec unshare --user --map-user=65534 --map-group=65534 sh "$@"
' sh "$@"
rm -rf "$folder"
"#;

/// Runs statements, each by itself, on a database of its own connection. Returns the first column of their rows.
pub async fn execute(url: &str, statements: impl IntoIterator<Item = String>) -> Result<Vec<String>, String> {
    let why = |error: tokio_postgres::Error| error.as_db_error().map_or(error.to_string(), ToString::to_string);
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(why)?;
    let connection = tokio::spawn(connection);
    let mut texts = Vec::new();
    for statement in statements {
        for answer in client.simple_query(&statement).await.map_err(why)? {
            if let SimpleQueryMessage::Row(row) = answer {
                texts.extend(row.get(0).map(str::to_owned));
            }
        }
    }
    drop(client);
    // The server has noticed that it is gone.
    connection.await.map_err(|error| error.to_string())?.map_err(why)?;
    Ok(texts)
}

/// A running server. It stops, and its folder is removed, when this is dropped or our process ends.
pub struct Running {
    /// The folder of its socket, in which `data` holds the databases.
    pub folder: PathBuf,
    port: u16,
    keeper: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Running {
    /// Starts one with these lines in its configuration. `environment` may hold the `CERTIFICATE`, its `KEY` and
    /// its `AUTHORITY`; or the size of the `DISK` for the databases, and of the one for the log.
    ///
    /// # Errors
    /// Why it cannot, possibly on several lines.
    pub fn start(port: u16, settings: &str, environment: &[(&str, &str)]) -> Result<Self, String> {
        let is_on_disks = environment.iter().any(|(name, _)| *name == "DISK");
        let programs = programs()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut keeper = Command::new("sh");
        if is_on_disks {
            keeper.args(["-c", ON_DISKS, "sh"]);
        }
        keeper.args(["-c", KEEPER, "sh"]).arg(&programs).arg(folder.path()).args([&port.to_string(), settings]);
        keeper.current_dir("/").envs(environment.iter().copied());
        // In its own process group, so that a Ctrl+C for us does not stop it before it has cleaned up.
        keeper.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        if number("-u", None) == Some(0) && !is_on_disks {
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
        Ok(Self { folder, port, keeper: Mutex::new((until_we_end, said)) })
    }

    /// Restarts the server, and waits until it accepts connections.
    pub fn restart(&self, mode: &str) {
        self.tell(mode, "restarted\n");
    }

    /// Fills a disk: `data` or `wal`.
    pub fn fill(&self, disk: &str) {
        self.tell(&format!("fill {disk}"), "filled\n");
    }

    /// Makes room on a disk again, and waits until the server accepts connections. Starts it if it has ended.
    pub fn free(&self, disk: &str) {
        self.tell(&format!("free {disk}"), "freed\n");
    }

    /// Adds a standby server, which replays what this one writes. Returns its socket.
    pub fn add_standby(&self) -> PathBuf {
        self.tell("standby", "standing by\n");
        self.folder.join(format!(".s.PGSQL.{}", self.port + 1))
    }

    /// Makes the standby server one that accepts writes.
    pub fn promote_standby(&self) {
        self.tell("promote", "promoted\n");
    }

    fn tell(&self, order: &str, expected: &str) {
        let (command, said) = &mut *self.keeper.lock().expect("nobody panics with it");
        writeln!(command, "{order}").expect("a command");
        let mut text = String::new();
        said.read_line(&mut text).expect("a line");
        assert_eq!(text, expected, "{order}");
    }

    /// The socket that it listens on.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    /// The URL of a database. Names the port, so that no environment variable overrides it.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://rollcall@localhost:{}/{name}?host={}", self.port, self.folder.display())
    }
}

/// Runs `id` for a user, or for the current one.
fn number(flag: &str, user: Option<&str>) -> Option<u32> {
    let done = Command::new("id").arg(flag).args(user).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(done.stdout).ok()?.trim().parse().ok()
}
