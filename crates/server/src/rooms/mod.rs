//! The rooms of a server: the directory that opens and finds them, and the task that drives each.

mod authority;
pub(crate) mod codecs;
pub(crate) mod context;
pub(crate) mod costs;
pub(crate) mod directory;
pub(crate) mod elsewhere;
pub(crate) mod location;
pub(crate) mod mirror;
pub(crate) mod observer;
mod opening;
pub(crate) mod refused;
pub(crate) mod store;
mod stored;
pub(crate) mod task;
pub(crate) mod totals;
