//! The database that a command uses, and the replica that the server reads at.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

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
        default_value = "sqlite://rollcall.db"
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
