//! By which codec a message is packed for the other end of a link.

use groupwire_codecs::Choice;

use super::{Forms, Packing};
use crate::Compress;

/// What an end knows of the other one's codecs, on one transport.
#[derive(Debug, Default)]
pub(crate) struct Choosing {
    /// W46: what the other end can read.
    reads: u64,
}

impl Choosing {
    /// W46: the other end can read these from now on.
    pub(crate) fn reads(&mut self, set: u64) {
        self.reads = set;
    }

    /// The packed form of a message, and how it was made; `None`: it goes as it is. `cached`: where packed forms of
    /// messages are kept, and this one's place there.
    pub(crate) fn pack<'a>(
        &mut self,
        compress: Compress,
        message: &[u8],
        packing: &'a mut Packing,
        cached: Option<(&'a mut Forms, u64)>,
    ) -> Option<(Choice, &'a [u8])> {
        let choice = match compress {
            Compress::Template | Compress::Off | Compress::Auto => return None,
            Compress::Named(choice) => choice,
        };
        if choice.codec == 0 || self.reads >> choice.codec & 1 == 0 {
            return None;
        }
        let packed = match cached {
            None => packing.pack(choice, message),
            Some((forms, order)) => forms.get_or_pack(order, choice, message, packing),
        };
        packed.map(|packed| (choice, packed))
    }
}
