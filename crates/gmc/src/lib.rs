//! Lossless compressor for streams of small similar messages.
//!
//! The messages of an interactive app resemble each other: the same JSON, XML, text or binary frame
//! around other values, many times a second. This crate finds the frame, without a schema and
//! without training, and sends only the values: a few bytes per message.
//!
//! ```
//! use groupwire_gmc::{Config, Decoder, Encoder};
//!
//! let mut encoder = Encoder::new(Config::default());
//! let mut decoder = Decoder::new(Config::default());
//! for x in 0..100 {
//!     let y = 700 - x;
//!     let message = format!(r#"{{"type":"pointer","user":"b81d6e04","x":{x},"y":{y}}}"#);
//!     let (mut packet, mut decoded) = (Vec::new(), Vec::new());
//!     encoder.encode(message.as_bytes(), &mut packet)?;
//!     decoder.decode(&packet, &mut decoded)?;
//!     assert_eq!(decoded, message.as_bytes());
//!     assert!(x < 10 || packet.len() <= 2);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! A *template* is an earlier message with *holes* where other messages differ. A message that fits
//! a template is coded as the template's number and the values in the holes. Numbers are coded as
//! the difference from a prediction by earlier values, strings as one of the last few or byte by
//! byte. In MessagePack, CBOR and Protocol Buffers the holes are the values of the format; in other
//! binary messages they are integers, floats and strings found by comparing messages. A message
//! inside of another one, such as JSON behind a length or in base64, has a template of its own, and
//! lengths that count it are not sent. Everything passes through an adaptive binary range coder. No
//! template is sent: both ends make the same templates from messages that both have. A message that
//! fits no template is coded byte by byte, guided by earlier strings, or compressed by one of the
//! codecs of `groupwire-codecs`, or sent as it is with two more bytes.
//!
//! # Links that lose packets
//!
//! Where packets are lost, the model may learn only from packets that the decoder has acknowledged.
//! An *epoch* is a version of the model that both ends are known to have. The encoder codes under
//! the newest epoch and names it. See [`Delivery`], [`Decoder::acknowledge`] and
//! [`Encoder::acknowledge`]:
//!
//! ```
//! use groupwire_gmc::{Config, Decoder, Delivery, Encoder};
//!
//! let config = Config { delivery: Delivery::Datagrams, ..Config::default() };
//! let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
//! for x in 0..100 {
//!     let message = format!(r#"{{"type":"pointer","user":"b81d6e04","x":{x}}}"#);
//!     let (mut packet, mut decoded, mut acknowledgement) = (Vec::new(), Vec::new(), Vec::new());
//!     encoder.encode(message.as_bytes(), &mut packet)?;
//!     if x % 7 == 6 {
//!         continue; // lost
//!     }
//!     decoder.decode(&packet, &mut decoded)?;
//!     assert_eq!(decoded, message.as_bytes());
//!     assert!(x < 30 || packet.len() <= 3);
//!     decoder.acknowledge(&mut acknowledgement);
//!     encoder.acknowledge(&acknowledgement)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - [`Config::delivery`] says how packets must be delivered. Both ends use the same [`Config`].
//! - Bytes out equal bytes in, for every input.
//! - The same messages and acknowledgements give the same packets, on every machine: there is no
//!   clock, no random source, no floating point, no thread and no I/O here.
//! - State is bounded by [`Config::memory`], work by the bytes coded and by [`Config::max_packet`].
//! - The decoder accepts any bytes: see [`DecodeError`]. So does [`Encoder::acknowledge`]: see
//!   [`AckError`].
//! - On links that lose packets, a packet that arrives sixteen or more acknowledgements late may be
//!   mistaken for another one, unless [`Config::check`] is on or a layer below drops such packets.
//!
//! # Joining late
//!
//! [`Encoder::snapshot`] writes the model for a decoder that joins late. [`Decoder::from_snapshot`]
//! makes a decoder that continues as if it had received all packets so far. [`Encoder::compact`]
//! makes snapshots small, at little cost.
//!
//! Compression leaks: the length of a packet tells how well a message agrees with earlier ones. Do
//! not mix secrets with data that an attacker can choose in one stream: give them an encoder of
//! their own.

#![no_std]

extern crate alloc;

#[cfg(feature = "accounting")]
mod account;
mod archive;
mod batch;
mod binary;
mod budget;
mod byte_contexts;
mod cache;
mod category;
mod choice;
mod config;
mod contexts;
mod control;
mod datagram;
mod decimal;
mod decoder;
#[cfg(feature = "describe")]
mod describe;
mod encoder;
mod error;
mod fields;
mod float_text;
mod grid;
mod hash;
mod history;
mod hole_kind;
mod holes;
mod integer;
mod keys;
mod learn;

mod line;
mod literal;
mod nested;
mod packet;
mod packet_number;
mod pass;
mod probability;
mod random;
mod range_coder;
mod reference;
mod series;
mod snapshot;
mod sort;

mod stream;
mod table;
mod template;
mod templates;
mod text;
mod token;
mod trace;

#[cfg(feature = "accounting")]
pub use account::{Expense, Part};
pub use batch::Message;
pub use config::{Config, Delivery};
pub use decoder::Decoder;
#[cfg(feature = "describe")]
pub use describe::{Description, Piece};
pub use encoder::Encoder;
pub use error::{AckError, DecodeError, EncodeError, SnapshotError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
