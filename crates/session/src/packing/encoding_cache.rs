//! A cache of packed messages that a room still has to send to some receivers. Each message is
//! packed once for all receivers that want the same codec (wire W49).

use alloc::boxed::Box;
use alloc::vec::Vec;

use groupwire_codecs::Choice;

use super::codecs::Packing;
use crate::ids::Order;
use crate::map::Map;

/// The most bytes in the cache. Beyond it the oldest messages are dropped; they are packed again if
/// a receiver needs them.
const MAX_BYTES: usize = 1 << 20;

/// The most codings (codec, level and filter) with which one message is packed. Receivers that ask
/// for a further coding get the message unpacked (wire W49). This bounds the work that the
/// participants can cause for one message.
const MAX_CODINGS: usize = 8;

/// The estimated memory of an entry, in bytes, without the packed message.
const FLAT: usize = 64;

/// Packed messages, by the message's order in the room.
#[derive(Debug, Default)]
pub(crate) struct EncodingCache {
    by_order: Map<Order, Vec<Form>>,
    bytes: usize,
}

/// A message that was packed by one codec.
#[derive(Debug)]
struct Form {
    choice: Choice,
    /// The packed message. `None` if it would not be smaller than the message.
    packed: Option<Box<[u8]>>,
}

impl Form {
    fn cost(&self) -> usize {
        FLAT + self.packed.as_ref().map_or(0, |packed| packed.len())
    }
}

impl EncodingCache {
    /// Returns the packed form of a message from the cache, or packs the message now. `None` if the
    /// packed form is not smaller than the message, or if the message was already packed with
    /// [`MAX_CODINGS`] other codings.
    pub(crate) fn get_or_pack<'a>(
        &'a mut self,
        order: Order,
        choice: Choice,
        message: &[u8],
        packing: &'a mut Packing,
    ) -> Option<&'a [u8]> {
        let (found, count) = match self.by_order.get(&order) {
            Some(forms) => (forms.iter().position(|form| form.choice == choice), forms.len()),
            None => (None, 0),
        };
        if let Some(found) = found {
            let forms = self.by_order.get(&order)?;
            return forms[found].packed.as_deref();
        }
        if count >= MAX_CODINGS {
            return None;
        }
        let packed = packing.pack(choice, message);
        self.put(order, choice, packed);
        packed
    }

    /// Adds a packed form to the cache. `packed` is `None` if the packed form would not be smaller
    /// than the message.
    pub(crate) fn put(&mut self, order: Order, choice: Choice, packed: Option<&[u8]>) {
        let form = Form { choice, packed: packed.map(Into::into) };
        self.bytes += form.cost();
        self.by_order.or_insert(order, Vec::new()).push(form);
        while self.bytes > MAX_BYTES && self.drop_first() {}
    }

    /// Drops the packed messages up to `order`. The room calls this when it has sent these messages
    /// to all receivers.
    pub(crate) fn sent(&mut self, order: Order) {
        while self.by_order.first().is_some_and(|(&first, _)| first <= order) {
            self.drop_first();
        }
    }

    /// The memory of the cache, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bytes
    }

    fn drop_first(&mut self) -> bool {
        let Some(forms) = self.by_order.pop_first() else { return false };
        self.bytes -= forms.iter().map(Form::cost).sum::<usize>();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groupwire_codecs::{ALL, Costs, Filter};
    use std::vec;

    const MESSAGE: &[u8] = b"again and again and again and again and again";

    #[test]
    fn w49_a_message_is_packed_once_and_the_senders_packed_form_is_used() {
        let (mut forms, mut packing) =
            (EncodingCache::default(), Packing::new(ALL, Costs::reference()));
        let lz4 = Choice::codec(1);
        forms.put(Order(1), lz4, Some(b"the sender's"));
        assert_eq!(
            forms.get_or_pack(Order(1), lz4, MESSAGE, &mut packing),
            Some(&b"the sender's"[..])
        );
        let made = forms.get_or_pack(Order(2), lz4, MESSAGE, &mut packing).unwrap().to_vec();
        assert_eq!(
            forms.get_or_pack(Order(2), lz4, b"not looked at", &mut packing),
            Some(&made[..])
        );
        assert_eq!(forms.get_or_pack(Order(3), lz4, b"abc", &mut packing), None);
        forms.sent(Order(2));
        assert_eq!(forms.by_order.first().map(|(&order, _)| order), Some(Order(3)));
        forms.sent(Order(3));
        assert_eq!(forms.memory(), 0);
    }

    #[test]
    fn codings_of_a_message_and_bytes_of_the_cache_are_bounded() {
        let (mut forms, mut packing) =
            (EncodingCache::default(), Packing::new(ALL, Costs::reference()));
        let levels = (0..2 * MAX_CODINGS as i8).map(|level| Choice {
            level: Some(level),
            filter: Filter::None,
            codec: 2,
        });
        for choice in levels {
            forms.get_or_pack(Order(1), choice, MESSAGE, &mut packing);
        }
        assert_eq!(forms.by_order.get(&Order(1)).unwrap().len(), MAX_CODINGS);
        for order in 2..100 {
            forms.put(Order(order), Choice::codec(1), Some(&vec![0; 60_000]));
            assert!(forms.memory() <= MAX_BYTES);
        }
        assert!(!forms.by_order.contains_key(&Order(1)));
    }
}
