//! The database that a command uses.

use std::fs;
use std::path::PathBuf;

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
            Some(file) => fs::read_to_string(file)
                .map_err(|error| format!("the database URL cannot be read from {}: {error}", file.display()))?,
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
