//! Hands events to the server and to its log.

use crate::events::event;
use crate::room::api::{Event, Output};
use crate::room::common::Common;

impl Common {
    /// Logs an event and queues it as an output for the server.
    pub(in crate::room) fn emit(&mut self, event: Event) {
        log(&event);
        self.outputs.push_back(Output::Event(event));
    }
}

fn log(event: &Event) {
    match event {
        Event::Joined { participant, link, resumed } => {
            event!(INFO, "participant joined", %participant, %link, resumed);
        }
        Event::Refused { link, error } => {
            let fault = error.fault();
            event!(INFO, "join refused", %link, %error, ?fault);
        }
        Event::Away { participant, error: Some(error) } => {
            let fault = error.fault();
            event!(WARN, "participant disconnected", %participant, %error, ?fault);
        }
        Event::Away { participant, error: None } => {
            event!(INFO, "participant away", %participant);
        }
        Event::Left { participant } => event!(INFO, "participant left", %participant),
        Event::Channel { name, qos } => event!(DEBUG, "channel created", name, ?qos),
        Event::Changed { name, qos, participant } => {
            event!(DEBUG, "channel QoS changed", name, ?qos, %participant);
        }
        Event::Snapshot { part, as_of, size } => {
            event!(INFO, "part of the snapshot stored", part, %as_of, size);
        }
    }
}
