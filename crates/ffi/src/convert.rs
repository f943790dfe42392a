//! Makes the events of this crate from those of the client.

use groupwire_client as client;
use groupwire_client::data;

use crate::event::{
    Durability, Event, GapReason, Message, Outcome, SharedChange, SharedKind, SharedLoss, Status,
};

pub(crate) fn status(status: client::Status) -> Status {
    match status {
        client::Status::Connecting => Status::Connecting,
        client::Status::Connected => Status::Connected,
        client::Status::Reconnecting => Status::Reconnecting,
        client::Status::Closed => Status::Closed,
    }
}

pub(crate) fn gap_reason(reason: client::GapReason) -> GapReason {
    match reason {
        client::GapReason::Incarnation => GapReason::Incarnation,
        client::GapReason::Session => GapReason::Session,
        client::GapReason::History => GapReason::History,
        client::GapReason::Reset => GapReason::Reset,
    }
}

pub(crate) fn outcome(receipt: client::Receipt) -> Outcome {
    match receipt {
        client::Receipt::Delivered => Outcome::Delivered,
        client::Receipt::Gone => Outcome::Gone,
        client::Receipt::NotOpen => Outcome::NotOpen,
        client::Receipt::Full => Outcome::Full,
        _ => Outcome::Unknown,
    }
}

pub(crate) fn durability(durability: client::Durability) -> Durability {
    match durability {
        client::Durability::Memory => Durability::Memory,
        client::Durability::Local => Durability::Local,
        client::Durability::Cluster => Durability::Cluster,
    }
}

pub(crate) fn message(message: client::Incoming) -> Message {
    Message {
        channel: message.channel.0,
        sender: message.sender.get(),
        bytes: message.bytes,
        text: message.text,
        key: message.key,
        age_us: u64::try_from(message.age.as_micros()).unwrap_or(u64::MAX),
        position: message.position.get(),
        index: message.index.get(),
        own: message.own,
        stale: message.stale,
        state: message.state,
        departed: message.departed.map_or(0, client::ParticipantId::get),
        to: message.to.map_or(0, client::ParticipantId::get),
    }
}

/// The event for news of shared data; `None` for what only programs in Rust are told.
pub(crate) fn shared(number: u32, news: data::DataEvent) -> Option<Event> {
    match news {
        data::DataEvent::Changed(changes) => {
            let changes = changes.into_iter().filter_map(shared_change).collect();
            Some(Event::SharedChanged { data: number, changes })
        }
        data::DataEvent::Lost(lost) => {
            let loss = match lost {
                data::Lost::Restart => SharedLoss::Restart,
                data::Lost::Snapshot => SharedLoss::Snapshot,
                _ => SharedLoss::History,
            };
            Some(Event::SharedLost { data: number, loss })
        }
        _ => None,
    }
}

fn shared_change(change: data::Change) -> Option<SharedChange> {
    let kind = match change.kind {
        data::Kind::Cells => SharedKind::Cells,
        data::Kind::Counter => SharedKind::Counter,
        data::Kind::Reducer => SharedKind::Reducer,
        data::Kind::Lock => SharedKind::Lock,
        data::Kind::Turns => SharedKind::Turns,
        _ => return None,
    };
    let keys = match kind {
        SharedKind::Cells => change.keys.iter().map(String::from).collect(),
        _ => Vec::new(),
    };
    Some(SharedChange { kind, name: String::from(&change.name), keys })
}
