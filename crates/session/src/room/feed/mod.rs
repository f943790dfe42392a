//! Feeds: what receivers are sent of the log.
//!
//! A feed is a cursor into the log, a filter and an encoder, for one receiver or for many. There are four:
//!
//! | | over the stream | as datagrams |
//! | --- | --- | --- |
//! | one receiver | [`private_stream`] | [`private_datagrams`] |
//! | a fan-out group | [`shared_stream`] | [`group`] |
//!
//! Which messages a feed carries is decided by the [`Filter`] that it states. How often something is repeated, and that a
//! receiver asked for fewer values ([`downsampling`]), are policies of a feed.
//!
//! [`Filter`]: super::log::Filter

mod carry;
pub(super) mod copies;
pub(super) mod downsampling;
pub(super) mod group;
pub(super) mod private_datagrams;
pub(super) mod private_stream;
mod record;
pub(super) mod shared_stream;

pub(super) use carry::Feed;
pub(super) use group::Groups;
pub(super) use record::RecordBuilder;
pub(super) use shared_stream::SharedStreams;
