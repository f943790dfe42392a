//! Tests of `groupwire-yjs` as a whole.

mod documents;
mod hostile;
mod messages;
mod vectors;
