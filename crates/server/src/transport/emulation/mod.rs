//! An emulated bad network between a transport and its room, for demonstrations. Connections that
//! ask for it (`emulate` in their address's query) go over the path that [`control`] sets for their
//! room. A participant for which [`control`] sets a path of its own goes over that one.

pub(crate) mod control;

use std::sync::Arc;

use crate::ends::conn_info::ConnInfo;
use crate::ends::emulation::model::Recovery;
use crate::ends::emulation::path::PathSlot;
use crate::ends::emulation::switch::Switch;
use crate::ends::{Datagrams, Receive, Transmit};
use crate::transport::context::TransportContext;

/// The parameter in the query of a connection's address that asks for the emulated network.
const PARAMETER: &str = "emulate";

/// True if a connection whose address has this query asks for the emulated network, and may have
/// it.
pub(crate) fn is_wanted(context: &TransportContext, query: Option<&str>) -> bool {
    let mut words = query.unwrap_or_default().split('&').map(|pair| pair.split('=').next());
    context.is_demonstration && words.any(|word| word == Some(PARAMETER))
}

/// Serves a connection until it ends, as [`super::serve::serve`] does. With `wanted` the connection
/// uses the emulated path of its room, otherwise its participant's own emulated path as soon as one
/// is set.
pub(crate) async fn serve<R, T, D>(
    context: Arc<TransportContext>,
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
    if !context.emulations.are_allowed() {
        let info = ConnInfo { transport, path: None };
        return super::serve::serve(context, info, receive, transmit, datagrams).await;
    }
    let slot = PathSlot::default();
    let recovery = match datagrams {
        Some(_) => Recovery::QUIC,
        None => Recovery::TCP,
    };
    let switch =
        Switch { emulations: Arc::clone(&context.emulations), slot: slot.clone(), recovery };
    let receive = switch.receive(receive, wanted);
    let transmit = switch.transmit(transmit, wanted);
    let datagrams = datagrams.map(|(one, max)| (switch.datagrams(one, wanted), max));
    let info = ConnInfo { transport, path: Some(slot) };
    // Boxed, so that connections of a server without emulated networks do not hold memory for it.
    Box::pin(super::serve::serve(context, info, receive, transmit, datagrams)).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin_http::config::AdminConfig;
    use crate::server::config::Config;
    use crate::server::services::Services;

    #[test]
    fn only_connections_that_ask_are_emulated_and_only_where_allowed() {
        let context = |emulate, admin| {
            let config = Config { emulate, admin, ..Config::default() };
            Services::new(config, None, None).unwrap().transports
        };
        let demonstration = context(true, None);
        for (query, wanted) in [
            (None, false),
            (Some(""), false),
            (Some("emulated"), false),
            (Some("emulate"), true),
            (Some("a=b&emulate=1"), true),
        ] {
            assert_eq!(is_wanted(&demonstration, query), wanted, "{query:?}");
        }
        assert!(!is_wanted(&context(false, Some(AdminConfig::default())), Some("emulate")));
        assert!(!context(false, None).emulations.are_allowed());
    }
}
