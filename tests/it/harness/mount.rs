//! Whether tests can mount a file system of their own.

use std::process::Command;

/// Whether this user can mount a file system, in a namespace. Says aloud if not.
pub fn can_mount() -> bool {
    let mut mount = Command::new("unshare");
    mount.args(["--map-root-user", "--mount", "sh", "-c"]);
    mount.arg("mount -t tmpfs none /mnt && unshare --user --map-user=65534 --map-group=65534 true");
    works(&mut mount)
}

pub fn works(command: &mut Command) -> bool {
    let why = match command.output() {
        Ok(tried) if tried.status.success() => return true,
        Ok(tried) => String::from_utf8_lossy(&tried.stderr).trim().to_owned(),
        Err(error) => format!("unshare: {error}"),
    };
    assert!(std::env::var_os("CI").is_none(), "no file system can be mounted: {why}");
    crate::harness::say_aloud(&format!("left out: a full disk; no file system can be mounted: {why}"));
    false
}
