//! The database that a command uses, and the replica that the server reads at.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

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
        default_value = DEFAULT
    )]
    database_url: String,
    /// A file with the database URL, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "DATABASE_URL_FILE", conflicts_with = "database_url")]
    database_url_file: Option<PathBuf>,
}

impl Database {
    /// Returns the database URL.
    ///
    /// # Errors
    /// The URL is blank, or its file cannot be read, in one sentence.
    pub fn url(&self) -> Result<String, String> {
        let url = match &self.database_url_file {
            None => self.database_url.clone(),
            Some(file) => read("the database URL", file)?,
        };
        // A blank URL must not mean the default: a server whose secret is missing would start with an empty catalogue.
        match url.trim() {
            "" => {
                Err("the database URL is blank: set DATABASE_URL, or remove it to use sqlite://rollcall.db".to_owned())
            }
            url => Ok(url.to_owned()),
        }
    }

    /// Returns the flag that names this database to another command, after a space. Empty for the default. Shows no
    /// password.
    pub fn flag(&self) -> String {
        match (&self.database_url_file, self.database_url.trim()) {
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
    #[arg(long, value_name = "URL", env = "READ_DATABASE_URL", hide_env_values = true)]
    read_database_url: Option<String>,
    /// A file with the replica's URL, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "READ_DATABASE_URL_FILE", conflicts_with = "read_database_url")]
    read_database_url_file: Option<PathBuf>,
}

impl ReadDatabase {
    /// Returns the URL of the replica, if there is one.
    ///
    /// # Errors
    /// The URL is blank, or its file cannot be read, in one sentence.
    pub fn url(&self) -> Result<Option<String>, String> {
        let url = match &self.read_database_url_file {
            None => self.read_database_url.clone(),
            Some(file) => Some(read("the replica's URL", file)?),
        };
        match url.as_deref().map(str::trim) {
            Some("") => Err("the URL of the replica is blank: set READ_DATABASE_URL, or remove it".to_owned()),
            url => Ok(url.map(str::to_owned)),
        }
    }
}

fn read(what: &str, file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{what} cannot be read from {}: {error}", file.display()))
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
