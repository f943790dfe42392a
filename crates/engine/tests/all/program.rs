//! Programs that tests start: where they are, signals to them.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, thread};

/// A program that is killed when it goes out of scope.
pub(crate) struct Program(pub(crate) Child);

impl Program {
    pub(crate) fn start(command: &mut Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(quiet.spawn().expect("the program starts"))
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// The program and the programs that it started.
    pub(crate) fn family(&self) -> Vec<u32> {
        let id = self.0.id();
        let found = Command::new("pgrep").args(["-P", &id.to_string()]).output();
        let text = found.map(|output| output.stdout).unwrap_or_default();
        let children = String::from_utf8_lossy(&text);
        children.lines().filter_map(|line| line.parse().ok()).chain([id]).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal, such as `STOP`, to programs that this test started.
pub(crate) fn signal(name: &str, ids: &[u32]) {
    let ids = ids.iter().map(u32::to_string);
    let _ = Command::new("kill").arg(format!("-{name}")).args(ids).stderr(Stdio::null()).status();
}

/// The path of a program on the PATH, or in one of some folders.
pub(crate) fn find(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(folders.iter().cloned());
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The folders below another one, at one depth.
pub(crate) fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = parent.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path().join("bin")).collect()
}

/// Says that this test needs a program that is not installed: in its output, and in the file that
/// scripts/skipped.mjs reads.
pub(crate) fn skip(program: &str) {
    let runner = env::var("NEXTEST_TEST_NAME").ok();
    let test = runner.or_else(|| thread::current().name().map(str::to_owned)).unwrap_or_default();
    println!("skipped: {test} needs {program}");
    if let Some(file) = env::var_os("GROUPWIRE_SKIPPED") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
        // The text is written in one call, because other tests write at the same time.
        file.write_all(format!("{test}: needs {program}\n").as_bytes()).unwrap();
    }
}
