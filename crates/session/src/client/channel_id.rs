//! How an application names a channel.

/// A channel of one client: its place in the list of all channels that the client ever opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ChannelId(pub u32);
