//! The other servers of a cluster, and the connections to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{self, UnboundedSender};

use super::figures::Counters;
use super::relay::edge;
use super::tls::{ClusterTls, Protocol};
use crate::rooms::task::Message;

/// Senders of messages to the rooms of other servers, by the address of the server.
pub(super) struct Peers {
    /// The name of this server.
    node: String,
    tls: ClusterTls,
    max_packet: usize,
    counters: Arc<Counters>,
    connected: Mutex<HashMap<String, UnboundedSender<Message>>>,
}

impl Peers {
    pub(super) fn new(
        node: String,
        tls: ClusterTls,
        max_packet: usize,
        counters: Arc<Counters>,
    ) -> Arc<Self> {
        Arc::new(Peers { node, tls, max_packet, counters, connected: Mutex::default() })
    }

    /// The sender to a server. It is connected to now if it is not yet; messages wait meanwhile.
    pub(super) fn sender(self: &Arc<Self>, node: &str, address: &str) -> UnboundedSender<Message> {
        let mut connected = self.connected();
        connected.retain(|_, sender| !sender.is_closed());
        if let Some(sender) = connected.get(address) {
            return sender.clone();
        }
        // How many messages may wait is said at `Message`.
        let (sender, messages) = mpsc::unbounded_channel();
        connected.insert(address.to_owned(), sender.clone());
        drop(connected);
        let (peers, node, address) = (Arc::clone(self), node.to_owned(), address.to_owned());
        tokio::spawn(async move {
            let Peers { node: own, tls, max_packet, counters, .. } = &*peers;
            let names = (&own[..], &node[..]);
            let (connecting, counters) =
                (tls.connect(&address, Protocol::Relay), Arc::clone(counters));
            edge::run(connecting, messages, names, *max_packet, counters).await;
        });
        sender
    }

    fn connected(&self) -> MutexGuard<'_, HashMap<String, UnboundedSender<Message>>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
