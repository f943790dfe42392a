//! Files and a folder of which only what was synced is certain.

use std::collections::BTreeMap;

use oorandom::Rand32;

/// What a disk writes at once, in bytes: at a power cut each sector of a write has arrived or has
/// not.
const SECTOR: usize = 512;

/// A file's number, which stays when its name goes.
pub(crate) type Inode = usize;

#[derive(Debug, Default)]
pub(crate) struct Files {
    inodes: Vec<File>,
    names: BTreeMap<String, Inode>,
    synced_names: BTreeMap<String, Inode>,
    /// Creations and deletions that the folder may forget.
    pending: Vec<(String, Option<Inode>)>,
}

#[derive(Debug, Default)]
struct File {
    content: Vec<u8>,
    synced: Vec<u8>,
    /// Changes that the file may forget.
    pending: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Files {
    pub(crate) fn find(&self, name: &str) -> Option<Inode> {
        self.names.get(name).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Inode)> {
        self.names.iter().map(|(name, &inode)| (name.as_str(), inode))
    }

    pub(crate) fn create(&mut self, name: &str) -> Inode {
        let inode = self.inodes.len();
        self.inodes.push(File::default());
        self.names.insert(name.to_owned(), inode);
        self.pending.push((name.to_owned(), Some(inode)));
        inode
    }

    pub(crate) fn delete(&mut self, name: &str) -> bool {
        self.pending.push((name.to_owned(), None));
        self.names.remove(name).is_some()
    }

    pub(crate) fn sync_folder(&mut self) {
        self.synced_names = self.names.clone();
        self.pending.clear();
    }

    pub(crate) fn content(&self, inode: Inode) -> &[u8] {
        &self.inodes[inode].content
    }

    pub(crate) fn write(&mut self, inode: Inode, offset: usize, bytes: &[u8]) {
        let file = &mut self.inodes[inode];
        for (piece, at) in sectors(offset, bytes) {
            write(&mut file.content, at, piece);
            file.pending.push(Change::Write(at, piece.to_vec()));
        }
    }

    pub(crate) fn truncate(&mut self, inode: Inode, size: usize) {
        let file = &mut self.inodes[inode];
        file.content.resize(size, 0);
        file.pending.push(Change::Truncate(size));
    }

    pub(crate) fn sync(&mut self, inode: Inode) {
        let file = &mut self.inodes[inode];
        for change in file.pending.drain(..) {
            change.apply(&mut file.synced);
        }
    }

    /// A sync that failed: the system dropped the changes, and reports no error the next time.
    pub(crate) fn lose(&mut self, inode: Inode, random: &mut Rand32) {
        let file = &mut self.inodes[inode];
        file.pending.retain(|_| random.rand_range(0..2) == 0);
    }

    /// Flips one bit, on the disk and in what is read.
    pub(crate) fn flip(&mut self, inode: Inode, byte: usize, bit: u8) {
        let file = &mut self.inodes[inode];
        for content in [&mut file.content, &mut file.synced] {
            if let Some(byte) = content.get_mut(byte) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }

    /// The power fails: of the writes that were not synced, an arbitrary choice remains.
    pub(crate) fn crash(&mut self, random: &mut Rand32) {
        // Some power cuts come when nearly all writes have reached the disk, and some when hardly
        // any have.
        let share = [0, 1, 4, 8, 12, 15, 16][random.rand_range(0..7) as usize];
        let mut arrived = || random.rand_range(0..16) < share;
        let mut names = std::mem::take(&mut self.synced_names);
        for (name, inode) in self.pending.drain(..) {
            if arrived() {
                match inode {
                    Some(inode) => names.insert(name, inode),
                    None => names.remove(&name),
                };
            }
        }
        let mut inodes = Vec::new();
        for inode in names.values_mut() {
            let File { mut synced, pending, .. } = std::mem::take(&mut self.inodes[*inode]);
            pending.into_iter().filter(|_| arrived()).for_each(|change| change.apply(&mut synced));
            *inode = inodes.len();
            inodes.push(File { content: synced.clone(), synced, pending: Vec::new() });
        }
        *self = Self { inodes, names: names.clone(), synced_names: names, pending: Vec::new() };
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write(at, bytes) => write(content, *at, bytes),
            Self::Truncate(size) => content.resize(*size, 0),
        }
    }
}

fn write(content: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[at..end].copy_from_slice(bytes);
}

// Cuts a write at the borders of sectors.
fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let (mut at, mut rest) = (offset, bytes);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(rest.len().min(SECTOR - at % SECTOR));
        rest = after;
        at += piece.len();
        Some((piece, at - piece.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_survives_every_crash() {
        for seed in 0..200 {
            let mut files = Files::default();
            let inode = files.create("a");
            files.write(inode, 0, &[1; 4096]);
            files.sync(inode);
            files.sync_folder();
            files.write(inode, 4096, &[2; 4096]);
            files.crash(&mut Rand32::new(seed));
            let inode = files.find("a").expect("the folder was synced");
            assert_eq!(files.content(inode)[..4096], [1; 4096]);
        }
    }

    #[test]
    fn what_was_not_synced_is_lost_torn_or_kept() {
        let mut outcomes = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut files = Files::default();
            let inode = files.create("a");
            files.sync_folder();
            files.write(inode, 0, &[2; 1024]);
            files.crash(&mut Rand32::new(seed));
            let inode = files.find("a").expect("the folder was synced");
            outcomes.insert(files.content(inode).to_vec());
        }
        let torn = [[0; 512], [2; 512]].concat();
        for outcome in [vec![], vec![2; 512], torn, vec![2; 1024]] {
            assert!(outcomes.contains(&outcome), "missing: {} bytes", outcome.len());
        }
    }

    #[test]
    fn names_that_were_not_synced_may_be_lost() {
        let survives = |seed| {
            let mut files = Files::default();
            let inode = files.create("a");
            files.sync(inode);
            files.crash(&mut Rand32::new(seed));
            files.find("a").is_some()
        };
        assert!((0..100).any(survives) && !(0..100).all(survives));
    }
}
