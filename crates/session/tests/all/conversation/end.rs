//! A room or a client whose timeouts come at the times that it asked for.

use std::time::Duration;

use groupwire_session::client::{Client, Event, Input, Output as ClientOutput};
use groupwire_session::room::{self, Room, whole_packet};
use groupwire_session::{
    Access, Authority, ChangeRequest, Error, Grant, LinkId, OpenRequest, Opening, Qos, refusal,
};

use super::MS;
use crate::support::identity_of;
use crate::support::secrets::Drawn;

/// An output of an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) at: Duration,
    pub(crate) verb: Verb,
    /// The transport; `None` for clients.
    pub(crate) link: Option<u64>,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Packet,
    Datagram,
    Dial,
    Hangup,
    Close,
}

/// The outputs and events of one end of a conversation.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) outputs: Vec<Output>,
    pub(crate) events: Vec<Event>,
}

impl Said {
    fn put(&mut self, at: Duration, verb: Verb, link: Option<LinkId>, bytes: Vec<u8>) {
        let link = link.map(LinkId::get);
        self.outputs.push(Output { at, verb, link, bytes });
    }
}

pub(crate) trait Core {
    fn time_out(&mut self, now: Duration);

    /// Takes all outputs. Returns the time of the next timeout.
    fn drain(&mut self, now: Duration, said: &mut Said) -> Option<Duration>;
}

/// A room or a client whose timeouts are passed to it by [`End::run_to`].
pub(crate) struct End<C> {
    core: C,
    pub(crate) said: Said,
    due: Option<Duration>,
    /// The time of its last input, and of its last timeout.
    now: Duration,
    timed_out: Option<Duration>,
}

impl<C: Core> End<C> {
    pub(crate) fn new(core: C, due: Option<Duration>) -> Self {
        End { core, said: Said::default(), due, now: Duration::ZERO, timed_out: None }
    }

    /// The time of its next timeout.
    pub(crate) fn due(&self) -> Option<Duration> {
        // After a timeout, the next one comes at least a millisecond later.
        let soonest = self.timed_out.map_or(Duration::ZERO, |before| before + MS);
        // Times in conversations are in whole microseconds.
        let whole = |due: Duration| Duration::from_micros(due.as_nanos().div_ceil(1000) as u64);
        self.due.map(|due| whole(due).max(self.now).max(soonest))
    }

    /// Passes the timeouts up to `now` to the end.
    pub(crate) fn run_to(&mut self, now: Duration) {
        while let Some(at) = self.due().filter(|at| *at <= now) {
            self.timed_out = Some(at);
            self.core.time_out(at);
            self.drain(at);
        }
    }

    /// Does something with the core at a time, after the timeouts up to then.
    pub(crate) fn act(&mut self, now: Duration, act: impl FnOnce(&mut C)) {
        self.run_to(now);
        act(&mut self.core);
        self.drain(now);
    }

    fn drain(&mut self, at: Duration) {
        self.now = at;
        self.due = self.core.drain(at, &mut self.said);
    }
}

impl End<Room> {
    /// Passes the first packet of a transport to the room, as a server does: it refuses a packet
    /// that is no opening, and the token `refused`.
    pub(crate) fn join(
        &mut self,
        now: Duration,
        link: u64,
        max_datagram: usize,
        packet: &[u8],
        secrets: &mut Drawn,
    ) {
        let secrets = secrets.draw([link as u8; 16]);
        let link = LinkId(link);
        let opening = Opening::read(packet).and_then(|opening| match opening.token() {
            b"refused" => Err(Error::Refused { why: "not with this token".into() }),
            _ => Ok(opening),
        });
        self.run_to(now);
        match &opening {
            Ok(opening) => self.act(now, |room| {
                let identity = &identity_of(opening.token());
                let join = room::Input::Join { link, opening, identity, secrets, max_datagram };
                room.handle_input(now, join);
            }),
            Err(error) => {
                self.said.put(now, Verb::Close, Some(link), refusal(error));
                self.drain(now);
            }
        }
    }
}

impl Core for Client {
    fn time_out(&mut self, now: Duration) {
        self.handle_input(now, Input::Timeout);
    }

    fn drain(&mut self, at: Duration, said: &mut Said) -> Option<Duration> {
        loop {
            match self.poll_output(at) {
                ClientOutput::Timeout(next) => return next,
                ClientOutput::Dial => said.put(at, Verb::Dial, None, Vec::new()),
                ClientOutput::Hangup => said.put(at, Verb::Hangup, None, Vec::new()),
                ClientOutput::Send(packet) => {
                    said.put(at, Verb::Packet, None, packet);
                    self.handle_input(at, Input::Sent);
                }
                ClientOutput::Datagram(packet) => {
                    said.put(at, Verb::Datagram, None, packet);
                    self.handle_input(at, Input::DatagramSent);
                }
                ClientOutput::Event(event) => said.events.push(event),
            }
        }
    }
}

impl Core for Room {
    fn time_out(&mut self, now: Duration) {
        self.handle_input(now, room::Input::Timeout);
    }

    fn drain(&mut self, at: Duration, said: &mut Said) -> Option<Duration> {
        loop {
            match self.poll_output() {
                room::Output::Timeout(next) => return next,
                room::Output::Event(_)
                | room::Output::Store(_)
                | room::Output::Delay { .. }
                | room::Output::Token { .. } => {}
                room::Output::Send { link, packet, body } => {
                    let packet = whole_packet(packet, body.as_deref());
                    said.put(at, Verb::Packet, Some(link), packet);
                    self.handle_input(at, room::Input::Sent { link });
                }
                room::Output::Datagram { link, packet, body } => {
                    let is_shared = body.is_some();
                    let packet = whole_packet(packet, body.as_deref());
                    said.put(at, Verb::Datagram, Some(link), packet);
                    if !is_shared {
                        self.handle_input(at, room::Input::DatagramSent { link });
                    }
                }
                room::Output::Close { link, packet, .. } => {
                    said.put(at, Verb::Close, Some(link), packet);
                }
            }
        }
    }
}

/// An authority that refuses one channel and one QoS, so that conversations contain refusals.
pub(crate) struct Gate;

impl Authority for Gate {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        let Access { publish, subscribe } = request.access;
        match request.channel {
            "forbidden" => Err("nobody may".into()),
            "read-only" => {
                let access = Access { publish: false, subscribe };
                Ok(Grant { access, qos: request.qos })
            }
            _ => Ok(Grant { access: Access { publish, subscribe }, qos: request.qos }),
        }
    }

    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        if request.qos.loss == 999 { Err("too much".into()) } else { Ok(request.qos) }
    }
}
