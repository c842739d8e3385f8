//! Part of `build.rs`: embeds the files of the built explorer.

use std::path::Path;
use std::{fs, io};

/// Generates an array of the files in `folder`, each with name and content. They are compressed: `x.js.gz` is listed as
/// `x.js`.
pub fn table(folder: &Path) -> io::Result<String> {
    let folder = folder.canonicalize()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().into_string().map_err(|name| io::Error::other(format!("{name:?} is no text")))?;
        names.extend(name.strip_suffix(".gz").map(str::to_owned));
    }
    names.sort();
    let row = |name: &String| format!("    ({name:?}, include_bytes!({:?})),\n", folder.join(format!("{name}.gz")));
    Ok(format!("&[\n{}]\n", names.iter().map(row).collect::<String>()))
}
