//! Snapshots: the model as bytes, for a decoder that joins late. The model is all that both ends
//! have learned from earlier messages; an epoch is a version of the model that both ends are known
//! to have.
//!
//! Packets after the epoch wait to be acknowledged and are then learned; they are pending. The
//! training trace of a packet is the record of the decisions that coding it took, from which the
//! model learns. The archive is the range coder with which the body is written and read.
//!
//! ```text
//! snapshot = version settings guard body
//! version  = one byte
//! settings = four bytes: a hash of the settings that both ends must share
//! guard    = four bytes: a hash of the body
//! body     = a range coder's bytes, of: memory, position, the model, pending packets
//! position = on ordered links the hash of all messages so far; on others the hash of all that is
//!            learned, the number before the first packet of the model, the number of the epoch's
//!            packet, the acknowledgement's index, how far the newest packet is after the epoch's
//! pending  = for each packet after the epoch that will be learned: that there is another one, its
//!            number, the packet as if it were coded under the epoch, and how its training trace
//!            differs from the trace of coding it so
//! ```
//!
//! `docs/wire/gmc-snapshot.md` describes all of it for other implementations.

use alloc::vec::Vec;

use crate::archive::{Archive, Result};
use crate::batch::Batch;
use crate::config::{Config, Delivery};
use crate::datagram::acknowledgement::{AckIndex, DISTANCE_MAX};
use crate::datagram::chain::Chain;
use crate::datagram::position::{Pending, Position};
use crate::error::SnapshotError;
use crate::hash::{hash, hash_message};
use crate::packet_number::PacketNumber;
use crate::range_coder::{Coder, RangeDecoder, RangeEncoder, shared};
use crate::stream::StreamModel;
use crate::trace::Trace;

/// The content of a snapshot.
pub(crate) struct Snapshot {
    pub(crate) stream: StreamModel,
    pub(crate) position: Position,
    pub(crate) pending: Vec<Pending>,
}

/// The version of the snapshot format.
const VERSION: u8 = 1;
/// Bytes before the body: the version, and the two hashes.
const FRONT: usize = 9;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const MORE: u32 = 0x1400;

/// Appends a snapshot to `out`.
pub(crate) fn write<'a>(
    mut stream: StreamModel,
    position: Position,
    pending: impl Iterator<Item = (PacketNumber, &'a Batch, &'a Trace)>,
    out: &mut Vec<u8>,
) {
    let mut body = Vec::new();
    let mut coder = RangeEncoder::new(&mut body);
    let mut archive = Archive::new(shared(&mut coder));
    let memory = stream.config().memory as u32;
    archive.raw(32, memory);
    archive_position(&mut archive, stream.config(), position);
    let mut written = stream.archive(&mut archive);
    for (number, batch, trace) in pending {
        archive.flag(MORE, true);
        archive.raw(32, number.get());
        let epoch = position.epoch;
        let packet = stream.archive_packet(&mut archive, epoch, number, batch, trace, usize::MAX);
        written = written.and(packet.map(|_| ()));
    }
    archive.flag(MORE, false);
    coder.finish();
    debug_assert!(written.is_ok(), "what was learned can be written");
    let settings = settings(stream.config());
    out.push(VERSION);
    out.extend_from_slice(&settings.to_le_bytes());
    out.extend_from_slice(&hash_message(settings, &body).to_le_bytes());
    out.extend_from_slice(&body);
}

/// Reads a snapshot. `empty` is an empty model with the same settings.
pub(crate) fn read(empty: &StreamModel, bytes: &[u8]) -> Result<Snapshot> {
    let (&[version, a, b, c, d, e, f, g, h], body) =
        bytes.split_first_chunk::<FRONT>().ok_or(SnapshotError::Damaged)?;
    if version != VERSION {
        return Err(SnapshotError::OtherVersion);
    }
    let settings = settings(empty.config());
    if u32::from_le_bytes([a, b, c, d]) != settings {
        return Err(SnapshotError::OtherConfig);
    }
    if u32::from_le_bytes([e, f, g, h]) != hash_message(settings, body) {
        return Err(SnapshotError::Damaged);
    }
    let mut coder = RangeDecoder::new(body);
    let snapshot = read_body(&mut Archive::new(shared(&mut coder)), empty)?;
    if coder.is_complete() { Ok(snapshot) } else { Err(SnapshotError::Malformed) }
}

fn read_body<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    empty: &StreamModel,
) -> Result<Snapshot> {
    if archive.raw(32, 0) as usize != empty.config().memory {
        return Err(SnapshotError::Malformed);
    }
    let mut stream = empty.empty();
    let position = archive_position(archive, stream.config(), Position::default());
    stream.archive(archive)?;
    let pending = read_pending(archive, &mut stream, position)?;
    Ok(Snapshot { stream, position, pending })
}

fn read_pending<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    stream: &mut StreamModel,
    position: Position,
) -> Result<Vec<Pending>> {
    let Position { epoch, newest, .. } = position;
    let mut pending = Vec::new();
    // The encoder only estimates the memory of a packet before the packet is pending. So twice the
    // memory is allowed.
    let mut left = 2 * stream.remaining();
    // Numbers ascend from the epoch's up to the newest. On an ordered link the two are equal, and
    // no packet waits.
    let most = newest.since(epoch).min(DISTANCE_MAX);
    let mut last = 0;
    while archive.flag(MORE, false) {
        let number = PacketNumber::new(archive.raw(32, 0));
        let ahead = number.since(epoch);
        if ahead <= last || ahead > most {
            return Err(SnapshotError::Malformed);
        }
        last = ahead;
        let given = (Batch::default(), Trace::default());
        // One packet may be larger than all the memory for pending ones.
        let limit = if pending.is_empty() { usize::MAX } else { left };
        let (batch, trace) =
            stream.archive_packet(archive, epoch, number, &given.0, &given.1, limit)?;
        let memory = batch.memory() + trace.memory();
        if memory > limit {
            return Err(SnapshotError::Malformed);
        }
        left = left.saturating_sub(memory);
        pending.push(Pending { number, batch, trace });
    }
    Ok(pending)
}

fn archive_position<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    config: &Config,
    given: Position,
) -> Position {
    let chain = Chain::new(archive.raw(32, given.chain.get()));
    if config.delivery == Delivery::Ordered {
        return Position { chain, ..Position::default() };
    }
    let base = PacketNumber::new(archive.raw(32, given.base.get()));
    let epoch = PacketNumber::new(archive.raw(32, given.epoch.get()));
    let index = AckIndex::new(archive.raw(8, u32::from(given.index.low_byte())));
    let newest = epoch.plus(archive.raw(16, given.newest.since(given.epoch)));
    Position { base, epoch, chain, index, newest }
}

/// A hash of the settings that both ends must share.
fn settings(config: &Config) -> u32 {
    let delivery = match config.delivery {
        Delivery::Ordered => 0,
        Delivery::Datagrams => 1,
        Delivery::Room => 2,
    };
    let numbers = [
        delivery,
        config.memory,
        config.field_count(),
        config.max_message,
        config.max_messages_per_packet,
        config.max_packet,
        usize::from(config.check),
    ];
    let halves = |number: usize| [number as u64 as u32, (number as u64 >> 32) as u32];
    numbers.into_iter().flat_map(halves).fold(0x54a9, hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range_coder::Silent;
    use crate::{Decoder, Encoder};
    use alloc::format;
    use alloc::vec;
    use proptest::prelude::*;

    /// A message of one of four types.
    fn message(index: u32) -> Vec<u8> {
        match index % 4 {
            0 => format!(r#"{{"who":"user-{}","x":{}}}"#, index % 3, index * 7),
            1 => format!("<x> {} </x>", f64::from(index) * 1.137 + 3.2),
            2 => format!("say {} {}", ["hello", "good day", "bye"][index as usize % 3], index),
            _ => format!(r#"{{"x":{}.5,"y":-{}}}"#, index % 17, index * index),
        }
        .into_bytes()
    }

    /// A session that fills all parts of the model.
    fn session(delivery: Delivery) -> (Config, Encoder) {
        let config = Config { memory: 16 << 10, delivery, ..Config::default() };
        let mut encoder = Encoder::new(config.clone());
        for index in 0..120u32 {
            let packed = [0x82, 0xa1, b'a', 0xcd, 1, index as u8, 0xa1, b'b', 0xa2, b'h', b'i'];
            encoder.encode(&message(index), &mut Vec::new()).expect("it is small");
            encoder.encode(&packed, &mut Vec::new()).expect("it is small");
            encoder.advance(encoder.newest().saturating_sub(4));
        }
        (config, encoder)
    }

    /// Replaces the guard by that of the changed body.
    fn guard(bytes: &mut [u8]) {
        if let Some((front, body)) = bytes.split_first_chunk_mut::<FRONT>() {
            let [_, a, b, c, d, ..] = *front;
            let settings = u32::from_le_bytes([a, b, c, d]);
            front[5..].copy_from_slice(&hash_message(settings, body).to_le_bytes());
        }
    }

    fn use_decoder(config: &Config, bytes: &[u8], encoder: &mut Encoder, junk: &[u8]) {
        let Ok(mut decoder) = Decoder::from_snapshot(config.clone(), bytes) else { return };
        for index in 0..20 {
            let mut packet = Vec::new();
            let message = format!(r#"{{"who":"user-{index}","x":{}}}"#, index * 9);
            encoder.encode(message.as_bytes(), &mut packet).expect("it is small");
            let _ = decoder.decode_packet(&packet, |_| {});
            decoder.acknowledge(&mut Vec::new());
        }
        let Ok(mut decoder) = Decoder::from_snapshot(config.clone(), bytes) else { return };
        for packet in junk.chunks(12) {
            let _ = decoder.decode_packet(packet, |_| {});
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn hostile_snapshots_are_harmless(
            changes in proptest::collection::vec((0.0f64..1.0, any::<u8>()), 0..4),
            cut in 0.0f64..1.5,
            junk in proptest::collection::vec(any::<u8>(), 0..600),
            room: bool,
        ) {
            let delivery = if room { Delivery::Room } else { Delivery::Ordered };
            let (config, mut encoder) = session(delivery);
            let mut bytes = Vec::new();
            encoder.snapshot(&mut bytes);
            for (at, byte) in changes {
                let length = bytes.len() - FRONT;
                bytes[FRONT + (at * length as f64) as usize] = byte;
            }
            bytes.truncate(FRONT + (cut * bytes.len() as f64) as usize);
            guard(&mut bytes);
            use_decoder(&config, &bytes, &mut encoder, &junk);
        }

        /// As in `hostile_snapshots_are_harmless`, but the guard is not checked, and further bytes
        /// may follow the body: any model that can be written must be harmless, however improbable.
        #[test]
        fn improbable_models_are_harmless(
            changes in proptest::collection::vec((0.0f64..1.0, any::<u8>()), 1..4),
            junk in proptest::collection::vec(any::<u8>(), 0..600),
        ) {
            let (config, encoder) = session(Delivery::Ordered);
            let mut bytes = Vec::new();
            encoder.snapshot(&mut bytes);
            let body = &mut bytes[FRONT..];
            for (at, byte) in changes {
                body[(at * body.len() as f64) as usize] = byte;
            }
            // Bytes to read after the end of the body.
            bytes.extend(junk.iter().cycle().take(40_000 * usize::from(!junk.is_empty())));
            let empty = StreamModel::new(config.clone());
            let mut coder = RangeDecoder::new(&bytes[FRONT..]);
            let mut archive = Archive::new(&mut coder);
            if let Ok(Snapshot { mut stream, .. }) = read_body(&mut archive, &empty) {
                let mut done = Batch::default();
                for packet in junk.chunks(12) {
                    done.clear();
                    let mut coder = RangeDecoder::new(packet);
                    let _ = stream.code_ordered(&mut coder, &Batch::default(), &mut done);
                }
                for index in 0..60u32 {
                    let mut batch = Batch::default();
                    let bytes = message(index);
                    let message = crate::Message { fields: &[], bytes: &bytes };
                    batch.add(message, &config).expect("it is small");
                    done.clear();
                    let learned = stream.code_ordered(&mut Silent, &batch, &mut done);
                    prop_assert!(learned.is_ok() && done.bytes == batch.bytes);
                    if index == 30 {
                        stream.compact();
                    }
                }
            }
        }

        #[test]
        fn invented_snapshots_are_harmless(
            body in proptest::collection::vec(any::<u8>(), 0..3000),
            junk in proptest::collection::vec(any::<u8>(), 0..600),
            room: bool,
        ) {
            let delivery = if room { Delivery::Room } else { Delivery::Ordered };
            let config = Config { memory: 16 << 10, delivery, ..Config::default() };
            let mut encoder = Encoder::new(config.clone());
            let mut bytes = Vec::new();
            encoder.snapshot(&mut bytes);
            bytes.truncate(FRONT);
            // The memory is written first, and most random bytes would fail there.
            let mut start = vec![];
            let mut coder = RangeEncoder::new(&mut start);
            (0..32).rev().for_each(|shift| {
                coder.bit(1 << 15, (16 << 10) >> shift & 1 == 1);
            });
            coder.finish();
            bytes.extend(start);
            bytes.extend(body);
            guard(&mut bytes);
            use_decoder(&config, &bytes, &mut encoder, &junk);
        }
    }

    /// A snapshot of a model alone.
    fn written(stream: &StreamModel) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(stream.copy(), Position::default(), core::iter::empty(), &mut bytes);
        bytes
    }

    #[test]
    fn waiting_packets_are_in_order() {
        let waiting = |delivery: Delivery, newest: u32, numbers: &[u32]| {
            let config = Config { memory: 16 << 10, delivery, ..Config::default() };
            let (mut batch, trace) = (Batch::default(), Trace::default());
            let message = crate::Message { fields: &[], bytes: b"{}" };
            batch.add(message, &config).expect("it is small");
            // Numbers wrap around.
            let number = |ahead: u32| PacketNumber::new(u32::MAX - 5).plus(ahead);
            let position =
                Position { epoch: number(0), newest: number(newest), ..Position::default() };
            let pending = numbers.iter().map(|&ahead| (number(ahead), &batch, &trace));
            let mut bytes = Vec::new();
            write(StreamModel::new(config.clone()), position, pending, &mut bytes);
            let read = read(&StreamModel::new(config), &bytes).map(|read| read.pending);
            read.map(|packets| packets.iter().map(|it| it.number.since(number(0))).collect())
        };
        let in_order: &[&[u32]] = &[&[], &[1], &[2, 3, 9], &[1, 10]];
        for delivery in [Delivery::Room, Delivery::Datagrams] {
            for numbers in in_order {
                assert_eq!(waiting(delivery, 10, numbers), Ok(numbers.to_vec()));
            }
            for numbers in [&[0][..], &[1, 1], &[2, 1], &[4, 9, 5], &[11], &[u32::MAX]] {
                assert_eq!(waiting(delivery, 10, numbers), Err(SnapshotError::Malformed));
            }
            assert_eq!(waiting(delivery, 2000, &[1024]), Ok(vec![1024]));
            assert_eq!(waiting(delivery, 2000, &[1025]), Err(SnapshotError::Malformed));
        }
        // An ordered link has no packets that wait.
        assert_eq!(waiting(Delivery::Ordered, 0, &[]), Ok(vec![]));
        assert_eq!(waiting(Delivery::Ordered, 10, &[6]), Err(SnapshotError::Malformed));
    }

    /// Compaction forgets entries that were used longest ago, of which a newcomer must know the
    /// order like all others.
    #[test]
    fn a_newcomers_model_is_compacted_like_the_encoders() {
        let config = Config { fields: 2, memory: 256 << 10, ..Config::default() };
        let say = |stream: &mut StreamModel, index: u32| {
            let bytes = message(index);
            let mut batch = Batch::default();
            let message = crate::Message { fields: &[0, index % 300], bytes: &bytes };
            batch.add(message, &config).expect("it is small");
            let said = stream.code_ordered(&mut Silent, &batch, &mut Batch::default());
            said.expect("messages within the limits are coded");
        };
        let mut encoder = StreamModel::new(config.clone());
        (0..2000).for_each(|index| say(&mut encoder, index));
        let read = read(&StreamModel::new(config.clone()), &written(&encoder));
        let mut newcomer = read.expect("it was just made").stream;
        for stream in [&mut encoder, &mut newcomer] {
            (2000..2005).for_each(|index| say(stream, index));
        }
        assert!(written(&newcomer) == written(&encoder));
        for stream in [&mut encoder, &mut newcomer] {
            stream.compact();
        }
        assert!(written(&newcomer) == written(&encoder));
    }

    #[test]
    fn a_newcomers_model_is_the_encoders() {
        for delivery in [Delivery::Ordered, Delivery::Room, Delivery::Datagrams] {
            let (config, encoder) = session(delivery);
            let mut bytes = Vec::new();
            encoder.snapshot(&mut bytes);
            let empty = StreamModel::new(config);
            let read = read(&empty, &bytes).expect("it was just made");
            let mut again = Vec::new();
            let pending: Vec<_> = read
                .pending
                .iter()
                .map(|packet| (packet.number, &packet.batch, &packet.trace))
                .collect();
            write(read.stream.copy(), read.position, pending.into_iter(), &mut again);
            assert_eq!(again, bytes);
        }
    }
}
