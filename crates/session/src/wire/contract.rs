//! CONTRACT: when a packet was sent, and what only the server knows of contracts (wire.md W79, W80).

use alloc::vec::Vec;
use core::time::Duration;

use super::io::{Reader, Write};
use crate::Error;
use crate::ids::ChannelNo;

/// What the server knows of a channel's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) channel: ChannelNo,
    /// Of what others sent, the share that the server lacked or had too late; in 1/1000.
    pub(crate) upstream: u16,
    /// The share that will miss at best, if that is more than the contract permits, else 0; in 1/1000.
    pub(crate) expected: u16,
}

/// Times are told modulo this many ms, in two octets at most: far beyond the time after which silence is death.
const WRAP: u64 = (1 << 14) - 1;

/// A time of the sender's clock, as it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) fn of(time: Duration) -> Self {
        Stamp(time.as_millis() as u64 % WRAP)
    }

    /// How long ago this was, when the same clock shows `now`; `None` if it lies ahead.
    pub(crate) fn ago(self, now: Duration) -> Option<Duration> {
        let Stamp(now) = Stamp::of(now);
        let ago = (now + WRAP - self.0) % WRAP;
        (ago <= WRAP / 2).then(|| Duration::from_millis(ago))
    }
}

pub(crate) fn write(stamp: Option<Stamp>, entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    out.varint(stamp.map_or(0, |Stamp(time)| time + 1));
    for Entry { channel, upstream, expected } in entries {
        out.varint(u64::from(*channel));
        out.varint(u64::from(*upstream));
        out.varint(u64::from(*expected));
    }
    out
}

/// Calls `each` with the entries and returns the stamp.
pub(crate) fn read(octets: &[u8], mut each: impl FnMut(Entry)) -> Result<Option<Stamp>, Error> {
    let mut reader = Reader::new(octets, "CONTRACT");
    let stamp = match reader.varint()? {
        0 => None,
        time if time <= WRAP => Some(Stamp(time - 1)),
        _ => return Err(reader.malformed()),
    };
    while !reader.is_empty() {
        let channel = ChannelNo(reader.varint_u32()?);
        let [upstream, expected] = [share(&mut reader)?, share(&mut reader)?];
        each(Entry { channel, upstream, expected });
    }
    Ok(stamp)
}

fn share(reader: &mut Reader<'_>) -> Result<u16, Error> {
    match reader.varint()? {
        share @ 0..=1000 => Ok(share as u16),
        _ => Err(reader.malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn w79_a_stamp_takes_two_octets_and_tells_how_long_ago() {
        for at in [0, 1, 16_382, 16_383, 1 << 30, u32::MAX] {
            let written = write(Some(Stamp::of(MS * at)), &[]);
            assert!(written.len() <= 2);
            let stamp = read(&written, |_| {}).unwrap().unwrap();
            assert_eq!(stamp.ago(MS * at + MS * 70), Some(MS * 70));
            assert_eq!(stamp.ago((MS * at).saturating_sub(MS * 5)).filter(|_| at > 5), None);
        }
    }

    proptest! {
        #[test]
        fn w80_round_trip(entries: Vec<(u32, u16, u16)>) {
            let entries: Vec<Entry> = entries
                .into_iter()
                .map(|(channel, upstream, expected)| {
                    Entry { channel: ChannelNo(channel), upstream: upstream % 1001, expected: expected % 1001 }
                })
                .collect();
            let mut back = Vec::new();
            prop_assert_eq!(read(&write(None, &entries), |entry| back.push(entry)), Ok(None));
            prop_assert_eq!(back, entries);
        }

        #[test]
        fn random_octets_never_panic(octets: Vec<u8>) {
            let _ = read(&octets, |_| {});
        }
    }
}
