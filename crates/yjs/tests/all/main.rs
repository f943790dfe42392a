//! Tests of `groupwire-yjs` as a whole.

mod hostile;
mod vectors;
