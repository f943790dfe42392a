//! The messages of a telepointer: when, how much, and bytes that can be checked on arrival.
//!
//! Real motion is read from recordings of mice; without them there is a generator, whose clusters
//! and pauses are those of the recordings: clusters of 33 messages in the median, 1.1 s at 30 per
//! second.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::random::derive;
use crate::drawing::random::Random;
use crate::trace::{Error, Trace};

/// The time between two updates: at most 30 per second.
pub const INTERVAL: Duration = Duration::from_nanos(33_333_333);

/// The fewest bytes of an update: those of a telepointer that is encoded well (AFEC paper, section
/// 3).
pub const SHORTEST: usize = 15;
/// The most bytes of an update.
pub const LONGEST: usize = 25;

/// One message of a telepointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// The time at which it is sent.
    pub at: Duration,
    /// The key, for channels on which the newest value of a key counts: the pointer.
    pub key: u32,
    /// The number of its bytes, from [`SHORTEST`] to [`LONGEST`].
    pub len: usize,
}

/// `count` updates of a generated pointer: clusters at 30 per second, their length log-normal with
/// a median of 33 messages and a deviation of 0.8 of the logarithm, from 3 to 300; between them
/// pauses of 0.53 s and exponentially distributed 1.3 s more.
pub fn generated(seed: u64, count: usize) -> Vec<Update> {
    let mut random = Random::new(seed);
    let mut updates = Vec::with_capacity(count);
    let mut at = Duration::ZERO;
    while updates.len() < count {
        let length = random.skewed(33.0, 0.8).round().clamp(3.0, 300.0) as u32;
        for n in 0..length.min((count - updates.len()) as u32) {
            updates.push(update(seed, updates.len(), at + INTERVAL * n));
        }
        let exponential = -1.3 * (1.0 - random.between(0.0, 1.0)).ln();
        // Times are whole microseconds, so that the last bit of a machine's logarithm makes no
        // difference.
        at += INTERVAL * (length - 1) + Duration::from_micros(530_000 + (exponential * 1e6) as u64);
    }
    updates
}

/// The updates of a recorded pointer (`*.csv` or `*.csv.gz`, see [`crate::trace`]): its place at
/// each 30th of a second, when that is another than before.
///
/// # Errors
/// A file that is not there or is no recording of a pointer.
pub fn recorded(path: &Path) -> Result<Vec<Update>, Error> {
    Ok(sampled(&Trace::read(path)?))
}

/// Joins the updates of several recordings, one after another with a pause of 2 s, and repeats them
/// until there are `count`.
pub fn joined(recordings: &[Vec<Update>], count: usize) -> Vec<Update> {
    let mut updates = Vec::with_capacity(count);
    let mut start = Duration::ZERO;
    for recording in recordings.iter().filter(|one| !one.is_empty()).cycle() {
        for one in &recording[..recording.len().min(count - updates.len())] {
            updates.push(Update { at: start + one.at, ..*one });
        }
        if updates.len() == count {
            break;
        }
        start = updates.last().map_or(start, |last| last.at) + Duration::from_secs(2);
    }
    updates
}

/// Writes the payload of a stream's n-th message: its number, and bytes that do not compress.
pub fn write_payload(number: u32, len: usize, payload: &mut Vec<u8>) {
    payload.extend_from_slice(&number.to_le_bytes());
    let mut left = len.saturating_sub(4);
    let mut part = 0;
    while left > 0 {
        let bytes = derive(number.into(), part).to_le_bytes();
        payload.extend_from_slice(&bytes[..left.min(8)]);
        left = left.saturating_sub(8);
        part += 1;
    }
}

/// The number of a message, if its payload is what [`write_payload`] wrote.
pub fn number_of(payload: &[u8]) -> Option<u32> {
    let number = u32::from_le_bytes(payload.first_chunk().copied()?);
    let parts = payload[4..].chunks(8);
    let genuine = (0..)
        .zip(parts)
        .all(|(part, bytes)| derive(number.into(), part).to_le_bytes().starts_with(bytes));
    genuine.then_some(number)
}

fn update(seed: u64, number: usize, at: Duration) -> Update {
    let lengths = (LONGEST - SHORTEST + 1) as u64;
    let len = SHORTEST + (derive(seed, number as u64) % lengths) as usize;
    Update { at, key: 0, len }
}

#[derive(Deserialize, PartialEq, Clone, Copy)]
struct PointerPosition {
    x: f64,
    y: f64,
}

fn sampled(trace: &Trace) -> Vec<Update> {
    let places = trace.messages.iter().filter_map(|message| {
        let place: Option<PointerPosition> = serde_json::from_slice(&message.bytes).ok();
        Some((message.at, place?))
    });
    let mut updates: Vec<Update> = Vec::new();
    // The place that was sent last, and the newest one with the time of the tick that samples it.
    let mut sent = None;
    let mut newest: Option<(Duration, PointerPosition)> = None;
    let mut send = |newest: Option<(Duration, PointerPosition)>| {
        if let Some((at, place)) = newest.filter(|newest| sent != Some(newest.1)) {
            sent = Some(place);
            updates.push(update(0, updates.len(), at));
        }
    };
    for (at, place) in places {
        let tick = at.as_nanos().div_ceil(INTERVAL.as_nanos());
        let looked_at = INTERVAL * u32::try_from(tick).unwrap_or(u32::MAX);
        if newest.is_some_and(|newest| newest.0 < looked_at) {
            send(newest);
        }
        newest = Some((looked_at, place));
    }
    send(newest);
    updates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceMessage;

    /// The lengths of clusters, which end at half a second without a message.
    fn clusters(updates: &[Update]) -> Vec<usize> {
        let pause = Duration::from_millis(500);
        let mut lengths: Vec<_> =
            updates.chunk_by(|one, two| two.at - one.at < pause).map(<[_]>::len).collect();
        lengths.sort_unstable();
        lengths
    }

    #[test]
    fn a_generated_pointer_moves_in_clusters() {
        let updates = generated(1, 100_000);
        assert_eq!(updates.len(), 100_000);
        assert!(updates.windows(2).all(|two| two[1].at >= two[0].at + INTERVAL));
        assert!(updates.iter().all(|one| (SHORTEST..=LONGEST).contains(&one.len)));
        let clusters = clusters(&updates);
        let median = clusters[clusters.len() / 2];
        assert!((31..=35).contains(&median), "{median}");
        assert!(clusters[1] >= 3 && clusters[clusters.len() - 1] <= 300);
        // A log-normal distribution has 16 % over exp(0.8) of the median.
        let over = clusters.iter().filter(|length| **length > 73).count() as f64;
        assert!((0.13..0.19).contains(&(over / clusters.len() as f64)), "{over}");
        let moving = INTERVAL * (updates.len() - clusters.len()) as u32;
        let pauses = (updates[99_999].at - moving).as_secs_f64() / clusters.len() as f64;
        assert!((1.75..1.91).contains(&pauses), "{pauses}");
        assert_eq!(updates, generated(1, 100_000));
        assert_eq!(updates[..500], generated(1, 500));
        assert_ne!(updates, generated(2, 100_000));
    }

    #[test]
    fn a_recorded_pointer_is_looked_at_30_times_a_second() {
        let message = |ms, x: u32| TraceMessage {
            at: Duration::from_millis(ms),
            sender: 0,
            kind: 0,
            bytes: format!(r#"{{"t":0,"x":{x},"y":5.5,"state":"Move"}}"#).into_bytes().into(),
        };
        let messages = [(0, 1), (5, 2), (10, 3), (30, 4), (40, 4), (90, 5), (95, 4), (1000, 6)]
            .map(|(ms, x)| message(ms, x));
        let trace = Trace { messages: messages.into(), kinds: vec![], timed: true };
        let ticks: Vec<_> = sampled(&trace)
            .iter()
            .map(|update| (update.at.as_secs_f64() * 30.0).round() as u32)
            .collect();
        // At once, with place 4 after 33 ms, then nothing new, since place 5 was gone within the
        // tick; then 6, for which the tick before 1000 ms is too early by some nanoseconds.
        assert_eq!(ticks, [0, 1, 31]);
    }

    #[test]
    fn recordings_follow_each_other() {
        let recordings = [generated(1, 40), vec![], generated(2, 30)];
        let updates = joined(&recordings, 150);
        assert_eq!(updates.len(), 150);
        assert!(updates.is_sorted_by_key(|one| one.at));
        assert_eq!(updates[40].at, updates[39].at + Duration::from_secs(2));
        assert_eq!(updates[70].len, updates[0].len);
        assert!(joined(&[vec![]], 5).is_empty());
    }

    #[test]
    fn payloads_tell_their_number_and_damage() {
        for (number, len) in [(0, 15), (7, 16), (70_000, 20), (9, 25), (5, 4)] {
            let mut payload = Vec::new();
            write_payload(number, len, &mut payload);
            assert_eq!((payload.len(), number_of(&payload)), (len, Some(number)));
            if len > 4 {
                *payload.last_mut().unwrap() ^= 1;
                assert_eq!(number_of(&payload), None);
            }
        }
        assert_eq!(number_of(&[1, 2, 3]), None);
    }
}
