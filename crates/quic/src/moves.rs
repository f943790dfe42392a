//! Continues a connection from another address of this machine (docs/transports.md, T26).

use wtransport::Connection;

use crate::controller::Needs;
use crate::settings::{receive_window, window};

/// Tells the other end that the address of this end has changed, for the `moves`-th time: QUIC
/// notices a new address only by a packet from there. The congestion control of this end starts
/// over, because its measurements are of another path. `max_packet` is that of
/// [`settings`](crate::settings()).
///
/// ```no_run
/// # fn example(connection: &groupwire_quic::wtransport::Connection) {
/// groupwire_quic::show_address(connection, 65_536, 1);
/// # }
/// ```
pub fn show_address(connection: &Connection, max_packet: usize, moves: usize) {
    if let Some(needs) = Needs::of(connection.quic_connection()) {
        needs.start_over();
    }
    // QUIC announces a larger window at once, in a packet that has to be acknowledged. The window
    // grows by a byte per move.
    let bytes = receive_window(max_packet).saturating_add(moves);
    connection.quic_connection().set_receive_window(window(bytes));
}
