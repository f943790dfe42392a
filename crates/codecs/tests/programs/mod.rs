//! Other people's programs, and what they are tried with.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// What a program writes when it is given a file of that name and these bytes. `None` if there is no such program.
pub(crate) fn run(program: &str, options: &[&str], name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program);
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the folder for tests can be written");
    let output = match Command::new(program).args(options).arg(&path).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: there is no program {program} here");
            return None;
        }
        output => output.expect("the program runs"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // 2 of compress: it became no smaller.
    assert!(output.status.success() || output.status.code() == Some(2), "{program} {name}: {said}");
    Some(output.stdout)
}

/// Messages and files of many kinds, each with a name.
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
        // More than all codes of LZW, then something else, then something else again.
        ("long", [words(200_000, 2), noise(70_000), words(200_000, 3), vec![7; 99_999]].concat()),
    ]
}

fn random(mut state: u32) -> impl FnMut() -> u32 {
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    }
}
