//! STANDING: how channels stand at who receives on them, for who looks on at the room (wire.md W84).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::io::{Reader, Write};
use crate::ids::ChannelNo;
use crate::link::clip;
use crate::trace::AGES;
use crate::{Error, Standing, Tally};

/// Octets of the reason for a transport.
pub(crate) const MAX_REASON: usize = 240;

/// What a participant tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Why it has the transport that it has.
    pub(crate) reason: String,
    pub(crate) channels: Vec<Standing>,
}

/// The server's wish: to be told so often, or no more.
pub(crate) fn wish(every: Option<Duration>) -> Vec<u8> {
    let mut out = Vec::new();
    out.varint(every.map_or(0, ms));
    out
}

pub(crate) fn read_wish(octets: &[u8]) -> Result<Option<Duration>, Error> {
    let mut reader = Reader::new(octets, "STANDING");
    let every = reader.varint()?;
    reader.finish()?;
    Ok((every > 0).then(|| Duration::from_millis(every)))
}

pub(crate) fn write(reason: &str, channels: &[Standing]) -> Vec<u8> {
    let mut out = Vec::new();
    out.bytes(clip(reason, MAX_REASON).as_bytes());
    for standing in channels {
        let Tally { judged, missed, late } = standing.tally;
        let used = standing.latencies.iter().rposition(|&count| count > 0).map_or(0, |at| at + 1);
        let numbers = [
            u64::from(standing.channel),
            judged,
            missed,
            late,
            standing.saved,
            u64::from(standing.rate.unwrap_or(0)),
            ms(standing.median),
            ms(standing.p99),
            used as u64,
        ];
        let counts = standing.latencies[..used].iter().map(|&count| u64::from(count));
        numbers.into_iter().chain(counts).for_each(|number| out.varint(number));
    }
    out
}

/// Only what is told of channels that `takes` is kept.
pub(crate) fn read(octets: &[u8], takes: impl Fn(ChannelNo) -> bool) -> Result<Told, Error> {
    let mut reader = Reader::new(octets, "STANDING");
    let reason = reader.text(MAX_REASON, "reason for a transport")?.into();
    let mut told = Told { reason, channels: Vec::new() };
    while !reader.is_empty() {
        let standing = read_one(&mut reader)?;
        let is_new = told.channels.iter().all(|other| other.channel != standing.channel);
        if is_new && takes(standing.channel) {
            told.channels.push(standing);
        }
    }
    Ok(told)
}

fn read_one(reader: &mut Reader<'_>) -> Result<Standing, Error> {
    let channel = ChannelNo(reader.varint_u32()?);
    let tally = Tally { judged: count(reader)?, missed: count(reader)?, late: count(reader)? };
    if tally.missed > tally.judged || tally.late > tally.missed {
        return Err(reader.malformed());
    }
    let (saved, rate) = (count(reader)?, reader.varint_u32()?);
    let [median, p99] = [reader.varint_u32()?, reader.varint_u32()?];
    let mut latencies = [0; AGES.len() + 1];
    let used = reader.varint()?;
    let used = usize::try_from(used).ok().and_then(|used| latencies.get_mut(..used));
    for latency in used.ok_or(reader.malformed())? {
        *latency = reader.varint_u32()?;
    }
    Ok(Standing {
        channel,
        tally,
        saved,
        rate: (rate > 0).then_some(rate),
        median: Duration::from_millis(median.into()),
        p99: Duration::from_millis(p99.into()),
        latencies,
    })
}

fn count(reader: &mut Reader<'_>) -> Result<u64, Error> {
    reader.varint_u32().map(u64::from)
}

fn ms(time: Duration) -> u64 {
    time.as_millis().min(u32::MAX.into()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn standing(channel: ChannelNo) -> Standing {
        let mut latencies = [0; AGES.len() + 1];
        latencies[3] = 200;
        latencies[5] = 50;
        Standing {
            channel,
            tally: Tally { judged: 250, missed: 20, late: 4 },
            saved: 17,
            rate: Some(24_900),
            median: Duration::from_millis(27),
            p99: Duration::from_millis(71),
            latencies,
        }
    }

    #[test]
    fn w84_what_is_told_is_read_and_small() {
        let channels = [standing(ChannelNo(1)), standing(ChannelNo(9))];
        let written = write("The only one.", &channels);
        assert!(written.len() <= 1 + 13 + 2 * 24, "{}", written.len());
        let told = read(&written, |_| true).unwrap();
        assert_eq!((told.reason.as_str(), &told.channels[..]), ("The only one.", &channels[..]));
        let told = read(&written, |channel| channel == ChannelNo(9)).unwrap();
        assert_eq!(told.channels, [standing(ChannelNo(9))]);
        for cut in 1..written.len() {
            // A cut between two channels leaves what is whole.
            if let Ok(told) = read(&written[..cut], |_| true) {
                assert!(told.channels.len() < 2, "{cut}");
            }
        }
    }

    #[test]
    fn w84_more_is_missed_than_judged_is_malformed() {
        let tally = Tally { judged: 1, missed: 2, late: 0 };
        let written = write("", &[Standing { tally, ..standing(ChannelNo(1)) }]);
        assert!(read(&written, |_| true).is_err());
    }

    #[test]
    fn w84_a_reason_is_clipped_and_a_channel_told_once() {
        let long = "ä".repeat(MAX_REASON);
        let written = write(&long, &[standing(ChannelNo(1)), standing(ChannelNo(1))]);
        let told = read(&written, |_| true).unwrap();
        assert_eq!(told.reason, "ä".repeat(MAX_REASON / 2).to_string());
        assert_eq!(told.channels.len(), 1);
    }

    #[test]
    fn w84_a_wish_comes_back() {
        for every in [None, Some(Duration::from_secs(2))] {
            assert_eq!(read_wish(&wish(every)), Ok(every));
        }
    }

    proptest! {
        #[test]
        fn random_octets_never_panic(octets: Vec<u8>) {
            let _ = read(&octets, |_| true);
            let _ = read_wish(&octets);
        }
    }
}
