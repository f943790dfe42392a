//! Recorded cellular links, if there are recordings.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::Options;
use super::row::Setup;
use crate::options::directory_or;
use crate::recordings::files;
use crate::sim::CapacityTrace;
use crate::trace::read_file;
use crate::{Result, Update};

/// The directory of recordings within that of all data.
const DIRECTORY: &str = "cellular";
/// The end of the file name of a recording of the downlink, before `.gz`.
const DOWN: &str = ".down";
/// A train's tunnel, in ms of the recording.
const TUNNEL: std::ops::Range<u32> = 20_000..26_000;

/// A recording of the capacity of a cellular link.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recording {
    name: String,
    pub(super) trace: Arc<CapacityTrace>,
}

impl fmt::Display for Recording {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

/// All recordings in the directory, and the first of them once more with a tunnel in it.
pub(super) fn recordings(options: &Options, emit: &mut dyn FnMut(Update)) -> Vec<Recording> {
    let found = directory_or(&options.data, super::DATA)
        .ok_or_else(|| "there is no directory of recordings: --data names one".into())
        .and_then(|data| read(&data.join(DIRECTORY)));
    found.unwrap_or_else(|error| {
        emit(Update::Skipped { what: Setup::Cellular.to_string(), why: error.to_string() });
        Vec::new()
    })
}

fn read(directory: &Path) -> Result<Vec<Recording>> {
    let mut found = Vec::new();
    for file in files(directory, DOWN)? {
        let name = file.file_name().and_then(|name| name.to_str());
        let Some((name, _)) = name.and_then(|name| name.split_once(DOWN)) else { continue };
        let text = String::from_utf8(read_file(&file)?)?;
        if found.is_empty() {
            found.push(recording(&format!("{name}, tunnel"), &with_tunnel(&text))?);
        }
        found.push(recording(name, &text)?);
    }
    match found.is_empty() {
        true => Err(format!("{} has no recording *{DOWN}", directory.display()).into()),
        false => Ok(found),
    }
}

fn recording(name: &str, text: &str) -> Result<Recording> {
    let trace = text.parse::<CapacityTrace>().map_err(|error| format!("{name}: {error}"))?;
    Ok(Recording { name: name.to_owned(), trace: Arc::new(trace) })
}

/// The recording without the packets that the link carried during the tunnel.
fn with_tunnel(text: &str) -> String {
    let is_in = |line: &&str| line.trim().parse().is_ok_and(|time| TUNNEL.contains(&time));
    text.lines().filter(|line| !is_in(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_through_a_tunnel() {
        assert_eq!(with_tunnel("19999\n20000\n25999\n26000\n"), "19999\n26000");
    }

    #[test]
    fn recordings_that_are_not_there_are_told() {
        let options = crate::options::parsed("--data /nonexistent");
        let mut told = Vec::new();
        assert_eq!(recordings(&options, &mut |update| told.push(update)), []);
        assert!(matches!(&told[..], [Update::Skipped { .. }]), "{told:?}");
    }
}
