use groupwire_ffi::{Event, SendOptions};
use groupwire_simulation::Restart;

use super::{join, run, simulation, take};

#[test]
fn what_the_server_has_put_in_order_is_confirmed() {
    let simulation = simulation();
    let (room, chat) = join(&simulation);
    run(&simulation, 1);
    take(&room);
    room.send(chat, b"hello", &SendOptions::default()).unwrap();
    let ticket = room.ticket().unwrap();
    assert!(!room.is_confirmed(ticket).unwrap());
    run(&simulation, 1);
    take(&room);
    assert!(room.is_confirmed(ticket).unwrap());
}

/// After the server has lost a room, own transactions are counted anew, and the program may not
/// have polled the event that says so.
#[test]
fn the_confirmations_of_a_lost_session_confirm_nothing_in_the_next() {
    let simulation = simulation();
    let (room, chat) = join(&simulation);
    for number in 0..5u8 {
        room.send(chat, &[number], &SendOptions::default()).unwrap();
    }
    run(&simulation, 1);
    take(&room);
    simulation.restart_server(Restart::default());
    run(&simulation, 5);
    room.send(chat, b"not confirmed yet", &SendOptions::default()).unwrap();
    let ticket = room.ticket().unwrap();
    assert!(ticket <= 5, "the numbers begin anew: {ticket}");
    assert!(!room.is_confirmed(ticket).unwrap());
    assert!(take(&room).iter().any(|event| matches!(event, Event::Gap { .. })));
    run(&simulation, 1);
    take(&room);
    assert!(room.is_confirmed(ticket).unwrap());
}
