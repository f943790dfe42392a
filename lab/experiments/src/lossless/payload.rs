//! The payloads of messages.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::telecom;
use crate::Result;
use crate::drawing::random::Random;
use crate::zip::unzip;

/// The name of the generated payload.
pub(super) const TELECOM: &str = "telecom";
/// The name that stands for all payloads.
const ALL: &str = "all";
/// The files that are used unless options name others: text, markup, source, a program, a database,
/// and compressed data.
const USUAL: [&str; 6] = ["book1", "xml", "progc", "obj2", "osdb", "osdb.zip"];

/// The most bytes that are read of a file: there are not enough messages to use more.
const MOST: u64 = 16 << 20;

/// Bytes from which messages are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    /// telecom, or the file's name.
    pub(crate) name: String,
    bytes: Vec<u8>,
}

impl Payload {
    /// The payloads of these names, or telecom and some files of each kind; files are those in the
    /// folder and its folders.
    ///
    /// # Errors
    /// A folder that cannot be read, a name that is none.
    pub(crate) fn chosen(names: &[String], folder: Option<&Path>, seed: u64) -> Result<Vec<Self>> {
        let mut known = vec![Payload {
            name: TELECOM.to_owned(),
            bytes: telecom::packets(seed, telecom::PACKETS),
        }];
        if let Some(folder) = folder {
            known.extend(files(folder)?);
        }
        let is_known = |name: &str| known.iter().any(|one| one.name == name);
        if let Some(name) = names.iter().find(|name| *name != ALL && !is_known(name)) {
            let known: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
            let hint = if folder.is_none() { "; --data FOLDER gives files" } else { "" };
            let known = known.join(", ");
            return Err(format!("there is no payload {name}; there are all, {known}{hint}").into());
        }
        known.retain(|one| match names {
            [] => one.name == TELECOM || USUAL.contains(&one.name.as_str()),
            names => names.iter().any(|name| *name == one.name || name == ALL),
        });
        Ok(known)
    }

    /// Messages of one size: of telecom the packets one behind the other, over and over, as the
    /// paper filled its messages (section 7.2); of a file from random places. None if the file is
    /// shorter than a message.
    pub(super) fn messages(&self, size: usize, count: usize, seed: u64) -> Vec<Vec<u8>> {
        if self.name == TELECOM {
            // Repetitions within a message would shrink for that reason alone, so a large message
            // is made of other packets.
            let is_large = size > self.bytes.len();
            let enough = telecom::PACKETS * (size * count).div_ceil(self.bytes.len().max(1));
            let large = is_large.then(|| telecom::packets(seed, enough));
            let mut endless = large.as_ref().unwrap_or(&self.bytes).iter().copied().cycle();
            return (0..count).map(|_| endless.by_ref().take(size).collect()).collect();
        }
        let Some(places) = (self.bytes.len() + 1).checked_sub(size).filter(|count| *count > 0)
        else {
            return Vec::new();
        };
        let mut random = Random::new(seed);
        let mut cut = || {
            let from = random.below(places);
            self.bytes[from..from + size].to_vec()
        };
        (0..count).map(|_| cut()).collect()
    }
}

/// All files in a folder and its folders, sorted; of a ZIP file its content, if that is one file.
fn files(folder: &Path) -> Result<Vec<Payload>> {
    let unreadable =
        |path: &Path, error: io::Error| format!("cannot read {}: {error}", path.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        paths.push(entry.map_err(|error| unreadable(folder, error))?.path());
    }
    paths.sort();
    let mut payloads = Vec::new();
    for path in paths {
        if path.is_dir() {
            payloads.extend(files(&path)?);
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = read(&path).map_err(|error| unreadable(&path, error))?;
        if let Some(stem) = name.strip_suffix(".zip")
            && let Some(bytes) = unzip(&bytes, MOST)
        {
            payloads.push(Payload { name: stem.to_owned(), bytes });
        }
        payloads.push(Payload { name, bytes });
    }
    Ok(payloads)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_size_and_repeat_with_the_seed() {
        let telecom = &Payload::chosen(&[], None, 1).unwrap()[0];
        let messages = telecom.messages(700, 100, 1);
        assert_eq!(messages.len(), 100);
        assert!(messages.iter().all(|message| message.len() == 700));
        assert_ne!(messages[0], messages[1]);
        let large = &telecom.messages(60_000, 1, 1)[0];
        let beginning = &large[..40];
        assert_eq!(large.windows(40).filter(|window| *window == beginning).count(), 1);
        let file = Payload { name: "file".into(), bytes: (0..=255).collect() };
        assert_eq!(file.messages(200, 5, 1), file.messages(200, 5, 1));
        assert_ne!(file.messages(200, 5, 1), file.messages(200, 5, 2));
        assert_eq!(file.messages(256, 1, 1), [(0..=255).collect::<Vec<u8>>()]);
        assert!(file.messages(257, 5, 1).is_empty());
    }

    #[test]
    fn unknown_names_are_told_what_there_is() {
        let error = Payload::chosen(&["nothing".into()], None, 1).unwrap_err().to_string();
        assert!(error.contains("telecom") && error.contains("--data"), "{error}");
    }
}
