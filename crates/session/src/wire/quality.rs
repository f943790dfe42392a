//! The QUALITY frame: receivers report the quality of their channels while the inspector of the
//! room is in use (wire W84).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::io::{Reader, Write};
use crate::ids::ChannelNo;
use crate::trace::AGES;
use crate::wire::io::clip;
use crate::{ChannelQuality, Error, Rate, Tally};

/// The most bytes of [`QualityReport::reason`] (wire W84).
pub(crate) const MAX_REASON: usize = 240;

/// A quality report of one participant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QualityReport {
    /// Why the participant uses its present transport, as text for people.
    pub(crate) reason: String,
    pub(crate) channels: Vec<ChannelQuality>,
}

/// Writes the server's request for reports. `every` is the time between two reports; `None` asks
/// the client to send no more reports.
pub(crate) fn write_request(every: Option<Duration>) -> Vec<u8> {
    let mut out = Vec::new();
    out.varint(every.map_or(0, ms));
    out
}

/// Reads the server's request: the time between two reports, or `None` if the client is to send no
/// more reports.
pub(crate) fn read_request(bytes: &[u8]) -> Result<Option<Duration>, Error> {
    let mut reader = Reader::new(bytes, "QUALITY");
    let every = reader.varint()?;
    reader.finish()?;
    Ok((every > 0).then(|| Duration::from_millis(every)))
}

/// Writes a report. The reason is cut at [`MAX_REASON`] bytes.
pub(crate) fn write(reason: &str, channels: &[ChannelQuality]) -> Vec<u8> {
    let mut out = Vec::new();
    out.bytes(clip(reason, MAX_REASON).as_bytes());
    for quality in channels {
        let Tally { judged, missed, late } = quality.tally;
        let used = quality.latencies.iter().rposition(|&count| count > 0).map_or(0, |at| at + 1);
        let numbers = [
            u64::from(quality.channel),
            judged,
            missed,
            late,
            quality.saved,
            u64::from(quality.rate.unwrap_or_default().millihertz()),
            ms(quality.median),
            ms(quality.p99),
            used as u64,
        ];
        let counts = quality.latencies[..used].iter().map(|&count| u64::from(count));
        numbers.into_iter().chain(counts).for_each(|number| out.varint(number));
    }
    out
}

/// Reads a report. Ignores channels for which `takes` returns false, and all entries of a channel
/// after its first one.
pub(crate) fn read(
    bytes: &[u8],
    takes: impl Fn(ChannelNo) -> bool,
) -> Result<QualityReport, Error> {
    let mut reader = Reader::new(bytes, "QUALITY");
    let reason = reader.text(MAX_REASON, "reason for a transport")?.into();
    let mut report = QualityReport { reason, channels: Vec::new() };
    while !reader.is_empty() {
        let quality = read_one(&mut reader)?;
        let is_new = report.channels.iter().all(|other| other.channel != quality.channel);
        if is_new && takes(quality.channel) {
            report.channels.push(quality);
        }
    }
    Ok(report)
}

fn read_one(reader: &mut Reader<'_>) -> Result<ChannelQuality, Error> {
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
    Ok(ChannelQuality {
        channel,
        tally,
        saved,
        rate: (rate > 0).then_some(Rate::from_millihertz(rate)),
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

    fn quality(channel: ChannelNo) -> ChannelQuality {
        let mut latencies = [0; AGES.len() + 1];
        latencies[3] = 200;
        latencies[5] = 50;
        ChannelQuality {
            channel,
            tally: Tally { judged: 250, missed: 20, late: 4 },
            saved: 17,
            rate: Some(Rate::from_millihertz(24_900)),
            median: Duration::from_millis(27),
            p99: Duration::from_millis(71),
            latencies,
        }
    }

    #[test]
    fn w84_a_report_round_trips_and_is_small() {
        let channels = [quality(ChannelNo(1)), quality(ChannelNo(9))];
        let written = write("The only one.", &channels);
        assert!(written.len() <= 1 + 13 + 2 * 24, "{}", written.len());
        let report = read(&written, |_| true).unwrap();
        assert_eq!(
            (report.reason.as_str(), &report.channels[..]),
            ("The only one.", &channels[..])
        );
        let report = read(&written, |channel| channel == ChannelNo(9)).unwrap();
        assert_eq!(report.channels, [quality(ChannelNo(9))]);
        for cut in 1..written.len() {
            // A report that is cut between two channels can be read: it has one channel.
            if let Ok(report) = read(&written[..cut], |_| true) {
                assert!(report.channels.len() < 2, "{cut}");
            }
        }
    }

    #[test]
    fn w84_more_missed_than_judged_is_malformed() {
        let tally = Tally { judged: 1, missed: 2, late: 0 };
        let written = write("", &[ChannelQuality { tally, ..quality(ChannelNo(1)) }]);
        assert!(read(&written, |_| true).is_err());
    }

    #[test]
    fn w84_a_reason_is_cut_and_a_channel_is_kept_once() {
        let long = "ä".repeat(MAX_REASON);
        let written = write(&long, &[quality(ChannelNo(1)), quality(ChannelNo(1))]);
        let report = read(&written, |_| true).unwrap();
        assert_eq!(report.reason, "ä".repeat(MAX_REASON / 2).to_string());
        assert_eq!(report.channels.len(), 1);
    }

    #[test]
    fn w84_a_request_round_trips() {
        for every in [None, Some(Duration::from_secs(2))] {
            assert_eq!(read_request(&write_request(every)), Ok(every));
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let _ = read(&bytes, |_| true);
            let _ = read_request(&bytes);
        }
    }
}
