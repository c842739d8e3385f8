//! Reads what the generator needs from a checkout of rollcall. Only this module of the generator reads files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::bindings::TYPES;
use super::{Bindings, Contract, check};

/// The SDL.
pub const SDL: &str = "schema/schema.graphql";
/// The folder of the entities.
const ENTITIES: &str = "src/catalogue/entity";
/// The folder of the nouns' resolvers.
const NOUNS: &str = "src/catalogue/graphql";

/// What [`Checkout::contract`] reads, without the names of the nouns' files.
pub const READ: [&str; 3] = [SDL, TYPES, ENTITIES];

/// A checkout. Paths in its answers and errors are relative to its root.
#[derive(Debug, Clone, Copy)]
pub struct Checkout<'a> {
    /// The folder that has `Cargo.lock`.
    pub root: &'a Path,
}

impl Checkout<'_> {
    /// Reads and checks the SDL, and what it is bound to.
    ///
    /// # Errors
    /// A file that cannot be read, or every mistake in one, with its location.
    pub fn contract(&self) -> Result<(Contract, Bindings), String> {
        let bindings = self.bindings()?;
        let contract = check(SDL, &self.read(SDL)?, &bindings).map_err(|mistakes| mistakes.to_string())?;
        Ok((contract, bindings))
    }

    /// Reads what the SDL is bound to.
    ///
    /// # Errors
    /// As [`Checkout::contract`].
    pub fn bindings(&self) -> Result<Bindings, String> {
        let mut bindings = Bindings::read(TYPES, &self.read(TYPES)?).map_err(|mistakes| mistakes.to_string())?;
        for file in self.files(ENTITIES, ".rs")? {
            bindings.add_entity(&file, &self.read(&file)?)?;
        }
        for folder in self.tree(NOUNS)? {
            self.files(&folder, ".rs")?.iter().for_each(|file| bindings.add_file(file));
        }
        Ok(bindings)
    }

    /// Lists the files in a folder whose names end so, sorted by name.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn files(&self, folder: &str, ending: &str) -> Result<Vec<String>, String> {
        let entries = self.listed(folder)?.into_iter().filter(|(name, path)| name.ends_with(ending) && path.is_file());
        Ok(entries.map(|(name, _)| name).collect())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, file: &str) -> Result<String, String> {
        fs::read_to_string(self.root.join(file)).map_err(|error| unread(file, &error))
    }

    /// Lists a folder and all folders below it, each before those that are in it.
    fn tree(&self, folder: &str) -> Result<Vec<String>, String> {
        let mut folders = vec![folder.to_owned()];
        for (name, _) in self.listed(folder)?.into_iter().filter(|(_, path)| path.is_dir()) {
            folders.extend(self.tree(&name)?);
        }
        Ok(folders)
    }

    /// Lists what is in a folder, sorted by name. An entry whose name is not text is left out.
    fn listed(&self, folder: &str) -> Result<Vec<(String, PathBuf)>, String> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.root.join(folder)).map_err(|error| unread(folder, &error))? {
            let path = entry.map_err(|error| unread(folder, &error))?.path();
            if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
                entries.push((format!("{folder}/{name}"), path));
            }
        }
        entries.sort();
        Ok(entries)
    }
}

fn unread(path: &str, error: &io::Error) -> String {
    format!("{path} cannot be read: {error}")
}
