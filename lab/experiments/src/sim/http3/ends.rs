//! The programs at the ends of a connection, and the acknowledgements that one asks of the other.

use std::time::Duration;

use groupwire_quic::{AckFrequency, End, RARE_ACKS, connection_id};

/// The longest time that the other end waits before it acknowledges, unless asked otherwise (RFC
/// 9000, 18.2), in quinn and Chromium.
pub(super) const USUAL_DELAY: Duration = Duration::from_millis(25);
/// The bytes of the connection id that quinn chooses for itself.
const QUINN_ID: usize = 8;
/// quinn asks again when the delay that it would ask for has changed by more than this share.
const CHANGE: f64 = 0.2;

/// The programs at the ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// The native client and the server, with the settings of `groupwire-quic`: they ask each other
    /// for rare acknowledgements (draft-ietf-quic-ack-frequency).
    #[default]
    Native,
    /// A browser and the server: browsers do not know that extension, so both ends acknowledge as
    /// usual.
    Browser,
    /// A browser and a server with quinn's own settings.
    Plain,
}

impl Ends {
    /// Bytes of the connection id in packets towards the server. Browsers and the native client
    /// have none.
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

/// The acknowledgements that an end asks of the other, as quinn does it.
#[derive(Debug)]
pub(super) struct Asking {
    is_on: bool,
    /// The number of requests so far.
    count: u64,
    /// The longest delay that the other end is known to have been asked for.
    granted: Duration,
    /// The request in this packet. If the packet is lost, quinn does not ask again before it wants
    /// another value.
    asked: Option<(u64, Duration)>,
}

impl Asking {
    pub(super) fn new(ends: Ends) -> Self {
        Asking { is_on: ends.know_extension(), count: 0, granted: USUAL_DELAY, asked: None }
    }

    /// The delay to ask for now, if it is worth a frame.
    pub(super) fn wanted(&self, rtt: Duration) -> Option<AckFrequency> {
        let delay = RARE_ACKS.max_delay.min(rtt.max(USUAL_DELAY));
        let current = self.asked.map_or(self.granted, |(_, delay)| delay);
        let change = delay.as_secs_f64() / current.as_secs_f64() - 1.0;
        let is_wanted = self.is_on && (self.count == 0 || change.abs() > CHANGE);
        is_wanted.then_some(AckFrequency { max_delay: delay, ..RARE_ACKS })
    }

    /// Records that this packet asks for a delay. Returns the number of earlier requests.
    pub(super) fn asks(&mut self, number: u64, delay: Duration) -> u64 {
        self.asked = Some((number, delay));
        self.count += 1;
        self.count - 1
    }

    /// The other end has received this packet.
    pub(super) fn acknowledged(&mut self, number: u64) {
        if let Some((_, delay)) = self.asked.take_if(|(asked, _)| *asked == number) {
            self.granted = delay;
        }
    }

    /// The longest time that the other end may wait before it acknowledges.
    pub(super) fn delay(&self) -> Duration {
        self.asked.map_or(self.granted, |(_, asked)| asked.max(self.granted))
    }
}
