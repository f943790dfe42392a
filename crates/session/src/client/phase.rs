//! The phases of a client's connection. Each phase owns the state that exists only in it.

use alloc::boxed::Box;
use core::time::Duration;

use super::delivery::Inbound;
use super::groups::Groups;
use super::inspector::Reports;
use super::session::Session;
use super::shared_stream::SharedStream;
use super::upload::Upload;
use crate::Timing;
use crate::agreed::Agreed;
use crate::datagrams::Datagrams;
use crate::ids::{Counter, ParticipantId, Position};
use crate::link::{Coders, Link};

/// The phase of the connection.
pub(super) enum Phase {
    /// There is no transport. At `until`, the client asks its caller to open one, if it has a token
    /// that has not expired.
    Waiting {
        until: Duration,
        /// The client does not dial before this time, even after
        /// [`Input::Hurry`](super::Input::Hurry): BYE stated it.
        earliest: Duration,
    },
    /// The caller is opening a transport.
    Dialing,
    /// A transport is open and HELLO is on its way.
    Greeting(Box<Greeting>),
    /// WELCOME was received.
    Joined(Box<Joined>),
    /// The application leaves: the transport is closed once BYE was sent.
    Leaving(Box<Joined>),
    /// The caller is closing the transport. When it reports that the transport is closed, the
    /// client begins to wait for the next one.
    HangingUp {
        /// The shortest waiting time that the server asked for in BYE. Zero without a BYE.
        stay_away: Duration,
        /// When WELCOME was received. `None` if it was not.
        joined_at: Option<Duration>,
    },
    /// The client has ended for good.
    Ended,
}

/// A transport before its WELCOME.
pub(super) struct Greeting {
    /// Its datagrams only ask for signs of life. After WELCOME they are those of [`Joined`].
    pub(super) link: Link,
    /// The capabilities in HELLO.
    pub(super) offered: Agreed,
    /// The time at which the server counts as dead if no WELCOME was received.
    pub(super) give_up_at: Duration,
    /// When WELCOME was received on the transport that this one replaces. `None` if it replaces
    /// none.
    pub(super) joined_before: Option<Duration>,
}

/// The server asked to hold transactions back (wire W99).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hold {
    /// The hold ends at this time.
    pub(super) until: Duration,
    /// Transactions with smaller counters may be sent.
    pub(super) from: Counter,
}

/// A transport after its WELCOME.
pub(super) struct Joined {
    pub(super) link: Link,
    /// What HELLO and WELCOME agreed on.
    pub(super) agreed: Agreed,
    pub(super) participant: ParticipantId,
    pub(super) timing: Timing,
    /// When WELCOME was received.
    pub(super) joined_at: Duration,
    /// The encoder and the decoder of the stream's payloads, except those that the client shares
    /// with others (`shared_stream`).
    pub(super) coders: Coders,
    /// `None` if the two ends did not agree on datagrams, or if the transport's datagrams are too
    /// small.
    pub(super) datagrams: Option<Datagrams>,
    pub(super) shared_stream: SharedStream,
    pub(super) groups: Groups,
    pub(super) inbound: Inbound,
    pub(super) hold: Hold,
    /// The part of the snapshot that the server asked for, and the position of which the
    /// application was told.
    pub(super) snapshot_wanted: Option<(u32, Position)>,
    /// A part of the snapshot on its way to the server.
    pub(super) upload: Option<Upload>,
    pub(super) reports: Reports,
}

impl Phase {
    /// The transport in use.
    pub(super) fn link(&self) -> Option<&Link> {
        match self {
            Phase::Greeting(greeting) => Some(&greeting.link),
            Phase::Joined(joined) | Phase::Leaving(joined) => Some(&joined.link),
            _ => None,
        }
    }

    pub(super) fn link_mut(&mut self) -> Option<&mut Link> {
        match self {
            Phase::Greeting(greeting) => Some(&mut greeting.link),
            Phase::Joined(joined) | Phase::Leaving(joined) => Some(&mut joined.link),
            _ => None,
        }
    }

    /// The state of the transport in use after its WELCOME. `None` before WELCOME and after the
    /// transport was closed.
    pub(super) fn welcomed(&self) -> Option<&Joined> {
        match self {
            Phase::Joined(joined) | Phase::Leaving(joined) => Some(joined),
            _ => None,
        }
    }

    pub(super) fn welcomed_mut(&mut self) -> Option<&mut Joined> {
        match self {
            Phase::Joined(joined) | Phase::Leaving(joined) => Some(joined),
            _ => None,
        }
    }

    /// The datagrams of the transport in use, before and after its WELCOME.
    pub(super) fn datagrams_mut(&mut self) -> Option<&mut Datagrams> {
        match self {
            Phase::Greeting(greeting) => greeting.link.datagrams.as_mut(),
            Phase::Joined(joined) | Phase::Leaving(joined) => joined.datagrams.as_mut(),
            _ => None,
        }
    }

    /// Replaces this phase by the one that `next` makes of it.
    pub(super) fn advance(&mut self, next: impl FnOnce(Phase) -> Phase) {
        *self = next(core::mem::replace(self, Phase::Ended));
    }

    /// When WELCOME was last received since the client waited to dial. `None` if it was not.
    pub(super) fn joined_at(&self) -> Option<Duration> {
        match self {
            Phase::Greeting(greeting) => greeting.joined_before,
            Phase::Joined(joined) | Phase::Leaving(joined) => Some(joined.joined_at),
            Phase::HangingUp { joined_at, .. } => *joined_at,
            Phase::Waiting { .. } | Phase::Dialing | Phase::Ended => None,
        }
    }
}

impl Joined {
    /// The time at which a ping is due, or at which the silence of the other end makes the
    /// transport suspicious or dead.
    pub(super) fn keep_alive_at(&self, session: &Session) -> Duration {
        let dead = self.link.last_packet() + self.timing.dead;
        let quiet = self.link.quiet_at().filter(|_| !session.transports.is_quiet);
        dead.min(self.next_ping(session)).min(quiet.unwrap_or(dead))
    }

    /// The time of the next ping: regularly, and soon after the last value of a channel that is
    /// being closed.
    pub(super) fn next_ping(&self, session: &Session) -> Duration {
        let regular = self.link.next_ping(self.timing.ping);
        let sent = session.closing_since().filter(|sent| *sent >= self.link.last_ping());
        sent.map_or(regular, |sent| regular.min(sent + Duration::from_millis(1)))
    }
}
