//! What the room has put out and its caller has not taken yet, in order.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::LinkId;
use crate::events::event;
use crate::room::api::{Event, Output, SharedPacket};

/// See the [module](self).
#[derive(Default)]
pub(in crate::room) struct Outputs {
    queue: VecDeque<Output>,
    shared: VecDeque<SharedOutput>,
    /// The number of outputs that were taken from `queue`.
    taken: u64,
}

/// A packet for several transports.
struct SharedOutput {
    /// The number of outputs of `queue`, counted from the first one ever, that come before this
    /// packet.
    after: u64,
    packet: SharedPacket,
    /// The number of `packet.links` that were taken one by one.
    taken: usize,
}

impl Outputs {
    pub(in crate::room) fn push_back(&mut self, output: Output) {
        self.queue.push_back(output);
    }

    /// Logs an event and puts it out for the server.
    pub(in crate::room) fn emit(&mut self, event: Event) {
        log(&event);
        self.push_back(Output::Event(event));
    }

    pub(in crate::room) fn push_shared(&mut self, packet: SharedPacket) {
        let after = self.taken + self.queue.len() as u64;
        self.shared.push_back(SharedOutput { after, packet, taken: 0 });
    }

    /// Takes the next output, if it is a packet for several transports.
    pub(in crate::room) fn pop_shared(&mut self) -> Option<SharedPacket> {
        self.shared.front().filter(|next| next.after == self.taken)?;
        let SharedOutput { mut packet, taken, .. } = self.shared.pop_front()?;
        packet.links.drain(..taken);
        Some(packet)
    }

    /// Takes a single transport and its packet from the next output, if that is a packet for
    /// several transports.
    pub(in crate::room) fn pop_one_of_shared(&mut self) -> Option<(LinkId, Arc<[u8]>)> {
        let next = self.shared.front_mut().filter(|one| one.after == self.taken)?;
        let link = *next.packet.links.get(next.taken)?;
        let packet = Arc::clone(&next.packet.packet);
        next.taken += 1;
        if next.taken == next.packet.links.len() {
            self.shared.pop_front();
        }
        Some((link, packet))
    }

    /// Takes the next output that is no packet for several transports.
    pub(in crate::room) fn pop_front(&mut self) -> Option<Output> {
        let output = self.queue.pop_front()?;
        self.taken += 1;
        Some(output)
    }

    /// Shrinks the capacity to this many outputs, or to those that wait.
    pub(in crate::room) fn shrink_to(&mut self, outputs: usize) {
        self.queue.shrink_to(outputs);
    }
}

/// Adds transports to the receivers of this packet. `most` is the largest number of receivers that
/// the packet can have.
pub(in crate::room) fn share(
    shared: &mut Vec<SharedPacket>,
    more: &[LinkId],
    packet: &Arc<[u8]>,
    most: usize,
) {
    // Searches from the end because most neighbours are members of the same shared stream.
    match shared.iter_mut().rev().find(|one| Arc::ptr_eq(&one.packet, packet)) {
        Some(one) => one.links.extend_from_slice(more),
        None => {
            let mut links = Vec::with_capacity(most);
            links.extend_from_slice(more);
            shared.push(SharedPacket { links, packet: Arc::clone(packet) });
        }
    }
}

fn log(event: &Event) {
    match event {
        Event::Visits { participant } => {
            event!(INFO, "participant joined by HTTP requests", %participant);
        }
        Event::Joined { participant, link, resumed } => {
            event!(INFO, "participant joined", %participant, %link, resumed);
        }
        Event::Refused { link, error } => {
            let fault = error.fault();
            event!(INFO, "join refused", %link, %error, ?fault);
        }
        Event::Away { participant, error: Some(error) } => {
            let fault = error.fault();
            event!(WARN, "participant disconnected", %participant, %error, ?fault);
        }
        Event::Away { participant, error: None } => {
            event!(INFO, "participant away", %participant);
        }
        Event::Left { participant } => event!(INFO, "participant left", %participant),
        Event::Channel { name, qos } => event!(DEBUG, "channel created", name, ?qos),
        Event::Changed { name, qos, participant } => {
            event!(DEBUG, "channel QoS changed", name, ?qos, %participant);
        }
        Event::Snapshot { part, as_of, size } => {
            event!(INFO, "part of the snapshot stored", part, %as_of, size);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn shared(links: &[u64]) -> SharedPacket {
        let links = links.iter().copied().map(LinkId).collect();
        SharedPacket { links, packet: Arc::from([7]) }
    }

    fn delay(link: u64) -> Output {
        Output::Delay { link: LinkId(link), delay: Duration::ZERO }
    }

    fn is_delay(output: Option<Output>, expected: u64) -> bool {
        matches!(output, Some(Output::Delay { link, .. }) if link == LinkId(expected))
    }

    #[test]
    fn a_shared_packet_keeps_its_place_among_the_outputs() {
        let mut outputs = Outputs::default();
        outputs.push_back(delay(1));
        outputs.push_shared(shared(&[2, 3]));
        outputs.push_back(delay(4));
        assert!(outputs.pop_shared().is_none() && outputs.pop_one_of_shared().is_none());
        assert!(is_delay(outputs.pop_front(), 1));
        assert_eq!(outputs.pop_shared().map(|packet| packet.links.len()), Some(2));
        assert!(outputs.pop_shared().is_none());
        assert!(is_delay(outputs.pop_front(), 4) && outputs.pop_front().is_none());
    }

    #[test]
    fn a_shared_packet_can_be_taken_one_transport_at_a_time() {
        let mut outputs = Outputs::default();
        outputs.push_shared(shared(&[2, 3, 4]));
        let first = outputs.pop_one_of_shared().map(|(link, _)| link);
        assert_eq!(first, Some(LinkId(2)));
        assert_eq!(outputs.pop_shared().map(|packet| packet.links), Some(shared(&[3, 4]).links));
        outputs.push_shared(shared(&[5]));
        assert!(outputs.pop_one_of_shared().is_some() && outputs.pop_one_of_shared().is_none());
    }

    #[test]
    fn transports_that_are_sent_the_same_packet_are_listed_together() {
        let (mut list, packets) = (Vec::new(), [Arc::from([1]), Arc::from([1])]);
        for link in 0..6 {
            share(&mut list, &[LinkId(link)], &packets[link as usize % 2], 6);
        }
        let links: Vec<_> = list.iter().map(|one| one.links.clone()).collect();
        assert_eq!(links, [[0, 2, 4].map(LinkId), [1, 3, 5].map(LinkId)]);
    }
}
