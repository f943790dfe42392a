//! Sends announcements over a transport that loses and reorders packets.
//!
//! As the GMC paper proposes (section 5.3.2), they stand in front of every packet until the
//! receiver acknowledges them. Before the announcements come their number and, if there are any,
//! the number of the first one. An acknowledgement is the number of the announcement that the
//! receiver waits for.

use std::collections::VecDeque;

use crate::messages::framing::{read_number, write_number};
use crate::messages::technique::Failure;

/// The sending end of announcements.
#[derive(Debug, Default)]
pub(super) struct Announcer {
    /// The announcements that are not acknowledged yet.
    waiting: VecDeque<Vec<u8>>,
    /// The number of the first one that waits.
    first: usize,
    announced: u64,
}

impl Announcer {
    /// Appends all announcements that the receiver may lack to `out`, `new` last. A packet follows.
    pub(super) fn announce(&mut self, new: &[u8], out: &mut Vec<u8>) {
        if !new.is_empty() {
            self.waiting.push_back(new.to_vec());
        }
        let start = out.len();
        write_number(self.waiting.len(), out);
        if !self.waiting.is_empty() {
            write_number(self.first, out);
        }
        for announcement in &self.waiting {
            write_number(announcement.len(), out);
            out.extend_from_slice(announcement);
        }
        self.announced += (out.len() - start) as u64;
    }

    /// Handles an acknowledgement of [`Listener::acknowledge`]. They may come in any order.
    pub(super) fn acknowledged(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        let next = read_number(&mut bytes)?;
        let known = next.saturating_sub(self.first);
        if known > self.waiting.len() {
            return Err("what was never announced was acknowledged".into());
        }
        self.waiting.drain(..known);
        self.first += known;
        Ok(())
    }

    /// The bytes of all announcements that were sent.
    pub(super) fn announced(&self) -> u64 {
        self.announced
    }
}

/// The receiving end of announcements.
#[derive(Debug, Default)]
pub(super) struct Listener {
    next: usize,
    has_news: bool,
}

impl Listener {
    /// Passes unknown announcements to `learn`, and returns the packet that follows.
    pub(super) fn listen<'a>(
        &mut self,
        mut bytes: &'a [u8],
        mut learn: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<&'a [u8], Failure> {
        let count = read_number(&mut bytes)?;
        let first = if count > 0 { read_number(&mut bytes)? } else { self.next };
        if first > self.next {
            return Err("an announcement is missing".into());
        }
        self.has_news |= count > 0;
        for number in (first..).take(count) {
            let length = read_number(&mut bytes)?;
            let (announcement, rest) =
                bytes.split_at_checked(length).ok_or("an announcement is cut off")?;
            bytes = rest;
            if number == self.next {
                learn(announcement)?;
                self.next += 1;
            }
        }
        Ok(bytes)
    }

    /// Appends an acknowledgement to `out` if a packet with announcements came since the last one.
    pub(super) fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.has_news) {
            write_number(self.next, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_announced_again_until_acknowledged() {
        let (mut announcer, mut listener) = (Announcer::default(), Listener::default());
        let mut learned: Vec<Vec<u8>> = Vec::new();
        let packets = [&b"one"[..], b"two", b"", b""].map(|new| {
            let mut packet = Vec::new();
            announcer.announce(new, &mut packet);
            packet.push(b'!');
            packet
        });
        // The first two packets are lost or late; the last comes before the third.
        for packet in [&packets[3], &packets[2], &packets[0]] {
            let rest = listener.listen(packet, |new| {
                learned.push(new.to_vec());
                Ok(())
            });
            assert_eq!(rest.unwrap(), b"!");
        }
        assert_eq!(learned, [b"one", b"two"]);

        let mut acknowledgement = Vec::new();
        listener.acknowledge(&mut acknowledgement);
        announcer.acknowledged(&acknowledgement).unwrap();
        let mut packet = Vec::new();
        announcer.announce(b"", &mut packet);
        assert_eq!(packet, [0]);
        assert!(announcer.acknowledged(&[9]).is_err());
    }
}
