//! Which programs a connection joins, and what one asks of the other's acknowledgements.

use std::time::Duration;

use groupwire_quic::{AckFrequency, End, RARE_ACKS, connection_id};

/// What the other end waits at most unless asked otherwise (RFC 9000, 18.2): quinn and Chromium.
pub(super) const USUAL_DELAY: Duration = Duration::from_millis(25);
/// Of the connection id that quinn chooses for itself.
const QUINN_ID: usize = 8;
/// quinn asks again when what it would ask for has changed by more than this.
const CHANGE: f64 = 0.2;

/// The programs at the ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// The native client and the server, with the settings of `groupwire-quic`: they ask each other for rare
    /// acknowledgements (draft-ietf-quic-ack-frequency).
    #[default]
    Native,
    /// A browser and the server: browsers do not know that extension, so both ends acknowledge as usual.
    Browser,
    /// A browser and a server with quinn's own settings.
    Plain,
}

impl Ends {
    /// Bytes of the connection id in packets towards the server. Browsers and the native client have none.
    pub(super) const fn server_id(self) -> usize {
        match self {
            Ends::Native | Ends::Browser => connection_id(End::Server),
            Ends::Plain => QUINN_ID,
        }
    }

    /// Whether both ends know the extension.
    pub(super) fn know_extension(self) -> bool {
        self == Ends::Native
    }
}

/// What an end asks of the other's acknowledgements, as quinn does it.
#[derive(Debug)]
pub(super) struct Asking {
    is_on: bool,
    /// Times it asked.
    count: u64,
    /// The longest delay of the other end's acknowledgements, as far as that end is known to have been told.
    granted: Duration,
    /// The request in this packet. If the packet is lost, quinn does not ask again before it wants another value.
    asked: Option<(u64, Duration)>,
}

impl Asking {
    pub(super) fn new(ends: Ends) -> Self {
        Asking { is_on: ends.know_extension(), count: 0, granted: USUAL_DELAY, asked: None }
    }

    /// What to ask for now, if that is worth a frame.
    pub(super) fn wanted(&self, rtt: Duration) -> Option<AckFrequency> {
        let delay = RARE_ACKS.max_delay.min(rtt.max(USUAL_DELAY));
        let current = self.asked.map_or(self.granted, |(_, delay)| delay);
        let change = delay.as_secs_f64() / current.as_secs_f64() - 1.0;
        let is_wanted = self.is_on && (self.count == 0 || change.abs() > CHANGE);
        is_wanted.then_some(AckFrequency { max_delay: delay, ..RARE_ACKS })
    }

    /// It asks in this packet. Returns how many times it did before.
    pub(super) fn asks(&mut self, number: u64, delay: Duration) -> u64 {
        self.asked = Some((number, delay));
        self.count += 1;
        self.count - 1
    }

    /// The other end has this packet.
    pub(super) fn acknowledged(&mut self, number: u64) {
        if let Some((_, delay)) = self.asked.take_if(|(asked, _)| *asked == number) {
            self.granted = delay;
        }
    }

    /// What the other end waits at most before it acknowledges, perhaps.
    pub(super) fn delay(&self) -> Duration {
        self.asked.map_or(self.granted, |(_, asked)| asked.max(self.granted))
    }
}
