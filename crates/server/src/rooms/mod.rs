//! The rooms of a server: the directory that opens and finds them, and the task that drives each.

pub(crate) mod authority;
pub(crate) mod codecs;
pub(crate) mod costs;
pub(crate) mod hub;
pub(crate) mod observer;
pub(crate) mod store;
pub(crate) mod task;
pub(crate) mod totals;
