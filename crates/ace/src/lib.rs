//! Adaptive stream compression: chooses a codec for each block of a byte stream by forecast (paper:
//! C. Krintz, S. Sucu, "Adaptive On-the-Fly Compression", called ACE).
//!
//! - [`Duplex`] is one end of a stream in both directions. It has no I/O, clock or thread: its
//!   owner moves bytes between it, the application and the transport. `now` is the time since an
//!   arbitrary moment and never decreases. docs/ace.md specifies the wire format and the calls.
//! - A [`Policy`] chooses a codec for each block: [`Adaptive`] by measurements, [`Always`] the same
//!   one.
//! - [`Coders`] hold the working memory of the codecs, which all streams of a thread share.
//!
//! ```
//! use groupwire_ace::{Coders, Duplex, Settings};
//! use std::time::Instant;
//!
//! let start = Instant::now();
//! let mut clock = || start.elapsed();
//! let mut coders = Coders::new();
//! let settings = Settings::always("zstd-3+history".parse()?);
//! let (mut here, mut there) = (Duplex::new(&settings)?, Duplex::new(&settings)?);
//!
//! here.write(b"again and again and again");
//! here.finish();
//! while !there.is_at_end() {
//!     here.work(&mut coders, &mut clock)?;
//!     // A transport comes here.
//!     let taken = there.receive(clock(), here.output())?;
//!     here.sent(clock(), taken);
//!     there.work(&mut coders, &mut clock)?;
//!     let came = there.readable();
//!     assert!(b"again and again and again".starts_with(came));
//!     let read = came.len();
//!     there.read(read);
//! }
//! assert_eq!(there.report().plain_in, 25);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]

extern crate alloc;

mod block;
mod choose;
mod coders;
mod duplex;
mod error;
mod frame;
mod history;
mod incoming;
mod ledger;
mod outbox;
mod outgoing;
mod policy;
mod report;
mod settings;
mod spare;

pub use block::Candidate;
pub use choose::Adaptive;
pub use coders::Coders;
pub use duplex::Duplex;
pub use error::{SettingsError, StreamError};
pub use policy::{Always, Decision, Delivered, Forecast, Packed, Policy, Situation};
pub use report::Report;
pub use settings::{Profile, Settings};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
