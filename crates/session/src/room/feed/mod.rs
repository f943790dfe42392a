//! Feeds send the messages of the log to receivers.
//!
//! A feed is a cursor into the log, a filter and an encoder, for one receiver or for many. There
//! are four:
//!
//! | | over the stream | as datagrams |
//! | --- | --- | --- |
//! | one receiver | [`private_stream`] | [`private_datagrams`] |
//! | a fan-out group | [`shared_stream`] | [`group`] |
//!
//! What a receiver is told of the other participants is a feed of its own ([`participants`]).
//!
//! Transactions for one participant go over its private stream ([`directs`]), even if it also
//! receives a shared stream.
//!
//! The [`Filter`] of a feed decides which messages it sends. The feed itself decides how often
//! messages are repeated, and sends fewer values to a receiver that asked for a lower rate
//! ([`downsampling`]).
//!
//! [`Filter`]: super::log::Filter

mod carry;
pub(super) mod copies;
pub(super) mod directs;
pub(super) mod downsampling;
pub(super) mod gaps;
pub(super) mod group;
pub(super) mod participants;
pub(super) mod private_datagrams;
pub(super) mod private_stream;
mod record;
pub(super) mod shared_stream;

pub(super) use carry::Feed;
pub(super) use group::Groups;
pub(super) use record::RecordBuilder;
pub(super) use shared_stream::SharedStreams;
