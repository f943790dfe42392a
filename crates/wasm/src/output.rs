//! Converts the session's outputs to JavaScript objects. The field `type` of an object names the
//! kind of output. `web/client/src/core.ts` has the TypeScript types of these objects.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use groupwire_session::client::{Event, GapReason, Incoming, Output, ParticipantChange, Status};
use groupwire_session::{ContractEvent, Owner, PresenceState, Receipt};
use wasm_bindgen::prelude::JsValue;

use crate::plain::Plain;
use crate::{contract, failure, millis, number, qos};

pub(crate) fn describe(output: Output) -> Plain {
    match output {
        Output::Dial => Plain::of("dial"),
        Output::Send(packet) => Plain::of("send").with("packet", packet),
        Output::Datagram(packet) => Plain::of("datagram").with("packet", packet),
        Output::Hangup => Plain::of("hangup"),
        Output::Timeout(at) => Plain::of("timeout").with("at", at.map(millis)),
        Output::Event(event) => event_fields(event),
    }
}

fn event_fields(event: Event) -> Plain {
    match event {
        Event::Status(status) => Plain::of("status").with(
            "status",
            match status {
                Status::Connecting => "connecting",
                Status::Connected => "connected",
                Status::Reconnecting => "reconnecting",
                Status::Closed => "closed",
            },
        ),
        Event::Joined { participant, .. } => {
            Plain::of("joined").with("participant", participant.get())
        }
        Event::Opened { channel, qos } => {
            Plain::of("opened").with("channel", channel.0).with("qos", qos::write(&qos))
        }
        Event::Closed { channel } => Plain::of("closed").with("channel", channel.0),
        Event::Changed { channel, qos } => {
            Plain::of("changed").with("channel", channel.0).with("qos", qos::write(&qos))
        }
        Event::Contract(ContractEvent { channel, state, measures, .. }) => Plain::of("contract")
            .with("channel", channel.0)
            .with("news", contract::state(state, &measures)),
        Event::Message(message) => incoming("message", message),
        // The sender learns of its own message from the receipt.
        Event::Direct(message) if message.own => Plain::of("unknown"),
        Event::Direct(message) => incoming("direct", message),
        Event::Receipt { to, receipt, .. } => {
            let receipt = match receipt {
                Receipt::Delivered => "delivered",
                Receipt::Gone => "gone",
                Receipt::NotOpen => "not-open",
                Receipt::Full => "full",
                _ => "unknown",
            };
            Plain::of("receipt").with("tag", to.tag).with("receipt", receipt)
        }
        Event::Participants { complete, changes } => {
            let changes: Vec<JsValue> = changes.into_iter().map(change).collect();
            Plain::of("participants").with("complete", complete).with("changes", changes)
        }
        Event::Count { count, everybody } => {
            Plain::of("count").with("count", count).with("complete", everybody)
        }
        Event::Page { participants, last, .. } => {
            let participants: Vec<JsValue> = participants.into_iter().map(change).collect();
            Plain::of("page").with("participants", participants).with("last", last)
        }
        Event::Synced { channel } => {
            Plain::of("synced").with("channel", channel.map(|channel| channel.0))
        }
        Event::SnapshotWanted { part, as_of } => {
            Plain::of("snapshotWanted").with("part", part).with("asOf", number(as_of.get()))
        }
        Event::Snapshot { part, as_of, bytes } => Plain::of("snapshot")
            .with("part", part)
            .with("asOf", number(as_of.get()))
            .with("data", bytes),
        Event::Gap { reason, uncertain, missing } => {
            let reason = match reason {
                GapReason::Incarnation => "incarnation",
                GapReason::Session => "session",
                GapReason::History => "history",
                GapReason::Reset => "reset",
            };
            Plain::of("gap")
                .with("reason", reason)
                .with("uncertain", number(uncertain as u64))
                .with("channel", missing.map(|(channel, _)| channel.0))
        }
        Event::Quiet { quiet } => Plain::of("quiet").with("quiet", quiet),
        Event::TokenWanted => Plain::of("tokenWanted"),
        // A page asks the server itself for its port of WebTransport.
        Event::Owner(Owner { after, address, .. }) => {
            Plain::of("owner").with("after", millis(after)).with("address", address)
        }
        Event::Drain => Plain::of("drain"),
        Event::Pending { count } => Plain::of("pending").with("count", number(count as u64)),
        Event::Error { error, channel, fatal } => Plain::of("error")
            .with("code", error.name())
            .with("fault", failure::fault(&error))
            .with("message", error.to_string())
            .with("fatal", fatal)
            .with("channel", channel.map(|channel| channel.0)),
        // `Event` is non-exhaustive: the session may get a new kind of event before this function
        // knows its name.
        _ => Plain::of("unknown"),
    }
}

fn incoming(event: &str, message: Incoming) -> Plain {
    let data: JsValue = if message.text {
        String::from_utf8_lossy(&message.bytes).as_ref().into()
    } else {
        message.bytes.into()
    };
    Plain::of(event)
        .with("channel", message.channel.0)
        .with("data", data)
        .with("sender", message.sender.get())
        .with("own", message.own)
        .with("key", message.key.map(|key| String::from_utf8_lossy(&key).into_owned()))
        .with("age", millis(message.age))
        .with("position", number(message.position.get()))
        .with("index", message.index.get())
        .with("stale", message.stale)
        .with("state", message.state)
        .with("departed", message.departed.map(|participant| participant.get()))
}

fn change(change: ParticipantChange) -> JsValue {
    let state = match change.state {
        PresenceState::Here => "here",
        PresenceState::Away => "away",
        PresenceState::Left => "left",
    };
    Plain::new()
        .with("id", change.id.get())
        .with("state", state)
        .with("user", change.user)
        .with("presence", String::from_utf8_lossy(&change.presence).as_ref())
        .into()
}
