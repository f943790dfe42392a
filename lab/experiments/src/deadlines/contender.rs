//! The schemes that are compared, by name.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use groupwire_afec as product;
use groupwire_papers::afec2012::{self as paper, Controller};

use super::cell::Cell;
use super::end::Scheme;
use super::pair::{self, Setup};
use super::run::Log;
use super::stream;

/// A scheme that gets messages to the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contender {
    /// A TCP connection per hop.
    Tcp,
    /// Datagrams without redundancy.
    Udp,
    /// Each packet repeats this many of the last messages.
    Fec(u8),
    /// The controller of the AFEC paper.
    Afec2012,
    /// The same with another period, in seconds, which the paper does not state: `afec-2012@5`.
    Afec2012Every(u32),
    /// Groupwire's own scheme.
    Groupwire,
    /// The best static code in hindsight, which a search finds.
    BestStatic,
}

impl Contender {
    /// The contenders that run unless others are named, in the order of the rows.
    pub(super) const ALL: [Contender; 11] = [
        Contender::Tcp,
        Contender::Udp,
        Contender::Fec(2),
        Contender::Fec(3),
        Contender::Fec(4),
        Contender::Fec(5),
        Contender::Fec(6),
        Contender::Fec(7),
        Contender::Afec2012,
        Contender::Groupwire,
        Contender::BestStatic,
    ];

    /// Whether the scheme does the same for all targets.
    pub(super) fn ignores_target(self) -> bool {
        matches!(self, Contender::Tcp | Contender::Udp | Contender::Fec(_))
    }

    /// The scheme that decides on redundancy; `None` for TCP, and for the code that a search finds.
    pub(super) fn scheme(self) -> Option<Scheme> {
        match self {
            Contender::Udp => Some(Scheme::PLAIN),
            Contender::Fec(n) => Some(Scheme::Paper(paper::Scheme::Fec(n))),
            Contender::Afec2012 => Some(Scheme::Paper(paper::Scheme::Afec(Controller::default()))),
            Contender::Afec2012Every(seconds) => {
                let period = Duration::from_secs(seconds.into());
                let settings = Controller { period, ..Controller::default() };
                Some(Scheme::Paper(paper::Scheme::Afec(settings)))
            }
            Contender::Groupwire => Some(Scheme::Product(product::Scheme::Adaptive)),
            Contender::Tcp | Contender::BestStatic => None,
        }
    }

    /// Sends the input over a cell's path. The best static code is not known beforehand: it is run
    /// by its [search](super::search).
    pub(super) fn run(self, cell: &Cell, setup: &Setup<'_>) -> Log {
        match self.scheme() {
            Some(scheme) => pair::run(cell, &Setup { scheme, ..setup.clone() }),
            None => stream::run(cell, setup.input, setup.seed),
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contender::Tcp => out.write_str("tcp"),
            Contender::Udp => out.write_str("udp"),
            Contender::Fec(n) => write!(out, "fec-{n}"),
            Contender::Afec2012 => out.write_str("afec-2012"),
            Contender::Afec2012Every(seconds) => write!(out, "afec-2012@{seconds}"),
            Contender::Groupwire => out.write_str("groupwire"),
            Contender::BestStatic => out.write_str("best-static"),
        }
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Contender::ALL.into_iter().find(|one| one.to_string() == name);
        let every =
            || Some(Contender::Afec2012Every(name.strip_prefix("afec-2012@")?.parse().ok()?));
        found.or_else(every).ok_or_else(|| {
            let names = Contender::ALL.map(|one| one.to_string()).join(", ");
            format!("there are {names}, and afec-2012@5 for a period of 5 s")
        })
    }
}
