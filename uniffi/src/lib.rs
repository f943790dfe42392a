//! The Groupwire client for Kotlin and Swift, whose sources UniFFI generates from this library
//! (docs/kotlin.md).
//!
//! It declares the records and enums of `groupwire_ffi` again, because that crate, which the
//! libraries for C and Python use, is to be free of UniFFI. The compiler compares: a member that is
//! missing here, or one too many, does not compile.

mod error;
mod event;
mod options;
mod records;
mod session;
mod shared;

pub use error::{Code, Failure, SessionError};
pub use event::Event;
pub use session::{Session, awareness_qos, transaction_qos, voice_qos};

uniffi::setup_scaffolding!();
