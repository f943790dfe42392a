//! Dialling, staying alive, failing, ending.

use core::time::Duration;

use super::api::Output;
use super::event::{Event, Status};
use super::phase::Phase;
use super::{Client, check_size};
use crate::error::{BANNED, EXPIRED, REPLACED, REVOKED};
use crate::events::event;
use crate::limits::MAX_TOKEN;
use crate::wire::frame::Frame;
use crate::{Error, Timing};

/// Codes of the errors after which dialling again cannot help: version, unsupported, refused,
/// replaced, banned.
const HOPELESS: [u32; 5] = [1, 3, 9, REPLACED, BANNED];

/// Codes that say that one end does not understand the other: malformed, too large, too many, no
/// text, unknown channel, not allowed, compression.
const MISUNDERSTANDINGS: [u32; 7] = [2, 4, 5, 6, 7, 8, 11];

/// After errors of [`MISUNDERSTANDINGS`] on this many transports in a row, the session is given up
/// (W14). A single one may be an accident of the transport.
const MISUNDERSTANDINGS_IN_A_ROW: u8 = 3;

impl Client {
    /// Does what is due at `now`: dials, pings, reports quality, or gives up a transport that is
    /// silent for too long.
    pub(super) fn on_housekeeping(&mut self, now: Duration) {
        let Client { phase, session, .. } = self;
        let leaves = matches!(phase, Phase::Leaving(_));
        match phase {
            Phase::Waiting { until, .. } if now >= *until && !session.transports.lacks_token => {
                *phase = Phase::Dialing;
                let room = session.config.room.as_str();
                event!(DEBUG, "client dials", room);
                session.outputs.push_back(Output::Dial);
            }
            Phase::Greeting(greeting) if now >= greeting.give_up_at => {
                self.fail(Error::Silent { ms: Timing::default().dead.as_millis() as u64 });
            }
            Phase::Joined(joined) | Phase::Leaving(joined) => {
                let silence = now.saturating_sub(joined.link.last_packet());
                if silence >= joined.timing.dead {
                    return self.fail(Error::Silent { ms: silence.as_millis() as u64 });
                }
                if now >= joined.next_ping(session) {
                    joined.link.ping(now);
                }
                if let Some(datagrams) = &mut joined.datagrams {
                    datagrams.ask_at(joined.link.asks_at());
                }
                let (channels, reason) = (&mut session.channels, &session.transports.reason);
                let datagrams = joined.datagrams.as_ref();
                if !leaves
                    && let Some(report) = joined.reports.take_due(now, channels, reason, datagrams)
                {
                    joined.link.queue(&Frame::Quality(&report));
                }
                if joined.link.quiet_at().is_some_and(|at| now >= at) {
                    session.set_quiet(true);
                }
                let left = session.participants.take_missing(now);
                session.emit_if(left);
            }
            _ => {}
        }
    }

    /// When [`Client::on_housekeeping`] or [`Client::compose`] has something to do, if no input
    /// comes before.
    pub(super) fn next_timeout(&self, now: Duration) -> Option<Duration> {
        match &self.phase {
            // A client without a token waits for [`Client::set_token`], not for a time.
            Phase::Waiting { until, .. } => {
                (!self.session.transports.lacks_token).then_some(*until)
            }
            Phase::Greeting(greeting) => {
                let datagrams = greeting.link.datagrams.as_ref();
                let asks = datagrams.and_then(|datagrams| datagrams.timeout(now));
                Some(asks.map_or(greeting.give_up_at, |asks| asks.min(greeting.give_up_at)))
            }
            Phase::Joined(joined) => {
                let keep_alive = joined.keep_alive_at(&self.session);
                let sends = joined.sends_at(&self.session, now);
                let missing = self.session.participants.missing_until;
                [Some(keep_alive), sends, joined.reports.next(), missing]
                    .into_iter()
                    .flatten()
                    .min()
            }
            // A client that leaves only waits until its BYE is sent.
            Phase::Leaving(joined) => Some(joined.keep_alive_at(&self.session)),
            Phase::Dialing | Phase::HangingUp { .. } | Phase::Ended => None,
        }
    }

    /// Replaces the token with which the client joins. A room that the client is in gets it at
    /// once, so that a session goes on when the token before expires; see [`Event::TokenWanted`].
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config};
    ///
    /// let mut client = Client::new(Duration::ZERO, Config::new("demo"))?;
    /// client.set_token(b"another token")?;
    /// # Ok::<(), groupwire_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// A token of more than 4,096 bytes.
    pub fn set_token(&mut self, token: &[u8]) -> Result<(), Error> {
        check_size("token", token.len(), MAX_TOKEN)?;
        self.session.config.token = token.to_vec();
        self.session.transports.lacks_token = false;
        if let Phase::Joined(joined) = &mut self.phase {
            joined.link.queue(&Frame::Token(token));
        }
        Ok(())
    }

    /// Ends for good. Messages that were accepted but not sent are given up: see
    /// [`Client::pending`].
    pub fn leave(&mut self) {
        match &mut self.phase {
            Phase::Leaving(_) | Phase::Ended => {}
            Phase::Joined(joined) => {
                let room = self.session.config.room.as_str();
                event!(DEBUG, "client leaves", room);
                joined.link.queue(&Frame::Bye { reason: 0, retry_ms: 0 });
                self.phase.advance(|phase| match phase {
                    Phase::Joined(joined) => Phase::Leaving(joined),
                    other => other,
                });
            }
            Phase::Dialing | Phase::Greeting(_) => {
                self.session.outputs.push_back(Output::Hangup);
                self.end();
            }
            Phase::Waiting { .. } | Phase::HangingUp { .. } => self.end(),
        }
    }

    /// The server sent BYE: closes the transport, to dial again after `retry_ms`. With 0, the
    /// client waits as after a broken transport.
    pub(super) fn on_bye(&mut self, retry_ms: u64) {
        self.session.outputs.push_back(Output::Hangup);
        if matches!(self.phase, Phase::Leaving(_)) {
            return self.end();
        }
        // A day at most: a server cannot send anybody away for good.
        let stay_away = Duration::from_millis(retry_ms.min(24 * 3600 * 1000));
        let room = self.session.config.room.as_str();
        event!(DEBUG, "server said goodbye", room, ?stay_away);
        self.phase = Phase::HangingUp { stay_away, joined_at: self.phase.joined_at() };
    }

    /// Closes the transport after an error, which is sent to the server first. Then the client
    /// dials again, unless that cannot help.
    pub(super) fn fail(&mut self, error: Error) {
        let Some(link) = self.phase.link_mut() else {
            debug_assert!(false, "{error} without a transport");
            return;
        };
        let outputs = &mut self.session.outputs;
        if link.ready() {
            // The error is sent in a packet of its own: messages for the room must not follow it.
            let mut packet = link.begin(link.last_packet());
            crate::wire::frame::error_frame(&error, true, 0, &mut packet);
            link.launched(packet.len());
            outputs.push_back(Output::Send(packet));
        }
        outputs.push_back(Output::Hangup);
        if matches!(self.phase, Phase::Leaving(_)) {
            return self.end();
        }
        let hopeless = HOPELESS.contains(&error.code()) && !self.accounts_for(&error);
        if MISUNDERSTANDINGS.contains(&error.code()) {
            self.misunderstood = self.misunderstood.saturating_add(1);
        }
        let needs_token = matches!(error.code(), EXPIRED | REVOKED);
        self.session.emit(Event::Error { error, channel: None, fatal: hopeless });
        if hopeless {
            return self.end();
        }
        if needs_token {
            self.session.transports.lacks_token = true;
            self.session.emit(Event::TokenWanted);
        }
        let joined_at = self.phase.joined_at();
        self.phase = Phase::HangingUp { stay_away: Duration::ZERO, joined_at };
    }

    /// True if the error is *replaced* and an unanswered HELLO of this client explains it: on a
    /// lossy network, a HELLO of a transport that the client gave up may reach the room after the
    /// HELLO of the next transport. Each unanswered HELLO explains one error.
    fn accounts_for(&mut self, error: &Error) -> bool {
        let accounts = error.code() == REPLACED && self.session.transports.unanswered > 0;
        if accounts {
            self.session.transports.unanswered -= 1;
        }
        accounts
    }

    /// The shell closed the transport, or could not open it.
    pub(super) fn on_closed(&mut self, now: Duration) {
        match self.phase {
            Phase::Ended | Phase::Waiting { .. } => {}
            Phase::Leaving(_) => self.end(),
            Phase::HangingUp { stay_away, .. } => self.wait(now, stay_away),
            Phase::Dialing | Phase::Greeting(_) | Phase::Joined(_) => {
                self.wait(now, Duration::ZERO);
            }
        }
    }

    /// BYE was sent: closes the transport.
    pub(super) fn hang_up_after_bye(&mut self) {
        if let Phase::Leaving(joined) = &self.phase
            && !joined.link.has_control()
        {
            self.session.outputs.push_back(Output::Hangup);
            self.end();
        }
    }

    /// Dials again after at least `least`.
    fn wait(&mut self, now: Duration, least: Duration) {
        // The waiting time stays long after a connection that failed soon after WELCOME.
        let lasted = self.phase.joined_at().map_or(Duration::ZERO, |at| now.saturating_sub(at));
        if lasted >= Timing::default().dead {
            self.backoff.reset();
            self.misunderstood = 0;
        }
        let membership = &mut self.session.membership;
        if self.misunderstood >= MISUNDERSTANDINGS_IN_A_ROW
            && let Some(membership) = membership
        {
            self.misunderstood = 0;
            // No room has this incarnation, so that the next HELLO begins a new session.
            membership.incarnation = !membership.incarnation;
        }
        let was_member = membership.is_some();
        let earliest = now + least;
        let wait = match least.is_zero() {
            true => self.backoff.next(),
            false => self.backoff.after_stated(),
        };
        let until = earliest + wait;
        self.phase = Phase::Waiting { until, earliest };
        let status = if was_member { Status::Reconnecting } else { Status::Connecting };
        self.session.emit(Event::Status(status));
    }

    fn end(&mut self) {
        self.phase = Phase::Ended;
        self.session.emit(Event::Status(Status::Closed));
    }
}
