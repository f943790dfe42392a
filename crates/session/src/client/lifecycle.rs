//! Dialling, saying hello, staying alive, failing, ending.

use core::time::Duration;

use super::class::Classes;
use super::copies::Copies;
use super::shared::Shared;
use super::{Client, Event, GapReason, Output, Phase, Status};
use crate::agreed::Agreed;
use crate::datagrams::Datagrams;
use crate::ids::{Counter, Position};
use crate::link::Link;
use crate::wire::VERSION;
use crate::wire::frame::Frame;
use crate::wire::handshake::{Hello, Outcome, Resume};
use crate::{Error, Timing};

/// Codes after which dialling again cannot help: version, unsupported, refused, replaced.
const HOPELESS: [u32; 4] = [1, 3, 9, 14];

/// Codes that say that one end does not understand the other: malformed, too large, too many, no text, unknown channel,
/// not allowed, compression.
const MISUNDERSTANDINGS: [u32; 7] = [2, 4, 5, 6, 7, 8, 11];

/// After so many transports in a row a session is given up (W14). One may be an accident of the transport.
const MISUNDERSTANDINGS_IN_A_ROW: u8 = 3;

impl Client {
    pub(super) fn keep_alive(&mut self, now: Duration) {
        match self.phase {
            Phase::Waiting(at) if now >= at => {
                self.phase = Phase::Dialing;
                self.outputs.push_back(Output::Dial);
            }
            Phase::Greeting(until) if now >= until => {
                self.fail(Error::Silent { ms: Timing::default().dead.as_millis() as u64 });
            }
            Phase::Joined | Phase::Leaving => {
                let (Some(session), Some(link)) = (self.session, self.link.as_mut()) else {
                    return;
                };
                let silence = now.saturating_sub(link.heard());
                if silence >= session.timing.dead {
                    self.fail(Error::Silent { ms: silence.as_millis() as u64 });
                    return;
                }
                if now >= link.next_ping(session.timing.ping) {
                    link.ping(now);
                }
                self.tell_standing(now);
                let Some(link) = self.link.as_ref() else { return };
                if !self.quiet && link.quiet_at().is_some_and(|at| now >= at) {
                    self.set_quiet(true);
                }
            }
            _ => {}
        }
    }

    pub(super) fn next_timeout(&self, now: Duration) -> Option<Duration> {
        match self.phase {
            Phase::Waiting(at) | Phase::Greeting(at) => Some(at),
            Phase::Joined | Phase::Leaving => {
                let (session, link) = (self.session?, self.link.as_ref()?);
                let dead = link.heard() + session.timing.dead;
                let ping = link.next_ping(session.timing.ping);
                let quiet = link.quiet_at().filter(|_| !self.quiet);
                // Who is leaving only waits for its goodbye to go.
                let talks = self.phase == Phase::Joined;
                let slot = self.next_slot().filter(|_| talks);
                let datagrams = link.datagrams.as_ref().filter(|_| talks);
                let datagram = datagrams.and_then(|datagrams| datagrams.timeout(now));
                let takes = datagrams.is_some_and(Datagrams::ready);
                let of_class = self.classes.answer_at().filter(|_| takes);
                let standing = self.inspected.next().filter(|_| talks);
                [Some(dead), Some(ping), quiet, slot, datagram, of_class, standing]
                    .into_iter()
                    .flatten()
                    .min()
            }
            Phase::Dialing | Phase::Ended => None,
        }
    }

    pub(super) fn set_quiet(&mut self, quiet: bool) {
        if self.quiet != quiet {
            self.quiet = quiet;
            self.outputs.push_back(Output::Event(Event::Quiet { quiet }));
        }
    }

    /// A transport is open: say hello and open all channels. It may be a better one than that in use.
    pub(super) fn greet(&mut self, now: Duration, max_datagram: usize) {
        // What was meant for the transport before is of no use on this one.
        self.outputs.retain(|output| matches!(output, Output::Event(_)));
        self.set_quiet(false);
        self.transports = self.transports.wrapping_add(1);
        let mut link = Link::new(now, max_datagram);
        let offered = Agreed::offered(self.config.compress, self.packing.set(), max_datagram);
        let limits = &self.config.limits;
        link.queue(&Frame::Hello(Hello {
            lowest: VERSION,
            capabilities: offered.capabilities(),
            max_packet: limits.max_packet,
            max_message: limits.max_message,
            room: &self.config.room,
            token: &self.config.token,
            presence: &self.config.presence,
            resume: self.session.map(|session| Resume {
                participant: session.participant,
                secret: session.secret,
                incarnation: session.incarnation,
                position: self.position,
                counter: self.ordered,
            }),
        }));
        self.link = Some(link);
        self.offered = offered;
        self.tell_codecs();
        self.phase = Phase::Greeting(now + Timing::default().dead);
        self.classes = Classes::default();
        self.by_id.clear();
        self.known.clear();
        self.download = None;
        self.snapshot_wanted = None;
        self.upload = None;
        self.shared = Shared::default();
        self.copies = Copies::default();
        self.inspected.begin_anew(false);
        self.presence_changed = false;
        for at in 0..self.channels.len() {
            self.channels[at].id = None;
            self.channels[at].with_join = true;
            self.open_channel(at);
        }
    }

    pub(super) fn open_channel(&mut self, at: usize) {
        let channel = &mut self.channels[at];
        channel.told = channel.compress;
        let have = if channel.synced { self.position } else { channel.have };
        if let Some(link) = self.link.as_mut() {
            link.queue(&Frame::Open {
                reference: at as u32,
                access: channel.access,
                name: &channel.name,
                qos: channel.qos,
                have,
                compress: channel.compress,
            });
        }
    }

    /// W46.
    pub(super) fn tell_codecs(&mut self) {
        let set = self.packing.set();
        if let Some(link) = self.link.as_mut().filter(|_| set != 0) {
            link.queue(&Frame::Codecs { set });
        }
    }

    /// The server is to know how a channel is compressed: at once, or when it has answered for the channel.
    pub(super) fn tell_compress(&mut self, at: usize) {
        let channel = &mut self.channels[at];
        if let (Some(id), Some(link)) = (channel.id, self.link.as_mut())
            && channel.told != channel.compress
        {
            channel.told = channel.compress;
            link.queue(&Frame::Compress { id, compress: channel.compress });
        }
    }

    /// Something is wrong on this transport: say so, close it, try again unless trying cannot help.
    pub(super) fn fail(&mut self, error: Error) {
        if let Some(link) = self.link.as_mut().filter(|link| link.ready()) {
            // What was composed for the room must not follow the error, so it goes alone.
            let mut packet = link.begin(link.heard());
            crate::link::error_frame(&error, true, 0, &mut packet);
            link.launched(packet.len());
            self.outputs.push_back(Output::Send(packet));
        }
        self.outputs.push_back(Output::Hangup);
        self.link = None;
        if self.phase == Phase::Leaving {
            return self.end();
        }
        let hopeless = HOPELESS.contains(&error.code());
        if MISUNDERSTANDINGS.contains(&error.code()) {
            self.misunderstood = self.misunderstood.saturating_add(1);
        }
        self.outputs.push_back(Output::Event(Event::Error {
            error,
            channel: None,
            fatal: hopeless,
        }));
        if hopeless {
            self.end();
        } else {
            // `Closed` comes from the shell and starts the wait.
            self.phase = Phase::Dialing;
        }
    }

    pub(super) fn closed(&mut self, now: Duration) {
        self.link = None;
        match self.phase {
            Phase::Ended | Phase::Waiting(_) => {}
            Phase::Leaving => self.end(),
            _ => {
                let least = core::mem::take(&mut self.stay_away);
                self.wait(now, least);
            }
        }
    }

    /// Dials again after at least `least`.
    pub(super) fn wait(&mut self, now: Duration, least: Duration) {
        // A connection that fails as soon as it stands is no better than none.
        let lasted = self.joined_at.take().map_or(Duration::ZERO, |at| now.saturating_sub(at));
        if lasted >= Timing::default().dead {
            self.backoff.reset();
            self.misunderstood = 0;
        }
        if self.misunderstood >= MISUNDERSTANDINGS_IN_A_ROW
            && let Some(session) = self.session.as_mut()
        {
            self.misunderstood = 0;
            // No room has it, so that all begins anew.
            session.incarnation = !session.incarnation;
        }
        self.phase = Phase::Waiting(now + least + self.backoff.next());
        let status = if self.session.is_some() { Status::Reconnecting } else { Status::Connecting };
        self.outputs.push_back(Output::Event(Event::Status(status)));
    }

    pub(super) fn end(&mut self) {
        self.link = None;
        self.phase = Phase::Ended;
        self.outputs.push_back(Output::Event(Event::Status(Status::Closed)));
    }

    /// The room does not know the session any more: start over under a new number.
    pub(super) fn start_over(&mut self, outcome: Outcome, same_incarnation: bool) {
        let uncertain = self.pending.iter().filter(|pending| pending.counter.is_some()).count();
        self.ordered = Counter(0);
        self.numbered = Counter(0);
        for pending in &mut self.pending {
            pending.counter = None;
            pending.sent = false;
        }
        let pending = &self.pending;
        let before =
            |order| Counter(pending.partition_point(|pending| pending.order < order) as u32);
        self.channels.iter_mut().for_each(|channel| channel.count_anew(before));
        if !same_incarnation {
            self.position = Position(0);
            self.covered = Position(0);
            self.delivered.clear();
            self.seen.clear();
            for channel in &mut self.channels {
                channel.have = Position(0);
                channel.synced = false;
            }
        }
        if outcome == Outcome::Lost {
            let reason = if same_incarnation { GapReason::Session } else { GapReason::Incarnation };
            self.outputs.push_back(Output::Event(Event::Gap { reason, uncertain }));
        }
    }
}
