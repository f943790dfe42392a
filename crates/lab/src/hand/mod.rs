//! Hand.
