//! How far a client's connection is: each phase owns what exists only in it.

use alloc::boxed::Box;
use core::time::Duration;

use super::delivery::Inbound;
use super::groups::Groups;
use super::inspector::Reports;
use super::shared_stream::SharedStream;
use super::upload::Upload;
use crate::Timing;
use crate::agreed::Agreed;
use crate::datagrams::Datagrams;
use crate::ids::{ParticipantId, Position};
use crate::link::{Coders, Link};

/// Where the connection stands.
pub(super) enum Phase {
    /// There is no transport; the shell is asked for one at `until`.
    Waiting { until: Duration },
    /// The shell opens a transport.
    Dialing,
    /// A transport is open and HELLO is on its way.
    Greeting(Box<Greeting>),
    /// WELCOME came.
    Joined(Box<Joined>),
    /// The application leaves: the transport is closed once BYE was sent.
    Leaving(Box<Joined>),
    /// The shell closes the transport; the wait for the next one starts when it reports that.
    HangingUp {
        /// How long the server that said BYE asked to wait at least.
        stay_away: Duration,
        /// When WELCOME came, if it did.
        joined_at: Option<Duration>,
    },
    /// The client has ended for good.
    Ended,
}

/// A transport before its WELCOME.
pub(super) struct Greeting {
    pub(super) link: Link,
    /// The capabilities in HELLO.
    pub(super) offered: Agreed,
    /// When the server counts as dead if WELCOME has not come.
    pub(super) give_up_at: Duration,
    /// When WELCOME came on the transport that this one replaces.
    pub(super) joined_before: Option<Duration>,
}

/// A transport after its WELCOME.
pub(super) struct Joined {
    pub(super) link: Link,
    /// What HELLO and WELCOME agreed on.
    pub(super) agreed: Agreed,
    pub(super) participant: ParticipantId,
    pub(super) timing: Timing,
    /// When WELCOME came.
    pub(super) joined_at: Duration,
    /// The coders of what travels over the stream to and from this client alone.
    pub(super) coders: Coders,
    /// `None` if they were not agreed on, or the transport's are too small to be useful.
    pub(super) datagrams: Option<Datagrams>,
    pub(super) shared_stream: SharedStream,
    pub(super) groups: Groups,
    pub(super) inbound: Inbound,
    /// The position for which the server asked for a snapshot.
    pub(super) snapshot_wanted: Option<Position>,
    /// A snapshot on its way to the server.
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

    /// What WELCOME made of the transport in use, until it is closed.
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

    /// Moves to another phase with what this one owns.
    pub(super) fn advance(&mut self, next: impl FnOnce(Phase) -> Phase) {
        *self = next(core::mem::replace(self, Phase::Ended));
    }

    /// When WELCOME last came since the client waited to dial.
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
    /// When a ping is due, or the silence becomes suspicious or final.
    pub(super) fn keep_alive_at(&self, is_quiet: bool) -> Duration {
        let dead = self.link.last_packet() + self.timing.dead;
        let ping = self.link.next_ping(self.timing.ping);
        let quiet = self.link.quiet_at().filter(|_| !is_quiet);
        dead.min(ping).min(quiet.unwrap_or(dead))
    }
}
