//! What a URL of PostgreSQL does not say, as libpq finds it: in the environment, in the file of passwords, and on the
//! machine.

use std::env::{home_dir, var, var_os};
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ::url::Url;
use percent_encoding::percent_decode_str;
use tracing::warn;

use super::tls::Mode;
use crate::db::{OpenError, url};

/// The folders in which a server on this machine usually has its socket.
const FOLDERS: [&str; 3] = ["/var/run/postgresql", "/private/tmp", "/tmp"];

/// How to connect to one host.
#[derive(Debug, Clone)]
pub(in crate::db) struct Options {
    /// A name, an address, or the folder of a socket.
    pub(in crate::db) host: String,
    pub(in crate::db) port: u16,
    pub(in crate::db) user: String,
    pub(in crate::db) password: Option<String>,
    pub(in crate::db) database: Option<String>,
    pub(in crate::db) application_name: String,
    /// The server's settings for the connection: `-c NAME=VALUE …`.
    pub(in crate::db) settings: String,
    /// The mode that the environment asks for.
    pub(in crate::db) ssl_mode: Option<Mode>,
    pub(in crate::db) roots: Option<PathBuf>,
    pub(in crate::db) certificate: Option<PathBuf>,
    pub(in crate::db) key: Option<PathBuf>,
}

impl Options {
    /// Reads a URL with one host, or none. What it does not say is the environment's.
    pub(in crate::db) fn from_url(url: &Url) -> Result<Self, OpenError> {
        let mut options = Self::from_environment();
        let decoded = |text: &str| Ok(percent_decode_str(text).decode_utf8().map_err(|_| wrong())?.into_owned());
        if let Some(host) = url.host_str() {
            options.host = decoded(host)?;
        }
        if let Some(port) = url.port() {
            options.port = port;
        }
        if !url.username().is_empty() {
            options.user = decoded(url.username())?;
        }
        if let Some(password) = url.password() {
            options.password = Some(decoded(password)?);
        }
        let database = url.path().trim_start_matches('/');
        if !database.is_empty() {
            options.database = Some(decoded(database)?);
        }
        for (name, value) in url.query_pairs() {
            options.take(&name, value.into_owned())?;
        }
        if options.password.is_none() {
            options.password = options.password_of_file();
        }
        Ok(options)
    }

    fn from_environment() -> Self {
        let port = var("PGPORT").ok().and_then(|port| port.parse().ok()).unwrap_or(5432);
        let file = |name| var_os(name).map(PathBuf::from);
        Self {
            host: var("PGHOSTADDR").or_else(|_| var("PGHOST")).unwrap_or_else(|_| usual_host(port)),
            port,
            user: var("PGUSER").ok().or_else(|| whoami::username().ok()).unwrap_or_else(|| "unknown".to_owned()),
            password: var("PGPASSWORD").ok(),
            database: var("PGDATABASE").ok(),
            application_name: var("PGAPPNAME").unwrap_or_default(),
            settings: var("PGOPTIONS").unwrap_or_default(),
            ssl_mode: var("PGSSLMODE").ok().and_then(|word| match word.to_ascii_lowercase().as_str() {
                "disable" => Some(Mode::Disable),
                "allow" => Some(Mode::Allow),
                "require" => Some(Mode::Require),
                "verify-ca" => Some(Mode::VerifyCa),
                "verify-full" => Some(Mode::VerifyFull),
                // Libpq's default, which asks for nothing.
                _ => None,
            }),
            roots: file("PGSSLROOTCERT"),
            certificate: file("PGSSLCERT"),
            key: file("PGSSLKEY"),
        }
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), OpenError> {
        match name {
            "host" => self.host = value,
            "hostaddr" => {
                value.parse::<IpAddr>().map_err(|_| wrong())?;
                self.host = value;
            }
            "port" => self.port = value.parse().map_err(|_| wrong())?,
            "user" => self.user = value,
            "password" => self.password = Some(value),
            "dbname" => self.database = Some(value),
            "application_name" => self.application_name = value,
            "sslrootcert" => self.roots = Some(value.into()),
            "sslcert" => self.certificate = Some(value.into()),
            "sslkey" => self.key = Some(value.into()),
            "options" => self.add_settings(&value),
            name => {
                if let Some(setting) = name.strip_prefix("options[").and_then(|name| name.strip_suffix(']')) {
                    let value = value.replace('\\', "\\\\").replace(' ', "\\ ");
                    self.add_settings(&format!("-c {setting}={value}"));
                }
            }
        }
        Ok(())
    }

    fn add_settings(&mut self, settings: &str) {
        if !self.settings.is_empty() {
            self.settings.push(' ');
        }
        self.settings.push_str(settings);
    }

    /// The folder of the server's socket.
    pub(in crate::db) fn folder(&self) -> Option<&Path> {
        self.host.starts_with('/').then(|| Path::new(&self.host))
    }

    /// Whether the server is on this machine.
    pub(in crate::db) fn is_local(&self) -> bool {
        let address = self.host.trim_matches(['[', ']']).parse::<IpAddr>();
        self.folder().is_some() || self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// The password in the file that `PGPASSFILE` names, or in `.pgpass`.
    fn password_of_file(&self) -> Option<String> {
        let named = var_os("PGPASSFILE").map(PathBuf::from);
        let usual = home_dir().map(|home| home.join(".pgpass"));
        [named, usual].into_iter().flatten().find_map(|file| self.password_in(&read_private(&file)?))
    }

    /// The password on the first line that matches: `host:port:database:user:password`.
    fn password_in(&self, text: &str) -> Option<String> {
        let port = self.port.to_string();
        let wanted = [&*self.host, &port, self.database.as_ref().unwrap_or(&self.user), &self.user];
        text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let mut fields = fields(line).into_iter();
            let matches =
                wanted.iter().all(|wanted| fields.next().is_some_and(|field| field == "*" || field == *wanted));
            if matches { fields.next() } else { None }
        })
    }
}

fn wrong() -> OpenError {
    OpenError::Url(url::POSTGRES.to_owned())
}

/// The folder of the socket of a server on this machine, or `localhost` if there is none.
fn usual_host(port: u16) -> String {
    let has_socket = |folder: &&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
    FOLDERS.into_iter().find(has_socket).unwrap_or("localhost").to_owned()
}

/// Reads a file of passwords. Like libpq, ignores one that others can read.
fn read_private(file: &Path) -> Option<String> {
    let mode = fs::metadata(file).ok()?.permissions().mode();
    if mode & 0o077 != 0 {
        warn!(file = %file.display(), "ignoring the file of passwords: other users can read it; set its mode to 0600");
        return None;
    }
    fs::read_to_string(file).ok()
}

/// The five fields of a line. A backslash escapes a colon or a backslash.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let is_last = fields.len() == 5;
        match letter {
            ':' if !is_last => fields.push(String::new()),
            letter => {
                let letter = if letter == '\\' { letters.next() } else { Some(letter) };
                if let Some(field) = fields.last_mut() {
                    field.extend(letter);
                }
            }
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(url: &str) -> Options {
        Options::from_url(&Url::parse(url).expect("a URL")).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    #[test]
    fn a_file_of_passwords_is_read_as_libpq_reads_it() {
        let wanted = options("postgres://ada@db.example.com:5433/catalogue");
        for (file, password) in [
            ("db.example.com:5433:catalogue:ada:secret", Some("secret")),
            ("# db.example.com:5433:catalogue:ada:no\n*:*:*:ada:p\\:a\\\\ss:word", Some("p:a\\ss:word")),
            ("other:*:*:*:no\n*:5432:*:*:no\n*:*:*:*:last\n", Some("last")),
            ("*:*:*:eve:no", None),
            ("*:*:*", None),
            ("", None),
        ] {
            assert_eq!(wanted.password_in(file).as_deref(), password, "{file}");
        }
    }

    #[test]
    fn a_parameter_prevails_over_what_stands_before_it() {
        let options = options(
            "postgres://ada:one@db.example.com/catalogue?user=eve&password=two&dbname=other&port=5434&host=/run/pg\
             &options=-c%20a%3D1&options[b]=two%20words",
        );
        let read = (&*options.user, options.password.as_deref(), options.database.as_deref(), options.port);
        assert_eq!(read, ("eve", Some("two"), Some("other"), 5434));
        assert_eq!(options.folder(), Some(Path::new("/run/pg")));
        assert!(options.settings.ends_with("-c a=1 -c b=two\\ words"), "{}", options.settings);
        assert!(options.is_local());
    }
}
