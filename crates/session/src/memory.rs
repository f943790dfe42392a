//! The memory of the models that compress the messages of a connection (wire W118).

/// The memory of gmc's models on one connection. There are up to four: of the stream and of
/// datagrams, in both directions, at both ends.
///
/// With less memory messages take more bytes: 6 % over a stream and 21 % in datagrams for the
/// pointers and edits of four people in text (`groupwire-lab gmc --part paper`, section 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelMemory {
    /// 64 KiB for each model.
    #[default]
    Full,
    /// 16 KiB for each model, at an end that has many connections or little memory. A server
    /// without this capability, and fan-out groups, which many receivers share, take the full
    /// memory.
    Small,
}

impl ModelMemory {
    /// Bytes for each model.
    pub const fn bytes(self) -> usize {
        match self {
            ModelMemory::Full => 64 << 10,
            ModelMemory::Small => 16 << 10,
        }
    }
}
