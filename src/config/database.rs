//! The database that a command uses, and the replica that the server reads at.

use std::path::PathBuf;

use clap::Args;
use clap::builder::StringValueParser;

use super::trimmed::{path, read_file, trimmed};
use crate::db;

/// The URL of the database, unless another is given.
const DEFAULT: &str = "sqlite://rollcall.db";

/// The database.
#[derive(Debug, Clone, Args)]
pub struct Database {
    /// The database: sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE. New files get mode 0600; if other users
    /// can read an existing one, run: chmod 600 FILE FILE-wal FILE-shm
    #[arg(
        long,
        value_name = "URL",
        env = "DATABASE_URL",
        hide_env_values = true,
        default_value = DEFAULT,
        value_parser = trimmed(StringValueParser::new())
    )]
    database_url: String,
    /// A file with the database URL, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "DATABASE_URL_FILE", conflicts_with = "database_url", value_parser = path())]
    database_url_file: Option<PathBuf>,
}

impl Database {
    /// Returns the database URL.
    ///
    /// # Errors
    /// The URL is blank or malformed, or its file cannot be read, in one sentence that names the setting.
    pub fn url(&self) -> Result<String, String> {
        // A blank URL must not mean the default: a server whose secret is missing would start with an empty catalogue.
        const BLANK: &str = "the database URL is blank: set DATABASE_URL, or remove it to use sqlite://rollcall.db";
        let (url, setting) = match &self.database_url_file {
            None if self.database_url.is_empty() => return Err(BLANK.to_owned()),
            None => (self.database_url.clone(), "DATABASE_URL or --database-url"),
            Some(file) => {
                let setting = "DATABASE_URL_FILE or --database-url-file";
                (read_file("the database URL", setting, file)?, setting)
            }
        };
        db::url_fault(&url).map_or(Ok(url), |fault| Err(format!("the database URL (from {setting}) {fault}")))
    }

    /// Returns the flag that names this database to another command, after a space. Empty for the default. Shows no
    /// password.
    pub fn flag(&self) -> String {
        match (&self.database_url_file, &*self.database_url) {
            (Some(file), _) => format!(" --database-url-file {}", quoted(&file.display().to_string())),
            (None, DEFAULT) => String::new(),
            (None, url) => format!(" --database-url {}", quoted(&without_password(url))),
        }
    }
}

/// Removes the password from a URL, and every parameter that may hold one.
fn without_password(url: &str) -> String {
    if url.starts_with("sqlite:") {
        return url.to_owned();
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    // A password may contain @, so it ends at the last one.
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (format!("{}@", user.split(':').next().unwrap_or_default()), place),
        None => (String::new(), rest),
    };
    let (place, parameters) = place.split_once('?').unwrap_or((place, ""));
    let is_shown = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default().to_lowercase();
        !name.is_empty() && !name.contains("pass") && !name.contains('%')
    };
    let parameters = parameters.split('&').filter(is_shown).collect::<Vec<_>>().join("&");
    let mark = if parameters.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{place}{mark}{parameters}")
}

/// Quotes a word for a shell, if necessary.
fn quoted(word: &str) -> String {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@%+,=".contains(&byte));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The replica that queries read at.
#[derive(Debug, Clone, Args)]
pub struct ReadDatabase {
    /// A replica of the PostgreSQL database, a standby server, that queries read at: postgres://USER:PASSWORD@HOST/DATABASE
    /// [default: none]
    #[arg(long, value_name = "URL", env = "READ_DATABASE_URL", hide_env_values = true, value_parser = trimmed(StringValueParser::new()))]
    read_database_url: Option<String>,
    /// A file with the replica's URL, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "READ_DATABASE_URL_FILE", conflicts_with = "read_database_url", value_parser = path())]
    read_database_url_file: Option<PathBuf>,
}

impl ReadDatabase {
    /// Returns the URL of the replica, if there is one.
    ///
    /// # Errors
    /// The URL is blank or malformed, or its file cannot be read, in one sentence that names the setting.
    pub fn url(&self) -> Result<Option<String>, String> {
        let (url, setting) = match (&self.read_database_url_file, &self.read_database_url) {
            (Some(file), _) => {
                let setting = "READ_DATABASE_URL_FILE or --read-database-url-file";
                (read_file("the replica's URL", setting, file)?, setting)
            }
            (None, Some(url)) if url.is_empty() => {
                return Err("the URL of the replica is blank: set READ_DATABASE_URL, or remove it".to_owned());
            }
            (None, Some(url)) => (url.clone(), "READ_DATABASE_URL or --read-database-url"),
            (None, None) => return Ok(None),
        };
        db::url_fault(&url).map_or(Ok(Some(url)), |fault| Err(format!("the replica's URL (from {setting}) {fault}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_names_the_database_without_its_password() {
        let flag = |url: &str| Database { database_url: url.to_owned(), database_url_file: None }.flag();
        for (url, expected) in [
            ("sqlite://rollcall.db", ""),
            ("sqlite://other.db", " --database-url sqlite://other.db"),
            ("sqlite:///srv/my catalogue.db", " --database-url 'sqlite:///srv/my catalogue.db'"),
            ("postgres://ada@host/db", " --database-url postgres://ada@host/db"),
            ("postgres://ada:geheim@host:5432/db", " --database-url postgres://ada@host:5432/db"),
            ("postgres://ada:g@h/e?i:m@host/db", " --database-url postgres://ada@host/db"),
            (
                "postgres://host/db?user=ada&password=geheim&sslmode=require",
                " --database-url 'postgres://host/db?user=ada&sslmode=require'",
            ),
            ("postgres://ada@host/db?sslpassword=geheim", " --database-url postgres://ada@host/db"),
            ("postgres://host/db?p%61ssword=geheim", " --database-url postgres://host/db"),
        ] {
            assert_eq!(flag(url), expected, "{url}");
        }
        let file = Database { database_url: DEFAULT.to_owned(), database_url_file: Some("/run/it's".into()) };
        assert_eq!(file.flag(), r" --database-url-file '/run/it'\''s'");
    }
}
