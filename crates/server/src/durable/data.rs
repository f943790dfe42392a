//! The store's traits and data that other files of the server use.

pub(crate) use groupwire_store::{
    Append, Damage, Directory, Error as StoreError, Forget, Loaded, Moment, Outbox, OutboxEvent,
    OutboxLimits, OutboxState, RoomInfo, SnapshotInfo, Stores, limits, wait,
};
