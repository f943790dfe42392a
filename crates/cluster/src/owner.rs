//! Names of nodes, and the process that owns a shard.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::bytes::{Malformed, Reader, put_sized};
use crate::limits::{MAX_ADDRESS, MAX_NAME};

/// The name of a node: 1 to 64 bytes of UTF-8. It stays the same when the node is started again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(String);

impl NodeName {
    /// The name, unless it is empty or longer than 64 bytes.
    pub fn new(name: &str) -> Option<Self> {
        (1..=MAX_NAME).contains(&name.len()).then(|| Self(name.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let bytes = reader.sized(MAX_NAME)?;
        core::str::from_utf8(bytes).ok().and_then(Self::new).ok_or(Malformed)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_sized(out, self.0.as_bytes());
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The process that claimed a shard.
///
/// The incarnation belongs to it because a node that was killed may come back under its name while
/// appends of the process before are still on their way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The node's name.
    pub node: NodeName,
    /// A number that differs for each process that ever ran under this name.
    pub incarnation: u64,
    /// Where other nodes and clients reach the node; opaque to this crate.
    pub address: Vec<u8>,
}

impl Owner {
    /// True if `other` is the same process.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.node == other.node && self.incarnation == other.incarnation
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            node: NodeName::read(reader)?,
            incarnation: reader.u64()?,
            address: reader.sized(MAX_ADDRESS)?.into(),
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.node.write(out);
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        put_sized(out, &self.address);
    }
}
