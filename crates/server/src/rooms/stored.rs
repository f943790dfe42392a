//! What a room hands to its store, in the store's terms, and back.

use groupwire_session::room::{Stored, StoredPart, StoredTransaction};
use groupwire_session::{ChannelNo, Counter, ParticipantId, Position};
use groupwire_store::{Loaded, Part, Record};

/// The room of what the store has. `last_participant`: the numbers up to this one may have been
/// given out; `reserved`: the numbers up to this one are reserved now.
pub(super) fn stored(
    loaded: Loaded,
    last_participant: ParticipantId,
    reserved: ParticipantId,
) -> Stored {
    let Loaded { incarnation, meta, parts, records, head, .. } = loaded;
    let part = |part: Part| StoredPart {
        name: part.name,
        channels: part.channels.into_iter().map(ChannelNo).collect(),
        as_of: Position(part.as_of),
        content: part.bytes,
    };
    let transaction = |record: Record| StoredTransaction {
        position: Position(record.position),
        channel: ChannelNo(record.channel),
        author: ParticipantId(record.author),
        recipient: ParticipantId(record.recipient),
        counter: Counter(record.counter),
        content: record.bytes,
    };
    Stored {
        incarnation,
        last_participant,
        reserved,
        facts: meta,
        head: Position(head),
        parts: parts.into_iter().map(part).collect(),
        transactions: records.into_iter().map(transaction).collect(),
    }
}

pub(super) fn record(one: &StoredTransaction) -> Record {
    Record {
        position: one.position.get(),
        channel: one.channel.get(),
        author: one.author.get(),
        recipient: one.recipient.get(),
        counter: one.counter.get(),
        bytes: one.content.clone(),
    }
}

pub(super) fn part(stored: &StoredPart) -> Part {
    Part {
        name: stored.name.clone(),
        channels: stored.channels.iter().map(|channel| channel.get()).collect(),
        as_of: stored.as_of.get(),
        bytes: stored.content.clone(),
    }
}
