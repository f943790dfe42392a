//! The entries that a log consists of, and their form as bytes.
//!
//! Each entry is a tag, a length and its fields: numbers as varints (wire W1), texts and bytes after their length
//! (except for bytes that end the entry). Entries come from disks and from other servers, so reading them never panics,
//! and takes memory only in proportion to their size.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::message::{Message, Value};
use super::sessions::Session;
use crate::limits::MAX_CHANNEL_NAME;
use crate::wire::io::{Reader, Write};
use crate::{ChannelNo, Counter, Error, Index, Order, ParticipantId, Position, Qos};

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::room) enum Entry {
    /// The first entry: the state before the first transaction.
    Base(Base),
    /// The room has a further channel. Channels are numbered in the order of these entries.
    Channel { name: String, qos: Qos },
    /// The QoS of a channel changed to `qos`.
    Change { channel: ChannelNo, qos: Qos },
    /// A participant's session began, or, in a log that was written out at once, this is its present state.
    Session { participant: ParticipantId, session: Session },
    /// A participant left.
    Ended { participant: ParticipantId },
    /// The next transaction. Its position is the one after the last.
    Transaction { order: Order, message: Message, counter: Counter },
    /// A value. `conflates`: true if a newer value of the same key will replace it.
    Value { order: Order, value: Value, conflates: bool },
    /// The state of the application as of a position.
    Snapshot { as_of: Position, bytes: Vec<u8> },
    /// The order of the last message that came, which may no longer be in the log.
    Order(Order),
}

/// The state of a log before its first transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::room) struct Base {
    /// A number that differs each time the room is made anew, without its old log.
    pub(in crate::room) incarnation: u64,
    /// The last number that was given to a participant.
    pub(in crate::room) last_participant: ParticipantId,
    /// The first transaction is the one after this position.
    pub(in crate::room) position: Position,
    /// Bytes of all transactions, in memory or not, that no snapshot covers.
    pub(in crate::room) uncovered_bytes: usize,
    /// For each channel, its last transaction at or before `position`.
    pub(in crate::room) trimmed: BTreeMap<ChannelNo, Position>,
}

const BASE: u8 = 1;
const CHANNEL: u8 = 2;
const CHANGE: u8 = 3;
const SESSION: u8 = 4;
const ENDED: u8 = 5;
const TRANSACTION: u8 = 6;
const VALUE: u8 = 7;
const SNAPSHOT: u8 = 8;
const ORDER: u8 = 9;

/// Flags of a message and of a value.
const TEXT: u8 = 1;
const KEY: u8 = 2;
const PRIORITY: u8 = 4;
const EXPIRES: u8 = 8;
const SECOND: u8 = 16;
const CONFLATES: u8 = 32;

impl Entry {
    /// Appends the entry as bytes.
    pub(in crate::room) fn write(&self, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        let tag = self.write_fields(&mut fields);
        out.u8(tag);
        out.bytes(&fields);
    }

    /// Reads all entries of a log.
    pub(in crate::room) fn read_all(
        bytes: &[u8],
    ) -> impl Iterator<Item = Result<Entry, Error>> + '_ {
        let mut reader = Reader::new(bytes, "log");
        core::iter::from_fn(move || {
            if reader.is_empty() {
                return None;
            }
            let entry = Entry::read(&mut reader);
            if entry.is_err() {
                // After a damaged entry, nobody knows where the next entry begins.
                reader.rest();
            }
            Some(entry)
        })
    }

    fn write_fields(&self, out: &mut Vec<u8>) -> u8 {
        match self {
            Entry::Base(base) => {
                out.u64(base.incarnation);
                out.varint(base.last_participant.into());
                out.varint(base.position.into());
                out.varint(base.uncovered_bytes as u64);
                for (&channel, &position) in &base.trimmed {
                    out.varint(channel.into());
                    out.varint(position.into());
                }
                BASE
            }
            Entry::Channel { name, qos } => {
                out.bytes(name.as_bytes());
                qos.write(out);
                CHANNEL
            }
            Entry::Change { channel, qos } => {
                out.varint((*channel).into());
                qos.write(out);
                CHANGE
            }
            Entry::Session { participant, session } => {
                out.varint((*participant).into());
                out.varint(session.counter.into());
                SESSION
            }
            Entry::Ended { participant } => {
                out.varint((*participant).into());
                ENDED
            }
            Entry::Transaction { order, message, counter } => {
                out.varint((*order).into());
                out.varint((*counter).into());
                write_message(message, 0, out);
                TRANSACTION
            }
            Entry::Value { order, value, conflates } => {
                out.varint((*order).into());
                out.varint(value.index.into());
                out.varint(value.after.into());
                let expires = value.expires.map(nanos);
                let flags = flag(EXPIRES, expires.is_some())
                    | flag(SECOND, value.is_second)
                    | flag(CONFLATES, *conflates);
                out.varint(expires.unwrap_or(0));
                write_message(&value.message, flags, out);
                VALUE
            }
            Entry::Snapshot { as_of, bytes } => {
                out.varint((*as_of).into());
                out.extend_from_slice(bytes);
                SNAPSHOT
            }
            Entry::Order(order) => {
                out.varint((*order).into());
                ORDER
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Entry, Error> {
        let tag = reader.u8()?;
        let fields = reader.bytes(usize::MAX, "log entry")?;
        let mut fields = Reader::new(fields, "log entry");
        let entry = Entry::read_fields(tag, &mut fields)?;
        fields.finish()?;
        Ok(entry)
    }

    fn read_fields(tag: u8, reader: &mut Reader<'_>) -> Result<Entry, Error> {
        Ok(match tag {
            BASE => Entry::Base(Base {
                incarnation: reader.u64()?,
                last_participant: ParticipantId(reader.varint_u32()?),
                position: Position(reader.varint()?),
                uncovered_bytes: size(reader)?,
                trimmed: {
                    let mut trimmed = BTreeMap::new();
                    while !reader.is_empty() {
                        let channel = ChannelNo(reader.varint_u32()?);
                        trimmed.insert(channel, Position(reader.varint()?));
                    }
                    trimmed
                },
            }),
            CHANNEL => Entry::Channel {
                name: reader.text(MAX_CHANNEL_NAME, "channel name")?.into(),
                qos: Qos::read(reader)?,
            },
            CHANGE => {
                Entry::Change { channel: ChannelNo(reader.varint_u32()?), qos: Qos::read(reader)? }
            }
            SESSION => Entry::Session {
                participant: ParticipantId(reader.varint_u32()?),
                session: Session { counter: Counter(reader.varint_u32()?) },
            },
            ENDED => Entry::Ended { participant: ParticipantId(reader.varint_u32()?) },
            TRANSACTION => {
                let order = Order(reader.varint()?);
                let counter = Counter(reader.varint_u32()?);
                let (message, _) = read_message(reader)?;
                Entry::Transaction { order, message, counter }
            }
            VALUE => {
                let order = Order(reader.varint()?);
                let index = Index(reader.varint_u32()?);
                let after = Counter(reader.varint_u32()?);
                let expires = Duration::from_nanos(reader.varint()?);
                let (message, flags) = read_message(reader)?;
                let expires = (flags & EXPIRES != 0).then_some(expires);
                let is_second = flags & SECOND != 0;
                let value = Value { message, index, after, expires, is_second };
                Entry::Value { order, value, conflates: flags & CONFLATES != 0 }
            }
            SNAPSHOT => {
                Entry::Snapshot { as_of: Position(reader.varint()?), bytes: reader.rest().into() }
            }
            ORDER => Entry::Order(Order(reader.varint()?)),
            _ => return Err(Error::malformed("log: an unknown kind of entry")),
        })
    }
}

fn write_message(message: &Message, flags: u8, out: &mut Vec<u8>) {
    let Message { channel, sender, key, priority, text, bytes, born } = message;
    out.u8(flags
        | flag(TEXT, *text)
        | flag(KEY, key.is_some())
        | flag(PRIORITY, priority.is_some()));
    out.varint((*channel).into());
    out.varint((*sender).into());
    out.varint(nanos(*born));
    if let Some(priority) = priority {
        out.u8(*priority);
    }
    if let Some(key) = key {
        out.bytes(key);
    }
    out.extend_from_slice(bytes);
}

fn read_message(reader: &mut Reader<'_>) -> Result<(Message, u8), Error> {
    let flags = reader.u8()?;
    let channel = ChannelNo(reader.varint_u32()?);
    let sender = ParticipantId(reader.varint_u32()?);
    let born = Duration::from_nanos(reader.varint()?);
    let priority = if flags & PRIORITY != 0 { Some(reader.u8()?) } else { None };
    let key = match flags & KEY {
        0 => None,
        _ => Some(reader.bytes(usize::MAX, "key")?.into()),
    };
    let text = flags & TEXT != 0;
    let bytes = reader.rest();
    if text && core::str::from_utf8(bytes).is_err() {
        return Err(Error::InvalidText { what: "text message" });
    }
    Ok((Message { channel, sender, key, priority, text, bytes: bytes.into(), born }, flags))
}

fn flag(flag: u8, is_set: bool) -> u8 {
    if is_set { flag } else { 0 }
}

fn size(reader: &mut Reader<'_>) -> Result<usize, Error> {
    usize::try_from(reader.varint()?).map_err(|_| reader.malformed())
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::log::Log;
    use crate::{Limits, Overflow};
    use proptest::prelude::*;

    fn log_after(steps: &[(u8, u8, u8)]) -> Log {
        let limits = Limits {
            max_awareness_bytes: 5000,
            max_log_bytes: 4000,
            max_former: 3,
            ..Limits::default()
        };
        let mut log = Log::new(7, limits);
        let qos = [Qos::transaction(), Qos::awareness(), Qos::awareness().aggregate()];
        for (name, qos) in ["log", "pointer", "trace"].into_iter().zip(qos) {
            log.add_channel(name, qos);
        }
        for (at, &(step, who, what)) in (1..).zip(steps) {
            let now = Duration::from_millis(at);
            let present: Vec<ParticipantId> = log.sessions.present().map(|(id, _)| id).collect();
            let Some(&sender) = present.get(usize::from(who) % present.len().max(1)) else {
                log.begin_session();
                continue;
            };
            let channel = ChannelNo(1 + u32::from(step % 3));
            let is_conflated = log.channel(channel).qos.overflow == Overflow::Conflate;
            let message = Message {
                channel,
                sender,
                key: (what > 99 || is_conflated).then(|| [what % 4].into()),
                priority: (what % 3 == 0).then_some(what),
                text: what < 128,
                bytes: alloc::vec![what % 128; usize::from(what)].into(),
                born: now,
            };
            match step {
                200..=209 => log.end_session(sender, 0),
                210..=219 => _ = log.begin_session(),
                220..=225 => _ = log.set_snapshot(log.head(), alloc::vec![what; 9]),
                226..=229 => log.change_channel(ChannelNo(2), Qos::awareness().priority(what)),
                230..=235 => log.expire(now, Order(at / 2)),
                236..=240 => log.resume_session(ParticipantId(who.into())),
                _ if channel == ChannelNo(1) => {
                    let counter = log.session(sender).unwrap().counter.next();
                    log.append(message, counter).unwrap();
                }
                _ => {
                    let pairs = (what % 2 == 0).then_some(Order(at / 2));
                    let value = Value::new(message, Index(at as u32), Counter(0));
                    log.put(now, value, pairs);
                }
            }
        }
        log
    }

    fn written(log: &Log) -> Vec<u8> {
        let mut bytes = Vec::new();
        log.entries().for_each(|entry| entry.write(&mut bytes));
        bytes
    }

    proptest! {
        #[test]
        fn a_log_that_was_written_out_is_restored(
            steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..300),
        ) {
            let log = log_after(&steps);
            let bytes = written(&log);
            let restored = Log::restore(log.limits.clone(), Entry::read_all(&bytes)).unwrap();
            prop_assert!(log.entries().eq(restored.entries()));
            prop_assert_eq!((log.end(), log.tail()), (restored.end(), restored.tail()));
            prop_assert_eq!(log.memory(), restored.memory());
            prop_assert_eq!(log.wants_snapshot(), restored.wants_snapshot());
        }

        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let _ = Log::restore(Limits::default(), Entry::read_all(&bytes));
        }

        #[test]
        fn a_damaged_log_never_panics(
            steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..50),
            at: proptest::sample::Index,
            bit in 0..8,
        ) {
            let log = log_after(&steps);
            let mut bytes = written(&log);
            let at = at.index(bytes.len());
            bytes[at] ^= 1u8 << bit;
            let _ = Log::restore(log.limits.clone(), Entry::read_all(&bytes));
            let _ = Log::restore(log.limits.clone(), Entry::read_all(&bytes[..at]));
        }
    }
}
