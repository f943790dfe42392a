//! Tells a torn tail of SQLite's write-ahead log, which is normal after a power cut, from damage
//! inside it. SQLite ends the log at the first frame whose checksum fails, and so would drop later
//! commits that were confirmed, without a word.
//!
//! The format is in the section "WAL File Format" of SQLite's documentation.

/// The header of the file, and of each frame, in bytes.
const HEADER: usize = 32;
const FRAME: usize = 24;
/// The first number of the file; the lowest bit says that checksums are of big-endian numbers.
const MAGIC: u32 = 0x377f_0682;

/// True if commits in the log that were synced would be lost. A commit is synced before the next
/// one is written, so a frame after a commit proves that the commit was synced. Damage in the very
/// last commit looks like a torn tail.
///
/// This holds for a log that was begun by the process that ended, as the store truncates it when it
/// opens a folder.
pub fn wal_is_damaged(wal: &[u8]) -> bool {
    if wal.len() <= HEADER {
        return false;
    }
    // The header is synced before the first frame is written.
    let Some(log) = Log::parse(wal) else { return true };
    let mut sums = log.sums;
    let Some(invalid) = log.frames().position(|frame| !log.is_valid(frame, &mut sums)) else {
        return false;
    };
    let has_salts = |frame: &&[u8]| frame[8..16] == wal[16..24];
    let mut rest =
        log.frames().skip(invalid).skip_while(|frame| !(is_commit(frame) && has_salts(frame)));
    rest.next().is_some() && rest.any(|frame| has_salts(&frame))
}

struct Log<'a> {
    wal: &'a [u8],
    page: usize,
    big_endian: bool,
    /// The checksum of the header, from which that of the first frame goes on.
    sums: (u32, u32),
}

impl<'a> Log<'a> {
    fn parse(wal: &'a [u8]) -> Option<Self> {
        let magic = number(wal, 0);
        let page = number(wal, 8) as usize;
        if magic & !1 != MAGIC || !page.is_power_of_two() || !(512..=65_536).contains(&page) {
            return None;
        }
        let big_endian = magic & 1 != 0;
        let sums = checksum((0, 0), &wal[..24], big_endian);
        (sums == (number(wal, 24), number(wal, 28))).then_some(Self { wal, page, big_endian, sums })
    }

    fn frames(&self) -> impl Iterator<Item = &'a [u8]> {
        self.wal[HEADER..].chunks_exact(FRAME + self.page)
    }

    fn is_valid(&self, frame: &[u8], sums: &mut (u32, u32)) -> bool {
        *sums = checksum(*sums, &frame[..8], self.big_endian);
        *sums = checksum(*sums, &frame[FRAME..], self.big_endian);
        frame[8..16] == self.wal[16..24] && *sums == (number(frame, 16), number(frame, 20))
    }
}

// The last frame of a commit has the database's size in pages, all others have zero.
fn is_commit(frame: &[u8]) -> bool {
    number(frame, 4) != 0
}

fn checksum(sums: (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    let number = |bytes: &[u8]| {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    bytes.chunks_exact(8).fold(sums, |(first, second), pair| {
        let first = first.wrapping_add(number(&pair[..4])).wrapping_add(second);
        let second = second.wrapping_add(number(&pair[4..])).wrapping_add(first);
        (first, second)
    })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
