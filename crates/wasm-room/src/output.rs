//! Converts a room's outputs to JavaScript objects. `web/client/src/testing/room-module.ts` has
//! their types.

use groupwire_session::room::{Event, Output, whole_packet};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::time::millis;

#[wasm_bindgen]
extern "C" {
    /// A JavaScript object without a class.
    #[wasm_bindgen(js_name = Object)]
    type Plain;

    #[wasm_bindgen(constructor, js_class = Object)]
    fn new() -> Plain;

    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Plain, key: &str, value: JsValue);
}

impl Plain {
    fn of(kind: &str) -> Self {
        Plain::new().with("type", kind)
    }

    fn with(self, key: &str, value: impl Into<JsValue>) -> Self {
        self.set(key, value.into());
        self
    }
}

/// An output without fields.
pub(crate) fn of(kind: &str) -> JsValue {
    Plain::of(kind).into()
}

pub(crate) fn describe(output: Output) -> JsValue {
    match output {
        Output::Send { link, packet, body } => Plain::of("send")
            .with("link", link.get() as f64)
            .with("packet", whole_packet(packet, body.as_deref())),
        Output::Datagram { link, packet, body } => Plain::of("datagram")
            .with("link", link.get() as f64)
            .with("reports", body.is_none())
            .with("packet", whole_packet(packet, body.as_deref())),
        Output::Close { link, packet, .. } => {
            Plain::of("close").with("link", link.get() as f64).with("packet", packet)
        }
        Output::Token { link, token } => Plain::of("token")
            .with("link", link.get() as f64)
            .with("token", String::from_utf8_lossy(&token).as_ref()),
        // Only a quota delays reading, and rooms in simulated time have none.
        Output::Delay { .. } => Plain::of("event").with("event", "other"),
        Output::Store(_) => Plain::of("store"),
        Output::Event(event) => event_fields(event),
        Output::Timeout(at) => Plain::of("timeout").with("at", at.map_or(f64::INFINITY, millis)),
    }
    .into()
}

/// Events for the log of a failing test.
fn event_fields(event: Event) -> Plain {
    let told = |kind: &str| Plain::of("event").with("event", kind);
    match event {
        Event::Joined { participant, link, resumed } => told("joined")
            .with("participant", participant.get())
            .with("link", link.get() as f64)
            .with("resumed", resumed),
        Event::Refused { link, error } => {
            told("refused").with("link", link.get() as f64).with("why", error.to_string())
        }
        Event::Away { participant, error } => told("away")
            .with("participant", participant.get())
            .with("why", error.map(|error| error.to_string())),
        Event::Left { participant } => told("left").with("participant", participant.get()),
        Event::Channel { name, .. } => told("channel").with("name", name),
        Event::Changed { name, participant, .. } => {
            told("changed").with("name", name).with("participant", participant.get())
        }
        Event::Snapshot { part, as_of, size } => told("snapshot")
            .with("part", part)
            .with("asOf", as_of.get() as f64)
            .with("size", size as f64),
        _ => told("other"),
    }
}
