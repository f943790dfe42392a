//! What a confirmed transaction of a room survives.

/// What a transaction survives once it is confirmed (wire W92).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Nothing: if the server ends, the room is gone.
    #[default]
    Memory,
    /// The end of the server and of its machine, but not the loss of its disk: a transaction is
    /// confirmed once it is on the disk.
    Local,
    /// The loss of a server's disk, too: a transaction is confirmed once several servers have it.
    Cluster,
}

impl Durability {
    pub(crate) fn to_wire(self) -> u8 {
        match self {
            Durability::Memory => 0,
            Durability::Local => 1,
            Durability::Cluster => 2,
        }
    }

    /// `None` for an unknown number.
    pub(crate) fn from_wire(value: u8) -> Option<Self> {
        match value {
            0 => Some(Durability::Memory),
            1 => Some(Durability::Local),
            2 => Some(Durability::Cluster),
            _ => None,
        }
    }
}
