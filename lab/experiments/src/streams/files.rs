//! Files to train with and other files to measure with: what the paper's Table 1 lists, or what
//! comes nearest.
//!
//! They are of the corpora (`--data`), of what every Linux has, or made from the seed where there
//! is neither. A file that the paper trains with is never measured with, nor the other way round.

use std::cell::OnceCell;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use groupwire_papers::ace2005::TrainingError;

use super::stand_in;
use super::training::Trained;
use crate::zip::unzip;

/// A KB of Table 1.
const KB: f64 = 1024.0;
/// The smallest file. Smaller ones than a block of the paper's are left out (section 5.1), and add
/// nothing to a collection.
const SMALLEST: u64 = 32 << 10;
/// How deep folders are searched for files of one kind.
const DEPTH: usize = 6;

/// The directories of shared libraries, in the order of preference.
const LIBRARIES: [&str; 4] =
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
/// The directories of texts, most of which are sources.
const TEXTS: [&str; 4] =
    ["/usr/share/common-licenses", "/usr/share/perl", "/usr/lib/python3", "/usr/share"];
/// The ends of the names of texts. Licences have no such end.
const TEXT_ENDS: [&str; 6] = [".txt", ".pl", ".pm", ".pod", ".py", "GPL-3"];
/// The directory of Java.
const JAVA: &str = "/usr/lib/jvm";
/// The classes of a Java installation: all its classes one behind the other, as they are.
const CLASSES: &str = "lib/modules";

/// The files of both sets.
#[derive(Debug)]
pub(crate) struct Files {
    /// Files for training: for fitted lines and other knowledge beforehand.
    pub(crate) training: Vec<Sample>,
    /// Files for the measurements.
    pub(crate) benchmark: Vec<Sample>,
    /// The training run with these files, once it was needed.
    trained: OnceCell<Result<Rc<Trained>, TrainingError>>,
}

/// A file of Table 1, or a substitute for it.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// A short name, such as `xml`.
    pub(crate) name: &'static str,
    /// A description of the file, and the path or package it comes from.
    pub(crate) origin: String,
    /// The size of the paper's file, in KB of 1,024 bytes.
    pub(crate) paper_kb: f64,
    /// The content.
    pub(crate) bytes: Vec<u8>,
}

/// A line of Table 1, and where to look for such a file.
struct TableEntry {
    name: &'static str,
    /// The size in KB of 1,024 bytes.
    size: f64,
    sources: &'static [Source],
}

const fn entry(name: &'static str, size: f64, sources: &'static [Source]) -> TableEntry {
    TableEntry { name, size, sources }
}

/// A place from which a file may come.
enum Source {
    /// A file of the corpora by its path, unpacked if it is a ZIP archive.
    Corpus(&'static str),
    /// Files of the corpora, one behind the other, and then the n-th half of the system's texts.
    Texts(&'static [&'static str], usize),
    /// Classes of Java, from this share of them on.
    Classes(f64),
    /// The n-th half of the system's shared libraries.
    Libraries(usize),
    /// A file that is generated from the seed, to the size that is needed.
    Made(&'static str, fn(seed: u64, size: usize) -> Vec<u8>),
}

const TRAINING: [TableEntry; 9] = [
    // aaa_long.txt in the paper.
    entry("aaa", 390.63, &[Source::Made("the letter a", |_, size| vec![b'a'; size])]),
    // adobe.tar in the paper.
    entry("classes", 11990.0, &[Source::Classes(0.2), Source::Libraries(0), Source::MADE_BINARY]),
    // book1 in the paper.
    entry("book1", 750.75, &[Source::Corpus("calgary/book1"), Source::MADE_TEXT]),
    // chemical-ms-080-s.asf in the paper.
    entry("compressed", 206.87, &[Source::Made("like an MPEG stream", stand_in::mpeg)]),
    // chemical-wav.wav in the paper.
    entry("sound", 3546.68, &[Source::Made("tones and noise, 16 bit", stand_in::sound)]),
    // E.coli in the paper.
    entry("genome", 4529.97, &[Source::Made("letters with repeats", stand_in::genome)]),
    // kennedy.xls in the paper.
    entry(
        "kennedy.xls",
        1005.61,
        &[Source::Corpus("canterbury/kennedy.xls"), Source::MADE_DATABASE],
    ),
    // obj2 in the paper.
    entry(
        "obj2",
        241.03,
        &[Source::Corpus("calgary/obj2"), Source::Libraries(0), Source::MADE_BINARY],
    ),
    // pic in the paper.
    entry("pic", 501.19, &[Source::Corpus("calgary/pic"), Source::MADE_DATABASE]),
];

const BENCHMARK: [TableEntry; 5] = [
    // HUH-Publ.xml in the paper.
    entry(
        "xml",
        9954.17,
        &[Source::Corpus("silesia/xml"), Source::Corpus("silesia/xml.zip"), Source::MADE_XML],
    ),
    // jedit.jar in the paper.
    entry("classes", 2450.0, &[Source::Classes(0.7), Source::Libraries(1), Source::MADE_BINARY]),
    // lion.mpg in the paper.
    entry("mpeg", 4382.54, &[Source::Made("like an MPEG stream", stand_in::mpeg)]),
    // mysql.MYD in the paper.
    entry(
        "database",
        10837.75,
        &[
            Source::Corpus("silesia/osdb"),
            Source::Corpus("silesia/osdb.zip"),
            Source::MADE_DATABASE,
        ],
    ),
    // partial.adl_catalog.txt in the paper.
    entry("text", 9143.77, &[Source::Texts(&BOOKS, 1), Source::MADE_TEXT]),
];

/// English text of the corpora that the paper does not train with.
const BOOKS: [&str; 11] = [
    "canterbury/plrabn12.txt",
    "canterbury/lcet10.txt",
    "canterbury/alice29.txt",
    "canterbury/asyoulik.txt",
    "calgary/book2",
    "calgary/news",
    "calgary/bib",
    "calgary/paper1",
    "calgary/paper2",
    "calgary/paper3",
    "calgary/paper6",
];

impl Source {
    const MADE_TEXT: Source = Source::Made("messages as text", stand_in::text);
    const MADE_XML: Source = Source::Made("messages as XML", stand_in::xml);
    const MADE_BINARY: Source = Source::Made("objects of Java", stand_in::objects);
    const MADE_DATABASE: Source = Source::Made("records of numbers", stand_in::records);
}

impl Files {
    /// Both sets, in the order of Table 1 and at most as large; `data` is where the corpora are, if
    /// they are anywhere.
    ///
    /// The same machine gives the same files each time.
    pub(crate) fn load(data: Option<&Path>, seed: u64) -> Files {
        let load =
            |lines: &[TableEntry], seed| lines.iter().map(|line| line.load(data, seed)).collect();
        // The seeds differ, so that generated data of one set is not in the other.
        Files::new(
            load(&TRAINING, seed.wrapping_mul(2)),
            load(&BENCHMARK, seed.wrapping_mul(2).wrapping_add(1)),
        )
    }

    pub(super) fn new(training: Vec<Sample>, benchmark: Vec<Sample>) -> Files {
        Files { training, benchmark, trained: OnceCell::new() }
    }

    /// The training run of the paper's policy, which takes this processor time the first time.
    ///
    /// # Errors
    /// The run failed.
    pub(super) fn trained(&self, budget: Option<Duration>) -> Result<Rc<Trained>, TrainingError> {
        let run = || {
            let samples: Vec<&[u8]> = self.training.iter().map(|one| &one.bytes[..]).collect();
            Trained::run(&samples, budget).map(Rc::new)
        };
        self.trained.get_or_init(run).clone()
    }
}

impl TableEntry {
    fn load(&self, data: Option<&Path>, seed: u64) -> Sample {
        let size = (self.size * KB) as usize;
        let found = self.sources.iter().find_map(|source| source.take(data, seed, size));
        // The last source of each line generates its file, so there always is one.
        let (origin, bytes) = found.unwrap_or_default();
        Sample { name: self.name, origin, paper_kb: self.size, bytes }
    }
}

impl Source {
    /// The description and at most `size` bytes of a file from this source; `None` if this machine
    /// does not have it.
    fn take(&self, data: Option<&Path>, seed: u64, size: usize) -> Option<(String, Vec<u8>)> {
        match *self {
            Source::Corpus(path) => {
                let bytes = corpus(data?, path, size)?;
                Some((path.to_owned(), bytes))
            }
            Source::Texts(books, half) => {
                let mut bytes: Vec<u8> = books
                    .iter()
                    .filter_map(|path| corpus(data?, path, size))
                    .flatten()
                    .take(size)
                    .collect();
                let is_with_books = !bytes.is_empty();
                let is_text = |path: &Path| {
                    let name = path.to_string_lossy();
                    TEXT_ENDS.iter().any(|end| name.ends_with(end))
                };
                gather(&TEXTS, half, size, is_text, &mut bytes);
                let origin = match is_with_books {
                    true => "books of the corpora, then sources under /usr",
                    false => "sources under /usr",
                };
                (bytes.len() as u64 >= SMALLEST).then(|| (origin.to_owned(), bytes))
            }
            Source::Classes(from) => classes(from, size),
            Source::Libraries(half) => {
                let mut bytes = Vec::new();
                let is_library = |path: &Path| path.to_string_lossy().contains(".so");
                gather(&LIBRARIES, half, size, is_library, &mut bytes);
                let origin = "shared libraries under /usr/lib";
                (bytes.len() as u64 >= SMALLEST).then(|| (origin.to_owned(), bytes))
            }
            Source::Made(what, make) => Some((format!("made: {what}"), make(seed, size))),
        }
    }
}

/// A file of the corpora, unpacked if its name says that it is packed.
fn corpus(data: &Path, path: &str, size: usize) -> Option<Vec<u8>> {
    let is_packed = path.ends_with(".zip");
    let most = if is_packed { usize::MAX } else { size };
    let bytes = read(&data.join(path), 0, most).ok()?;
    if is_packed { unzip(&bytes, size as u64) } else { Some(bytes) }
}

/// Classes of the Java that is installed, from a share of them on.
fn classes(from: f64, size: usize) -> Option<(String, Vec<u8>)> {
    let paths = sorted(Path::new(JAVA));
    let path = paths.into_iter().map(|path| path.join(CLASSES)).find(|path| path.is_file())?;
    let length = path.metadata().ok()?.len();
    let start = (length as f64 * from) as u64;
    let bytes = read(&path, start, size).ok()?;
    Some((format!("classes in {}", path.display()), bytes))
}

/// Adds every second file of a kind, in the order of their paths, until there are `size` bytes.
fn gather(
    folders: &[&str],
    half: usize,
    size: usize,
    is_wanted: impl Fn(&Path) -> bool,
    bytes: &mut Vec<u8>,
) {
    let mut number = 0;
    for folder in folders {
        let mut found = Vec::new();
        // The search collects enough for both halves.
        search(Path::new(folder), DEPTH, (2 * size) as u64, &is_wanted, &mut 0, &mut found);
        for path in found {
            number += 1;
            if number % 2 == half
                && bytes.len() < size
                && let Ok(more) = read(&path, 0, size - bytes.len())
            {
                bytes.extend(more);
            }
        }
    }
}

/// Files of a kind in a folder and its folders, until they have this size together. Links are left
/// out, because they may lead in circles.
fn search(
    folder: &Path,
    depth: usize,
    enough: u64,
    is_wanted: &dyn Fn(&Path) -> bool,
    sum: &mut u64,
    found: &mut Vec<PathBuf>,
) {
    for path in sorted(folder) {
        let Ok(about) = path.symlink_metadata() else { continue };
        if *sum >= enough {
            return;
        }
        if about.is_dir() && depth > 0 {
            search(&path, depth - 1, enough, is_wanted, sum, found);
        } else if about.is_file() && about.len() >= SMALLEST && is_wanted(&path) {
            *sum += about.len();
            found.push(path);
        }
    }
}

/// The content of a folder, sorted by name; empty if the folder cannot be read.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path, from: u64, most: usize) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (fs::File::open(path)?, Vec::new());
    file.seek(SeekFrom::Start(from))?;
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_corpora_there_is_every_file_and_it_repeats() {
        let files = Files::load(None, 1);
        assert_eq!((files.training.len(), files.benchmark.len()), (9, 5));
        let samples = files.training.iter().chain(&files.benchmark);
        for (sample, line) in samples.zip(TRAINING.iter().chain(&BENCHMARK)) {
            let size = sample.bytes.len();
            assert!(size as u64 >= SMALLEST, "{}: {size}", sample.name);
            assert!(size <= (line.size * KB) as usize, "{}: {size}", sample.name);
        }
        let again = Files::load(None, 1);
        assert!(
            files.benchmark.iter().zip(&again.benchmark).all(|(one, two)| one.bytes == two.bytes)
        );
    }

    #[test]
    fn the_sets_have_no_block_in_common() {
        let files = Files::load(None, 1);
        let blocks = |samples: &[Sample]| -> std::collections::BTreeSet<Vec<u8>> {
            let blocks = samples.iter().flat_map(|sample| sample.bytes.chunks_exact(1 << 12));
            // Blocks of one repeated byte, such as zeros, occur in both sets.
            blocks
                .filter(|block| block.iter().any(|byte| *byte != block[0]))
                .map(<[u8]>::to_vec)
                .collect()
        };
        let (training, benchmark) = (blocks(&files.training), blocks(&files.benchmark));
        assert_eq!(training.intersection(&benchmark).count(), 0);
    }
}
