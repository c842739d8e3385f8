//! Part of `build.rs`: the files of the built explorer, as Rust.

use std::path::Path;
use std::{fs, io};

/// An array of the names in `folder` and of what is in each. The files are packed: `x.js.gz` is told of as `x.js`.
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
