//! An emulated bad network between a transport and its room, for demonstrations. Connections that ask for
//! it (`emulate` in their address's query) go over the path that [`control`] sets for their room. A
//! participant for which [`control`] sets a path of its own goes over that one.
//!
//! Datagrams are dropped and delayed. Bytes of a reliable transport cannot be dropped here without breaking it, so the
//! effect of a lost segment on a stream is modelled: the segment arrives one retransmission later, and all bytes behind
//! it wait. `docs/operations.md` describes the model.

pub(crate) mod control;
mod ends;
pub(crate) mod model;
pub(crate) mod path;
mod switch;

use std::sync::Arc;

use super::conn_info::ConnInfo;
use super::ends::{Datagrams, Receive, Transmit};
use crate::hub::Hub;
use model::Recovery;
use path::PathSlot;
use switch::Switch;

/// The parameter in the query of a connection's address that asks for the emulated network.
const PARAMETER: &str = "emulate";

/// True if a connection whose address has this query asks for the emulated network, and may have it.
pub(crate) fn is_wanted(hub: &Hub, query: Option<&str>) -> bool {
    let mut words = query.unwrap_or_default().split('&').map(|pair| pair.split('=').next());
    hub.config.emulate && words.any(|word| word == Some(PARAMETER))
}

/// Serves a connection until it ends, as [`super::serve::serve`] does. With `wanted` the connection uses the emulated
/// path of its room, otherwise its participant's own emulated path as soon as one is set.
pub(crate) async fn serve<R, T, D>(
    hub: Arc<Hub>,
    transport: &'static str,
    wanted: bool,
    receive: R,
    transmit: T,
    datagrams: Option<(D, usize)>,
) where
    R: Receive + 'static,
    T: Transmit + 'static,
    D: Datagrams + 'static,
{
    if !hub.emulations.are_allowed() {
        let info = ConnInfo { transport, path: None };
        return super::serve::serve(hub, info, receive, transmit, datagrams).await;
    }
    let slot = PathSlot::default();
    let recovery = match datagrams {
        Some(_) => Recovery::QUIC,
        None => Recovery::TCP,
    };
    let switch = Switch { emulations: Arc::clone(&hub.emulations), slot: slot.clone(), recovery };
    let receive = switch.receive(receive, wanted);
    let transmit = switch.transmit(transmit, wanted);
    let datagrams = datagrams.map(|(one, max)| (switch.datagrams(one, wanted), max));
    let info = ConnInfo { transport, path: Some(slot) };
    // Boxed, so that connections of a server without emulated networks do not hold memory for it.
    Box::pin(super::serve::serve(hub, info, receive, transmit, datagrams)).await;
}

#[cfg(test)]
mod tests;
