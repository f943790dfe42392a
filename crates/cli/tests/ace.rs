//! Runs of `groupwire ace profile`.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use groupwire_tunnel::profile;

fn run(arguments: &[&str], data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    command.env("XDG_DATA_HOME", data).args(["ace", "profile"]).args(arguments).output().unwrap()
}

/// Creates an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ace").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a file of text in which no two blocks are equal.
fn text(folder: &Path, bytes: usize) -> String {
    let path = folder.join("text");
    let lines = (0..).map(|nth: u32| format!("line {nth} of {}\n", nth * nth % 7919));
    let mut text: Vec<u8> = lines.take(bytes / 8).flat_map(String::into_bytes).collect();
    text.truncate(bytes);
    fs::write(&path, text).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn error(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_profile_is_written_to_the_default_path() {
    let folder = folder("default");
    let file = text(&folder, 200_000);
    let output = run(&["--quick", "--repeat", "1", "--files", &file], &folder);
    assert!(output.status.success(), "{}", error(&output));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("6 blocks of 32 KiB, each packed 1 time, of"), "{said}");
    assert!(said.contains("bzip2 from lzo"), "{said}");
    let training = profile::load(&folder.join("groupwire/ace-profile.txt")).unwrap();
    assert_eq!(training.codecs().count(), 3);
    assert!(training.ratio_line(0, 1).unwrap().r2 <= 1.0);
}

#[test]
fn errors_are_reported_before_the_measurement() {
    let folder = folder("wrong");
    let file = text(&folder, 40_000);
    let note = text(&self::folder("small"), 1000);
    let small = run(&["--files", &note], &folder);
    assert!(error(&small).contains("too small to train with"), "{}", error(&small));
    let one = run(&["--quick", "--files", &file], &folder);
    assert!(error(&one).contains("needs two blocks"), "{}", error(&one));
    let missing = run(&["--files", "nowhere"], &folder);
    assert!(error(&missing).contains("cannot read nowhere"), "{}", error(&missing));
    let place = run(&["--files", &file, "--out", "/proc/profile.txt"], &folder);
    assert!(error(&place).contains("cannot write /proc/profile.txt"), "{}", error(&place));
    let none = run(&["--repeat", "0"], &folder);
    assert!(error(&none).contains("--repeat"), "{}", error(&none));
}
