//! A room and its mirror, each of which gets any packets from the other: both stand, and a room
//! goes on without the mirror.
//!
//! The input is a list of packets, each a length byte (times 8, without its top bit) and that many
//! bytes. Those whose length byte has the top bit go to the mirror, the others to the room. Between
//! them the two ends exchange what they have to say, until one of them has given up.

#![no_main]

use std::time::Duration;

use groupwire_session::client::{self, Client};
use groupwire_session::room::{self, Config, Input, Output, Room};
use groupwire_session::{AllowAll, LinkId, Opening, Qos, Secret, Secrets, SessionName};
use libfuzzer_sys::fuzz_target;

const MIRROR: LinkId = LinkId(1000);
const TO_ROOM: LinkId = LinkId(2000);

fuzz_target!(|data: &[u8]| {
    let mut now = Duration::ZERO;
    let config = Config::new("fuzz", 1);
    let mut room = Room::new(config.clone(), Box::new(AllowAll));
    let mut mirror = Room::mirror(config, Box::new(AllowAll), TO_ROOM);
    room.handle_input(now, Input::Mirror { link: MIRROR });
    let mut guest = joined(&mut mirror, LinkId(1), now);
    exchange(&mut room, &mut mirror, &mut guest, now);
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        let (packet, after) = after.split_at((usize::from(length & 0x7f) * 8).min(after.len()));
        rest = after;
        now += Duration::from_millis(50);
        match length & 0x80 {
            0 => {
                let secrets = &OneSecret;
                room.handle_input(now, Input::MirrorPacket { link: MIRROR, packet, secrets });
            }
            _ => mirror.handle_input(now, Input::Packet { link: TO_ROOM, packet }),
        }
        exchange(&mut room, &mut mirror, &mut guest, now);
    }
    let memory = room.stats().memory + mirror.stats().memory;
    assert!(memory < 64 << 20, "law 3: {memory} bytes");
    // The room lets another mirror in.
    room.handle_input(now, Input::Closed { link: MIRROR });
    room.handle_input(now, Input::Mirror { link: MIRROR });
    assert!(room.has_mirror(MIRROR));
});

/// Hands over what both ends have to say to each other.
fn exchange(room: &mut Room, mirror: &mut Room, guest: &mut Client, now: Duration) {
    for _ in 0..20 {
        room.handle_input(now, Input::Timeout);
        mirror.handle_input(now, Input::Timeout);
        let mut is_quiet = true;
        while let output = room.poll_output()
            && !matches!(output, Output::Timeout(_))
        {
            let Output::Send { link: MIRROR, packet, body } = output else { continue };
            let packet = room::whole_packet(packet, body.as_deref());
            mirror.handle_input(now, Input::Packet { link: TO_ROOM, packet: &packet });
            room.handle_input(now, Input::Sent { link: MIRROR });
            is_quiet = false;
        }
        while let output = mirror.poll_output()
            && !matches!(output, Output::Timeout(_))
        {
            match output {
                Output::Send { link: TO_ROOM, packet, body } => {
                    let packet = room::whole_packet(packet, body.as_deref());
                    let (link, packet, secrets) = (MIRROR, &packet[..], &OneSecret);
                    room.handle_input(now, Input::MirrorPacket { link, packet, secrets });
                    mirror.handle_input(now, Input::Sent { link: TO_ROOM });
                    is_quiet = false;
                }
                Output::Send { link, packet, body } => {
                    let packet = room::whole_packet(packet, body.as_deref());
                    guest.handle_input(now, client::Input::Packet(&packet));
                    mirror.handle_input(now, Input::Sent { link });
                }
                _ => {}
            }
        }
        if is_quiet {
            return;
        }
    }
}

/// A client that has said hello, with channels of both kinds.
fn joined(mirror: &mut Room, link: LinkId, now: Duration) -> Client {
    let mut client = Client::new(now, client::Config::new("fuzz")).expect("a valid configuration");
    client.channel("draw", Qos::transaction()).expect("a valid channel");
    client.channel("pointer", Qos::awareness()).expect("a valid channel");
    loop {
        match client.poll_output(now) {
            client::Output::Dial => {
                client.handle_input(now, client::Input::Opened { max_datagram: 0 });
            }
            client::Output::Send(packet) => {
                let opening = Opening::read(&packet).expect("a client's own packet");
                mirror.handle_input(
                    now,
                    Input::Join {
                        link,
                        opening: &opening,
                        identity: &Default::default(),
                        secrets: &OneSecret,
                        max_datagram: 0,
                    },
                );
                client.handle_input(now, client::Input::Sent);
            }
            client::Output::Timeout(_) => return client,
            _ => {}
        }
    }
}

#[derive(Debug)]
struct OneSecret;

impl Secrets for OneSecret {
    fn secret(&self, _: &SessionName<'_>) -> Secret {
        [7; 16]
    }
}
