//! The session's decoders, at both ends: whatever comes from the network, a room and a client
//! stand.
//!
//! The input is a list of packets, each a length byte (times 8) and that many bytes. The first may
//! open a session of its own; the rest go to a room with a joined client in it, and to a client
//! that joined that room: over the stream, or as a datagram if the length byte's top bit is set.
//! That client wants some channels packed, so that the room packs for it what it is sent.

#![no_main]

use std::time::Duration;

use groupwire_session::client::{self, ChannelOptions, Client};
use groupwire_session::codecs::Choice;
use groupwire_session::room::{self, Room};
use groupwire_session::{AllowAll, Compress, LinkId, Opening, Qos, Secret, Secrets, SessionName};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut now = Duration::ZERO;
    // With these limits every participant that can be in a fan-out group is in one.
    let config = room::Config {
        share_stream_above: 0,
        share_datagrams_above: 0,
        ..room::Config::new("fuzz", 1)
    };
    let mut room = Room::new(config, Box::new(AllowAll));
    let mut victim = joined(&mut room, LinkId(1), now);
    let mut packets = packets(data);
    if let Some((first, _)) = packets.next()
        && let Ok(opening) = Opening::read(first)
    {
        room.handle_input(
            now,
            room::Input::Join {
                link: LinkId(2),
                opening: &opening,
                identity: &Default::default(),
                secrets: &OneSecret,
                max_datagram: 1200,
            },
        );
    }
    for (packet, is_datagram) in packets {
        now += Duration::from_millis(7);
        if is_datagram {
            for link in [LinkId(1), LinkId(2)] {
                room.handle_input(now, room::Input::Datagram { link, packet });
                room.handle_input(now, room::Input::DatagramSent { link });
            }
            victim.handle_input(now, client::Input::Datagram(packet));
            drain(&mut room, &mut victim, now);
            continue;
        }
        for link in [LinkId(1), LinkId(2)] {
            room.handle_input(now, room::Input::Packet { link, packet });
            room.handle_input(now, room::Input::Sent { link });
        }
        victim.handle_input(now, client::Input::Packet(packet));
        drain(&mut room, &mut victim, now);
    }
    // A room that was attacked still takes people in.
    joined(&mut room, LinkId(3), now);
});

/// A client that has said hello and been welcomed, with channels of both kinds.
fn joined(room: &mut Room, link: LinkId, now: Duration) -> Client {
    let mut client = Client::new(now, client::Config::new("fuzz")).expect("a valid configuration");
    client.channel("draw", Qos::transaction()).expect("a valid channel");
    client.channel("pointer", Qos::awareness()).expect("a valid channel");
    for (name, qos, compress) in [
        ("packed", Qos::transaction(), Compress::Named(Choice::codec(1))),
        ("chosen", Qos::awareness().aggregate(), Compress::Auto),
    ] {
        let options = ChannelOptions { compress, ..ChannelOptions::default() };
        client.channel_with(name, qos, options).expect("a valid channel");
    }
    loop {
        match client.poll_output(now) {
            client::Output::Dial => {
                client.handle_input(now, client::Input::Opened { max_datagram: 1200 })
            }
            client::Output::Send(packet) => {
                let opening = Opening::read(&packet).expect("our own opening");
                let join = room::Input::Join {
                    link,
                    opening: &opening,
                    identity: &Default::default(),
                    secrets: &OneSecret,
                    max_datagram: 1200,
                };
                room.handle_input(now, join);
                break;
            }
            client::Output::Event(_) => {}
            other => panic!("{other:?}"),
        }
    }
    loop {
        match room.poll_output() {
            room::Output::Send { link: to, packet, body } if to == link => {
                let packet = room::whole_packet(packet, body.as_deref());
                client.handle_input(now, client::Input::Packet(&packet));
            }
            room::Output::Timeout(_) => break,
            _ => {}
        }
    }
    assert!(client.participant().is_some(), "everybody is welcome");
    client
}

fn drain(room: &mut Room, client: &mut Client, now: Duration) {
    while !matches!(room.poll_output(), room::Output::Timeout(_)) {}
    while !matches!(client.poll_output(now), client::Output::Timeout(_)) {}
}

fn packets(mut data: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    std::iter::from_fn(move || {
        let (&length, rest) = data.split_first()?;
        let (packet, rest) = rest.split_at(rest.len().min(usize::from(length & 0x7f) * 8));
        data = rest;
        Some((packet, length & 0x80 != 0))
    })
}

/// Gives all sessions the same secret.
#[derive(Debug)]
struct OneSecret;

impl Secrets for OneSecret {
    fn secret(&self, _session: &SessionName<'_>) -> Secret {
        [1; 16]
    }
}
