//! Compares the bytes that arrive with the files that were sent.

use std::time::{Duration, Instant};

/// The length of an interval of [`Arrived::series`].
pub(super) const STEP: Duration = Duration::from_millis(100);

/// Compares bytes with the files as they arrive.
#[derive(Debug)]
pub(super) struct Witness<'a> {
    files: &'a [&'a [u8]],
    start: Instant,
    /// The index of the file that is being received, and the number of its bytes that have arrived.
    at: (usize, usize),
    arrived: Arrived,
}

/// The files and bytes that arrived, and when.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrived {
    /// The time at which each file was complete; repeated files are listed again.
    pub(super) times: Vec<Duration>,
    /// The number of all bytes.
    pub(super) bytes: u64,
    /// The time at which the last byte arrived.
    pub(super) last: Duration,
    /// Bytes in each [`STEP`].
    pub(super) series: Vec<u64>,
    /// Whether a byte differed from what was sent.
    pub(super) is_wrong: bool,
}

impl<'a> Witness<'a> {
    /// Expects these files one behind the other, again and again.
    pub(super) fn new(files: &'a [&'a [u8]], start: Instant) -> Self {
        Witness { files, start, at: (0, 0), arrived: Arrived::default() }
    }

    /// Handles bytes that arrived.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        let (now, arrived) = (self.start.elapsed(), &mut self.arrived);
        arrived.bytes += bytes.len() as u64;
        arrived.last = now;
        let bin = (now.as_millis() / STEP.as_millis()) as usize;
        arrived.series.resize(arrived.series.len().max(bin + 1), 0);
        arrived.series[bin] += bytes.len() as u64;
        while !bytes.is_empty() && !self.files.is_empty() {
            let (file, from) = self.at;
            let due = &self.files[file][from..];
            let count = due.len().min(bytes.len());
            arrived.is_wrong |= due[..count] != bytes[..count];
            bytes = &bytes[count..];
            self.at.1 += count;
            if count == due.len() {
                arrived.times.push(now);
                self.at = ((file + 1) % self.files.len(), 0);
            }
        }
    }

    /// The number of complete files; repeated ones count again.
    pub(super) fn complete(&self) -> usize {
        self.arrived.times.len()
    }

    /// The files and bytes that arrived.
    pub(super) fn finish(self) -> Arrived {
        self.arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_complete_with_their_last_byte_and_repeat() {
        let files: [&[u8]; 2] = [b"hello", b"world!"];
        let mut witness = Witness::new(&files, Instant::now());
        for bytes in [&b"hel"[..], b"lowor", b"ld", b"!hello"] {
            witness.take(bytes);
        }
        let arrived = witness.finish();
        assert_eq!((arrived.times.len(), arrived.bytes, arrived.is_wrong), (3, 16, false));
        assert_eq!(arrived.series.iter().sum::<u64>(), 16);
    }

    #[test]
    fn another_byte_is_noticed() {
        let files: [&[u8]; 1] = [b"hello"];
        let mut witness = Witness::new(&files, Instant::now());
        witness.take(b"hellohallo");
        assert!(witness.finish().is_wrong);
    }
}
