//! Runs installed programs, and has the messages to run them with.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use std::{env, thread};

/// The output of a program for a file with this name and content; `None` if the program is not
/// installed.
pub(crate) fn run(program: &str, options: &[&str], name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program);
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the folder for tests can be written");
    let output = match Command::new(program).args(options).arg(&path).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip(program);
            return None;
        }
        output => output.expect("the program runs"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // `compress` exits with 2 if the result is not smaller.
    assert!(output.status.success() || output.status.code() == Some(2), "{program} {name}: {said}");
    Some(output.stdout)
}

/// Says that this test needs a program that is not installed: in its output, and in the file that
/// scripts/skipped.mjs reads.
pub(crate) fn skip(program: &str) {
    let runner = env::var("NEXTEST_TEST_NAME").ok();
    let test = runner.or_else(|| thread::current().name().map(str::to_owned)).unwrap_or_default();
    println!("skipped: {test} needs {program}");
    if let Some(file) = env::var_os("GROUPWIRE_SKIPPED") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).expect("writable");
        // The text is written in one call, because other tests write at the same time.
        file.write_all(format!("{test}: needs {program}\n").as_bytes()).expect("writable");
    }
}

/// Messages and files of different content, each with a name.
pub(crate) fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let words = |count: u32, seed: u32| -> Vec<u8> {
        let mut random = random(seed);
        let text = (0..count).map(|_| {
            let most = 1 + random() % 900;
            format!("{} ", random() % most * 7919)
        });
        text.collect::<String>().into_bytes()
    };
    let noise = |length: usize| -> Vec<u8> {
        let mut random = random(5);
        (0..length).map(|_| random() as u8).collect()
    };
    vec![
        ("one", b"1".to_vec()),
        ("short", b"abcabcabcabc, abcabc".to_vec()),
        ("message", words(200, 1)),
        ("noise", noise(1400)),
        ("zeros", vec![0; 300_000]),
        // LZW runs out of codes long before the end. The content changes several times.
        ("long", [words(200_000, 2), noise(70_000), words(200_000, 3), vec![7; 99_999]].concat()),
    ]
}

fn random(mut state: u32) -> impl FnMut() -> u32 {
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    }
}
