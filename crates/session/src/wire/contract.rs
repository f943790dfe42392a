//! The CONTRACT frame: the time at which a packet was made, and the losses that the server measured
//! for the QoS contracts of channels (wire W79, W80).

use alloc::vec::Vec;
use core::time::Duration;

use super::io::{Reader, Write};
use crate::Error;
use crate::ids::ChannelNo;

/// What the server tells a receiver about the QoS contract of one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) channel: ChannelNo,
    /// The share of the channel's messages, in 1/1000, that reached the server after the deadline
    /// or never.
    pub(crate) upstream: u16,
    /// The share of messages, in 1/1000, that the server expects this receiver to get late or never
    /// at best. 0 if the contract permits that share.
    pub(crate) expected: u16,
}

/// Stamps are in milliseconds modulo this number, so that a stamp takes at most two bytes on the
/// wire. These 16 s are much longer than the 5 s after which a silent connection is closed
/// ([`Timing::dead`](crate::Timing::dead)).
const WRAP: u64 = (1 << 14) - 1;

/// A time of the sender's clock in milliseconds, modulo [`WRAP`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) fn of(time: Duration) -> Self {
        Stamp(time.as_millis() as u64 % WRAP)
    }

    /// The time between this stamp and `now`, which is a time of the same clock. `None` if the
    /// stamp is later than `now`.
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

/// Reads a CONTRACT frame. Calls `each` for each entry, and returns the stamp if the frame has one.
pub(crate) fn read(bytes: &[u8], mut each: impl FnMut(Entry)) -> Result<Option<Stamp>, Error> {
    let mut reader = Reader::new(bytes, "CONTRACT");
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

/// Reads a share in 1/1000.
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
    fn w79_a_stamp_takes_two_bytes_and_tells_how_long_ago() {
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
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let _ = read(&bytes, |_| {});
        }
    }
}
