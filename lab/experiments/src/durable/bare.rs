//! Measures the time of a sync of the disk in a program that does nothing else.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Result;
use crate::statistics::Summary;

/// The bytes of one write: a page.
const PAGE: usize = 4096;
/// Pages of the file. They are written once before the measurement, and then again and again, like
/// those of a write-ahead log.
const PAGES: usize = 256;
/// The pause after each sync. A server, too, does not sync all the time.
const PAUSE: Duration = Duration::from_millis(1);

/// Writes a page and syncs it (`fdatasync`) `count` times in a folder. Returns how long each took,
/// in milliseconds.
pub(crate) fn fdatasync(folder: &Path, count: usize) -> Result<Summary> {
    let path = folder.join("bare");
    let mut file = File::create(&path)?;
    file.write_all(&vec![1; PAGE * PAGES])?;
    file.sync_all()?;
    let mut times = Vec::with_capacity(count);
    for round in 0..count {
        let page = [round as u8; PAGE];
        file.seek(SeekFrom::Start((round % PAGES * PAGE) as u64))?;
        let begin = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        sleep(PAUSE);
    }
    std::fs::remove_file(path)?;
    Ok(Summary::of(&times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Folder;

    #[test]
    fn each_sync_is_timed_and_nothing_is_left() {
        let folder = Folder::new(&std::env::temp_dir()).unwrap();
        let times = fdatasync(folder.path(), 5).unwrap();
        assert_eq!(times.count, 5);
        assert!(times.median <= times.p99);
        assert_eq!(folder.size(), 0);
    }
}
