//! The store's traits and data that other files of the server use.

pub(crate) use groupwire_store::{
    Directory, Error as StoreError, Forget, Moment, Outbox, OutboxEvent, OutboxLimits, OutboxState,
    RoomInfo, SnapshotInfo, Stores, Times, limits, wait,
};
