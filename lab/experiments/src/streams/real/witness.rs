//! What arrives, held against what was sent.

use std::time::{Duration, Instant};

/// Of the series that it keeps.
pub(super) const STEP: Duration = Duration::from_millis(100);

/// Looks at octets as they arrive.
#[derive(Debug)]
pub(super) struct Witness<'a> {
    files: &'a [&'a [u8]],
    start: Instant,
    /// The file that is being received, and how much of it there is.
    at: (usize, usize),
    arrived: Arrived,
}

/// What arrived.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrived {
    /// When each file was complete; a file more each time where they are repeated.
    pub(super) times: Vec<Duration>,
    /// Octets in all.
    pub(super) octets: u64,
    /// When the last of them came.
    pub(super) last: Duration,
    /// Octets in each [`STEP`].
    pub(super) series: Vec<u64>,
    /// Whether any of them was not what was sent.
    pub(super) is_wrong: bool,
}

impl<'a> Witness<'a> {
    /// Expects these files one behind the other, over and over.
    pub(super) fn new(files: &'a [&'a [u8]], start: Instant) -> Self {
        Witness { files, start, at: (0, 0), arrived: Arrived::default() }
    }

    /// Takes what came.
    pub(super) fn take(&mut self, mut octets: &[u8]) {
        let (now, arrived) = (self.start.elapsed(), &mut self.arrived);
        arrived.octets += octets.len() as u64;
        arrived.last = now;
        let bin = (now.as_millis() / STEP.as_millis()) as usize;
        arrived.series.resize(arrived.series.len().max(bin + 1), 0);
        arrived.series[bin] += octets.len() as u64;
        while !octets.is_empty() && !self.files.is_empty() {
            let (file, from) = self.at;
            let due = &self.files[file][from..];
            let count = due.len().min(octets.len());
            arrived.is_wrong |= due[..count] != octets[..count];
            octets = &octets[count..];
            self.at.1 += count;
            if count == due.len() {
                arrived.times.push(now);
                self.at = ((file + 1) % self.files.len(), 0);
            }
        }
    }

    /// What arrived.
    pub(super) fn finish(self) -> Arrived {
        self.arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_complete_with_their_last_octet_and_repeat() {
        let files: [&[u8]; 2] = [b"hello", b"world!"];
        let mut witness = Witness::new(&files, Instant::now());
        for octets in [&b"hel"[..], b"lowor", b"ld", b"!hello"] {
            witness.take(octets);
        }
        let arrived = witness.finish();
        assert_eq!((arrived.times.len(), arrived.octets, arrived.is_wrong), (3, 16, false));
        assert_eq!(arrived.series.iter().sum::<u64>(), 16);
    }

    #[test]
    fn another_octet_is_noticed() {
        let files: [&[u8]; 1] = [b"hello"];
        let mut witness = Witness::new(&files, Instant::now());
        witness.take(b"hellohallo");
        assert!(witness.finish().is_wrong);
    }
}
