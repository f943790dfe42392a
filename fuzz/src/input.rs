//! The bytes of an input, taken from the front. Behind the end there are zeros.

use groupwire_gmc::{Config, Delivery};

/// An input that is not used up yet.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of the input.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether everything was taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        byte
    }

    /// The next two bytes.
    pub fn number(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// As many bytes as the next one says, or all that are left.
    pub fn piece(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte());
        let (piece, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        piece
    }

    /// The rest of the input.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// A place in `length` things.
    pub fn place(&mut self, length: usize) -> usize {
        usize::from(self.number()) % length.max(1)
    }

    /// A configuration: any delivery, little memory or enough, wide limits or narrow ones.
    pub fn config(&mut self) -> Config {
        let (delivery, memory, limits) = (self.byte(), self.byte(), self.byte());
        let config = Config {
            delivery: [Delivery::Datagrams, Delivery::Room, Delivery::Ordered]
                [usize::from(delivery) % 3],
            memory: [16 << 10, 64 << 10, 4 << 10, 8 << 10][usize::from(memory) % 4],
            fields: usize::from(memory >> 2) % 7,
            check: limits & 1 == 1,
            ..Config::default()
        };
        match limits >> 1 & 3 {
            0 | 1 => config,
            2 => Config {
                max_message: 5000,
                max_messages_per_packet: 20,
                max_packet: 9000,
                ..config
            },
            _ => Config { max_message: 90, max_messages_per_packet: 3, max_packet: 150, ..config },
        }
    }
}
