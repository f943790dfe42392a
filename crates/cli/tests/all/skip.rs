//! Tests that need something that this machine lacks.

use std::fs::File;
use std::io::Write;

/// Says that this test cannot run: in its output, and in the file that scripts/skipped.mjs reads.
pub(crate) fn skip(need: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    println!("skipped: {test} needs {need}");
    if let Some(file) = std::env::var_os("GROUPWIRE_SKIPPED") {
        let mut file = File::options().append(true).create(true).open(file).unwrap();
        // The text is written in one call, because other tests write at the same time.
        file.write_all(format!("{test}: needs {need}\n").as_bytes()).unwrap();
    }
}
