//! What all parts share that answer HTTP requests, and the embedded web pages.

pub(crate) mod answers;
pub(crate) mod assets;
pub(crate) mod cross_origin;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod origins;
pub(crate) mod quiet;
