//! One WebTransport session.
