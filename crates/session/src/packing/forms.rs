//! Packed forms of messages that a room still sends: each is made once for all who asked for the same.

use alloc::boxed::Box;
use alloc::vec::Vec;

use groupwire_codecs::Choice;

use super::Packing;
use crate::ids::Order;
use crate::map::Map;

/// Octets of packed forms that are kept, at most. Then the oldest go, and are made again should somebody need them.
const MAX_BYTES: usize = 1 << 20;

/// Codings that a message is packed by, at most: whoever asks for a further one gets it as it is. Bounds what one
/// message costs, however many participants ask for something else.
const MAX_CODINGS: usize = 8;

/// What an entry costs beside its octets.
const FLAT: usize = 64;

/// Packed forms, by the order of their message in the room.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    by_order: Map<Order, Vec<Form>>,
    bytes: usize,
}

#[derive(Debug)]
struct Form {
    choice: Choice,
    /// `None`: it would not be smaller.
    packed: Option<Box<[u8]>>,
}

impl Form {
    fn cost(&self) -> usize {
        FLAT + self.packed.as_ref().map_or(0, |packed| packed.len())
    }
}

impl Forms {
    /// The packed form of a message, if it is smaller.
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

    /// Keeps a packed form; `None`: it would not be smaller.
    pub(crate) fn put(&mut self, order: Order, choice: Choice, packed: Option<&[u8]>) {
        let form = Form { choice, packed: packed.map(Into::into) };
        self.bytes += form.cost();
        self.by_order.or_insert(order, Vec::new()).push(form);
        while self.bytes > MAX_BYTES && self.drop_first() {}
    }

    /// Everybody was sent the messages up to this one.
    pub(crate) fn sent(&mut self, order: Order) {
        while self.by_order.first().is_some_and(|(&first, _)| first <= order) {
            self.drop_first();
        }
    }

    /// Octets that it holds.
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
    use crate::packing::Packing;
    use groupwire_codecs::{ALL, Costs, Filter};
    use std::vec;

    const MESSAGE: &[u8] = b"again and again and again and again and again";

    #[test]
    fn w49_a_form_is_made_once_and_the_senders_own_serves() {
        let (mut forms, mut packing) = (Forms::default(), Packing::new(ALL, Costs::reference()));
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
    fn codings_of_a_message_and_octets_of_all_are_bounded() {
        let (mut forms, mut packing) = (Forms::default(), Packing::new(ALL, Costs::reference()));
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
