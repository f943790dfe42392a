//! Decides when the coded payloads of the other end are acknowledged (wire W40).

use core::time::Duration;

/// An acknowledgement waits at most this long for a datagram that is sent anyway. With half of this
/// and of [`MAX_UNACKNOWLEDGED`], ends that send nothing themselves sent 1.6 acknowledgements per
/// second in datagrams of their own, each with an acknowledgement of QUIC, and with probes if it
/// was lost: a twentieth of all bytes (`groupwire-lab contract --setup table1`).
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// An acknowledgement is due without waiting once this many coded datagrams arrived.
const MAX_UNACKNOWLEDGED: u32 = 16;

/// The shortest time between two acknowledgements. At 25 datagrams a second in both directions,
/// every third datagram carries one, and the sixteen acknowledgements whose models a decoder keeps
/// last for 1.4 s.
const SPACING: Duration = Duration::from_millis(90);

/// Decides when an acknowledgement is sent.
#[derive(Debug, Default)]
pub(super) struct Acknowledging {
    /// Coded datagrams that arrived since the last acknowledgement.
    unacknowledged: u32,
    /// The latest time of the next acknowledgement. `None` if nothing is to be acknowledged.
    due: Option<Duration>,
    /// Time of the last acknowledgement.
    last: Option<Duration>,
}

impl Acknowledging {
    /// The latest time of the next acknowledgement.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// A datagram with a coded body arrived.
    pub(super) fn on_coded(&mut self, now: Duration) {
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        let is_full = self.unacknowledged >= MAX_UNACKNOWLEDGED;
        let wait = if is_full { Duration::ZERO } else { LONGEST_WAIT };
        let earliest = self.last.map_or(now, |before| before + SPACING);
        let at = (now + wait).max(earliest);
        self.due = Some(self.due.map_or(at, |before| before.min(at)));
    }

    /// True if a datagram that is made now is to carry an acknowledgement. In this case, none is
    /// due any more.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        let is_spaced = self.last.is_none_or(|before| now >= before + SPACING);
        if self.unacknowledged == 0 || !is_spaced {
            return false;
        }
        self.unacknowledged = 0;
        self.due = None;
        true
    }

    /// An acknowledgement was put into a datagram.
    pub(super) fn sent(&mut self, now: Duration) {
        self.last = Some(now);
    }
}
