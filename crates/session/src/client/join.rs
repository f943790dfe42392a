//! HELLO and WELCOME: joining a room, or resuming in it (wire W5, W9 to W18).

use alloc::boxed::Box;
use core::time::Duration;

use super::api::Output;
use super::channel::{Asked, Stage};
use super::delivery::Inbound;
use super::event::{Event, Status};
use super::groups::Groups;
use super::inspector::Reports;
use super::phase::{Greeting, Hold, Joined, Phase};
use super::session::Membership;
use super::shared_stream::SharedStream;
use super::{Client, Config, announce_codecs};
use crate::agreed::Agreed;
use crate::datagrams::{Datagrams, Settings};
use crate::events::event;
use crate::ids::{ParticipantId, Position};
use crate::limits::DEFAULT_MAX_PACKET;
use crate::link::{Coders, Link};
use crate::wire::VERSION;
use crate::wire::frame::Frame;
use crate::wire::handshake::{Hello, Outcome, Welcome};
use crate::wire::numbering::Numbering;
use crate::wire::payload::{PayloadDecoder, PayloadEncoder};
use crate::wire::record::Direction;
use crate::{Error, Limits, ModelMemory, Timing};

/// A client without WELCOME asks for signs of life from this time after HELLO on (wire W120). On
/// most paths WELCOME comes earlier, so that a join there costs no datagram.
const ASKS_AFTER: Duration = Duration::from_millis(300);

impl Client {
    /// Sends HELLO and opens all channels on a new transport. Another transport may have been in
    /// use until now.
    pub(super) fn greet(&mut self, now: Duration, max_datagram: usize) {
        let session = &mut self.session;
        // Packets that were made for the last transport are of no use on the new one.
        session.outputs.retain(|output| matches!(output, Output::Event(_)));
        session.set_quiet(false);
        session.transports.open(session.membership.is_some());
        session.close_unconnected();
        let config = &session.config;
        let max_datagram = if config.plain { 0 } else { max_datagram };
        let mut link = Link::new(now, max_datagram);
        let (room, transport) = (config.room.as_str(), session.transports.opened);
        event!(DEBUG, "transport opened", room, transport, max_datagram);
        let offered =
            Agreed::offered(config.compress && !config.plain, self.packing.set(), max_datagram);
        let offered = match config.memory {
            ModelMemory::Full => offered,
            ModelMemory::Small => offered.with_small_models(),
        };
        link.queue(&Frame::Hello(Hello {
            lowest: VERSION,
            capabilities: offered.capabilities(),
            max_packet: config.limits.max_packet,
            max_message: config.limits.max_message,
            room: &config.room,
            token: &config.token,
            presence: &config.presence,
            resume: session.resume(),
        }));
        announce_codecs(&self.packing, &mut link);
        session.parts.iter_mut().for_each(|part| part.is_offered = false);
        let position = session.delivered.position;
        for (at, channel) in session.channels.iter_mut().enumerate() {
            (channel.id, channel.asked) = (None, Asked::No);
            if channel.stage != Stage::Closed {
                channel.open(at, position, &mut link);
                channel.asked = Asked::WithHello;
            }
        }
        if offered.datagrams {
            link.datagrams = Datagrams::new(settings(&link, &session.config, &offered));
        }
        if let Some(datagrams) = &mut link.datagrams {
            datagrams.ask_at(Some(now + ASKS_AFTER));
        }
        self.phase = Phase::Greeting(Box::new(Greeting {
            link,
            offered,
            give_up_at: now + Timing::default().dead,
            joined_before: self.phase.joined_at(),
        }));
    }

    /// Processes WELCOME: this participant has joined the room, or resumed its session.
    pub(super) fn on_welcome(&mut self, now: Duration, welcome: &Welcome) -> Result<(), Error> {
        let Phase::Greeting(greeting) = &self.phase else {
            return Err(Error::malformed("frame: only a client sends this"));
        };
        let agreed = greeting.offered.answered(welcome.capabilities)?;
        let has_moved = greeting.joined_before.is_some();
        let largest = welcome.max_packet.min(DEFAULT_MAX_PACKET);
        if largest < Limits::packet_for(welcome.max_message) {
            return Err(Error::malformed("WELCOME: its messages do not fit its packets"));
        }
        let session = &mut self.session;
        let before = session.membership;
        let resumed = welcome.outcome == Outcome::Resumed;
        if resumed && before.is_none_or(|before| before.participant != welcome.participant) {
            return Err(Error::malformed("WELCOME: resumed what was not asked for"));
        }
        session.transports.answered(resumed);
        if !resumed {
            let same = before.is_some_and(|before| before.incarnation == welcome.incarnation);
            session.start_over(welcome.outcome, same);
        }
        session.outbox.renumber(welcome.counter)?;
        session.membership = Some(Membership {
            participant: welcome.participant,
            secret: welcome.secret,
            incarnation: welcome.incarnation,
            max_message: welcome.max_message,
            max_snapshot: welcome.max_snapshot,
            stored: before.and_then(|before| before.stored).filter(|_| resumed),
        });
        session.drop_larger_than(welcome.max_message);
        if before.is_some() && !has_moved {
            session.stats.reconnects += 1;
        }
        session.emit(Event::Joined { participant: welcome.participant, resumed });
        session.emit(Event::Status(Status::Connected));
        self.enter(now, agreed, welcome);
        Ok(())
    }

    /// Begins to send and receive messages on the transport, after WELCOME.
    fn enter(&mut self, now: Duration, agreed: Agreed, welcome: &Welcome) {
        let session = &mut self.session;
        let max_message = session.config.limits.max_message;
        let up = Numbering::new(ParticipantId(0), welcome.counter, Position(0));
        let down =
            Numbering::new(welcome.participant, session.outbox.ordered, session.delivered.position);
        let coders = Coders {
            encoder: PayloadEncoder::new(Direction::ToServer, up, agreed.models()),
            decoder: PayloadDecoder::new(Direction::ToClient, down, agreed.models(), max_message),
        };
        let resumed = welcome.outcome == Outcome::Resumed;
        self.phase.advance(|phase| {
            let Phase::Greeting(greeting) = phase else { return phase };
            let mut link = greeting.link;
            link.stamps.agreed = agreed.contracts;
            link.limit_packets(welcome.max_packet);
            if agreed.blocks {
                link.choosing.blocks.agree();
            }
            link.ping(now);
            // Channels that the application opened after HELLO and that waited for WELCOME.
            for (at, channel) in session.channels.iter_mut().enumerate() {
                if channel.stage != Stage::Closed && channel.asked == Asked::No {
                    channel.open(at, session.delivered.position, &mut link);
                }
            }
            let mut datagrams = link.datagrams.take().filter(|_| agreed.datagrams);
            if let Some(datagrams) = &mut datagrams {
                datagrams.agree(settings(&link, &session.config, &agreed));
            }
            Phase::Joined(Box::new(Joined {
                link,
                agreed,
                participant: welcome.participant,
                timing: welcome.timing,
                joined_at: now,
                coders,
                datagrams,
                shared_stream: SharedStream::default(),
                groups: Groups::default(),
                inbound: Inbound { resumed, ..Inbound::default() },
                hold: Hold::default(),
                snapshot_wanted: None,
                upload: None,
                reports: Reports::default(),
            }))
        });
    }
}

/// The settings of the datagrams on a transport, with what both ends agreed on, or with what this
/// end offered.
fn settings(link: &Link, config: &Config, agreed: &Agreed) -> Settings {
    Settings {
        max: link.max_datagram,
        sends: Direction::ToServer,
        coded: agreed.models(),
        copies: agreed.copies,
        max_message: config.limits.max_message,
        redundancy: config.redundancy,
    }
}
