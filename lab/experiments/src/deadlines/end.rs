//! One end of a path over datagrams, by a scheme of the product or of the paper of 2012.

use std::time::Duration;

use groupwire_afec::code::{Code, Repeats};
use groupwire_afec::{self as product, Config, Notice, PacketError, Submission};
use groupwire_papers::afec2012 as paper;

use super::cell::{CHANNEL, Cell};

/// The product's scheme, or the paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scheme {
    Product(product::Scheme),
    Paper(paper::Scheme),
}

impl Scheme {
    /// Datagrams without redundancy.
    pub(super) const PLAIN: Scheme = Scheme::fixed(Code::PLAIN);

    /// A scheme that always uses the same code.
    pub(super) const fn fixed(code: Code) -> Self {
        Scheme::Product(product::Scheme::Fixed(code))
    }

    /// An end of a cell's path. `price` is the cost of a repeat in bytes, if it is not the repeat's
    /// length.
    pub(super) fn end(self, cell: &Cell, price: Option<f64>) -> Endpoint {
        match self {
            Scheme::Product(scheme) => {
                let config = Config { scheme, repeat_price: price, ..Config::default() };
                let mut endpoint = product::Endpoint::new(config);
                endpoint.open(CHANNEL, cell.qos()).expect("the contract makes sense");
                Endpoint::Product(Box::new(endpoint))
            }
            Scheme::Paper(scheme) => {
                let deadline = cell.known_deadline();
                Endpoint::Paper(Box::new(paper::Endpoint::new(scheme, deadline)))
            }
        }
    }
}

/// One end of a path.
pub(super) enum Endpoint {
    Product(Box<product::Endpoint>),
    Paper(Box<paper::Endpoint>),
}

impl Endpoint {
    /// Sends a small message.
    pub(super) fn send(&mut self, now: Duration, age: Duration, payload: &[u8]) {
        let is_small = match self {
            Endpoint::Product(end) => {
                let message = Submission { age, ..Submission::new(payload) };
                end.send(now, CHANNEL, message).is_ok()
            }
            Endpoint::Paper(end) => end.send(now, age, payload).is_ok(),
        };
        assert!(is_small, "messages are small");
    }

    /// Writes the next packet that is due. Returns the number of repeats in it and their bytes.
    pub(super) fn transmit(&mut self, now: Duration, packet: &mut Vec<u8>) -> Option<(u32, u32)> {
        match self {
            Endpoint::Product(end) => {
                end.transmit(now, packet).map(|made| (made.repeated, made.repeated_bytes))
            }
            Endpoint::Paper(end) => {
                end.transmit(now, packet).map(|made| (made.repeated, made.repeated_bytes))
            }
        }
    }

    /// Passes the messages of a packet to `deliver`, each with its age. A repeated packet is no
    /// fault.
    ///
    /// # Errors
    /// Why the packet is refused.
    pub(super) fn receive(
        &mut self,
        now: Duration,
        packet: &[u8],
        mut deliver: impl FnMut(Duration, &[u8]),
    ) -> Result<(), String> {
        match self {
            Endpoint::Product(end) => {
                let received =
                    end.receive(now, packet, |message| deliver(message.age, message.payload));
                match received {
                    Ok(()) | Err(PacketError::Duplicate) => Ok(()),
                    Err(error) => Err(error.to_string()),
                }
            }
            Endpoint::Paper(end) => end
                .receive(now, packet, |message| deliver(message.age, message.payload))
                .map_err(|error| error.to_string()),
        }
    }

    pub(super) fn expire(&mut self, now: Duration) {
        match self {
            Endpoint::Product(end) => end.expire(now),
            Endpoint::Paper(end) => end.expire(now),
        }
    }

    pub(super) fn timeout(&self, now: Duration) -> Option<Duration> {
        match self {
            Endpoint::Product(end) => end.timeout(now),
            Endpoint::Paper(end) => end.timeout(now),
        }
    }

    /// The next notice to the application. The paper's schemes have none.
    pub(super) fn notice(&mut self) -> Option<Notice> {
        match self {
            Endpoint::Product(end) => end.notice(),
            Endpoint::Paper(_) => None,
        }
    }

    /// The code in force.
    pub(super) fn code(&self) -> Option<Code> {
        match self {
            Endpoint::Product(end) => end.sent(CHANNEL).map(|(_, code)| code),
            Endpoint::Paper(end) => Some(Code {
                repeats: Repeats::repeat_last(end.repeats()),
                tail_flush: true,
                ..Code::PLAIN
            }),
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            Endpoint::Product(end) => end.memory(),
            Endpoint::Paper(end) => end.memory(),
        }
    }
}
