//! The compressor of the paper, as a baseline.

mod announcement;
mod code;
mod composite;
mod config;
mod decoder;
mod encoder;
mod error;
mod huffman;
mod number;
mod overhead;
mod packet;
mod suffix;
mod template;
mod tuning;

pub use config::{Config, Profile};
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use error::{DecodeError, EncodeError};
pub use overhead::{Announced, Overhead};
