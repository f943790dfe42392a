//! Hands events to the application and to its log.

use super::api::Output;
use super::channel_id::ChannelId;
use super::event::{Event, Status};
use super::session::Session;
use crate::events::event;
use crate::{ContractEvent, ContractState, Error};

impl Session {
    /// Hands an event to the application.
    pub(super) fn emit(&mut self, event: Event) {
        self.log(&event);
        self.outputs.push_back(Output::Event(event));
    }

    /// Hands an event to the application, if there is one.
    pub(super) fn emit_if(&mut self, event: Option<Event>) {
        if let Some(event) = event {
            self.emit(event);
        }
    }

    /// Hands an error about one channel to the application.
    pub(super) fn emit_error(&mut self, at: usize, error: Error) {
        self.emit(Event::Error { error, channel: Some(ChannelId(at as u32)), fatal: false });
    }

    /// Logs an event that is a change of state. Messages and presence are not logged.
    fn log(&self, event: &Event) {
        let room = self.config.room.as_str();
        match event {
            Event::Status(Status::Connecting) => event!(DEBUG, "client connects", room),
            // `Event::Joined` says more.
            Event::Status(Status::Connected) => {}
            Event::Status(Status::Reconnecting) => event!(INFO, "client reconnects", room),
            Event::Status(Status::Closed) => event!(DEBUG, "client closed", room),
            Event::Joined { participant, resumed } => {
                event!(INFO, "client joined", room, %participant, resumed);
            }
            Event::Gap { reason, uncertain, .. } => {
                event!(INFO, "transactions are missing", room, ?reason, uncertain);
            }
            Event::Synced { channel: None } => event!(DEBUG, "client caught up", room),
            Event::Quiet { quiet: true } => event!(DEBUG, "transport became silent", room),
            Event::Quiet { quiet: false } => event!(DEBUG, "transport is alive again", room),
            Event::Error { error, channel, fatal } => {
                let (fault, name) = (error.fault(), channel.and_then(|channel| self.name(channel)));
                event!(WARN, "error", room, %error, ?fault, name, fatal);
            }
            Event::Opened { channel, qos } => {
                let name = self.name(*channel);
                event!(DEBUG, "channel opened", room, name, ?qos);
            }
            Event::Changed { channel, qos } => {
                let name = self.name(*channel);
                event!(DEBUG, "channel QoS changed", room, name, ?qos);
            }
            Event::Count { count, everybody } => {
                event!(DEBUG, "participants counted", room, count, everybody);
            }
            Event::TokenWanted => event!(DEBUG, "token wanted", room),
            Event::Owner(owner) => {
                let address = owner.address.as_str();
                event!(DEBUG, "the room is on another server", room, address);
            }
            Event::Closed { channel } => {
                let name = self.name(*channel);
                event!(DEBUG, "channel closed", room, name);
            }
            Event::Contract(news) => self.log_contract(news),
            Event::Message(_)
            | Event::Direct(_)
            | Event::Receipt { .. }
            | Event::Participants { .. }
            | Event::Page { .. }
            | Event::Synced { channel: Some(_) }
            | Event::SnapshotWanted { .. }
            | Event::Snapshot { .. }
            | Event::Drain
            | Event::Pending { .. } => {}
        }
    }

    fn log_contract(&self, news: &ContractEvent) {
        let (room, name) = (self.config.room.as_str(), self.name(news.channel));
        match news.state {
            ContractState::Met => event!(INFO, "contract kept again", room, name),
            ContractState::Missed(breach) => event!(INFO, "contract missed", room, name, %breach),
            ContractState::CannotMeet(breach) => {
                event!(INFO, "contract cannot be kept", room, name, %breach);
            }
        }
    }

    fn name(&self, channel: ChannelId) -> Option<&str> {
        self.channels.get(channel.0 as usize).map(|channel| channel.name.as_str())
    }
}
