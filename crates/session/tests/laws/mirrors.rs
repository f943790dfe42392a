//! Mirrors of the room at further servers, and the connections between these and the room's.

use std::time::Duration;

use groupwire_session::room::{self, Input, Output, Room};
use groupwire_session::{AllowAll, LinkId};

use crate::random::Random;
use crate::secrets::Drawn;
use crate::world::MS;

/// The numbers of connections between servers begin here, so that no client has such a number.
const FIRST_LINK: u64 = 1 << 40;

/// The transport of a mirror to its room has this number there.
const TO_ROOM: LinkId = LinkId(FIRST_LINK - 1);

/// The mirrors of a session.
pub(crate) struct Mirrors {
    pub(crate) list: Vec<Mirror>,
    random: Random,
    last_link: u64,
    config: room::Config,
}

/// A mirror, and its connection to the room.
pub(crate) struct Mirror {
    pub(crate) room: Room,
    /// The number of the connection at the room.
    pub(crate) link: LinkId,
    delay: Duration,
    pub(crate) timer: Option<Duration>,
    /// When the last packet of each direction arrives.
    last: [Duration; 2],
}

/// What goes over a connection between servers, from one end to the other.
#[derive(Debug)]
pub(crate) enum Between {
    Packet(Vec<u8>),
    /// A packet was handled.
    Handled,
}

impl Mirrors {
    pub(crate) fn new(seed: u64, config: &room::Config, count: usize) -> Self {
        let random = Random::new(seed ^ 0x3144_0125);
        let config = config.clone();
        let mut mirrors = Mirrors { list: Vec::new(), random, last_link: FIRST_LINK, config };
        for _ in 0..count {
            let mirror = mirrors.make();
            mirrors.list.push(mirror);
        }
        mirrors
    }

    fn make(&mut self) -> Mirror {
        self.last_link += 1;
        let room = Room::mirror(self.config.clone(), Box::new(AllowAll), TO_ROOM);
        let delay = MS * self.random.below(30) as u32;
        Mirror { room, link: LinkId(self.last_link), delay, timer: None, last: [Duration::ZERO; 2] }
    }

    /// Makes another mirror in the place of one that has ended.
    pub(crate) fn renew(&mut self, nth: usize) -> LinkId {
        self.list[nth] = self.make();
        self.list[nth].link
    }

    /// The place of the next transport: 0 is the room's server, the others are mirrors.
    pub(crate) fn draw(&mut self) -> usize {
        self.random.below(self.list.len() as u64 + 1) as usize
    }

    /// A mirror that is to be cut off, now and then.
    pub(crate) fn draw_cut(&mut self) -> Option<usize> {
        let count = self.list.len() as u64;
        (count > 0 && self.random.chance(3)).then(|| self.random.below(count) as usize)
    }

    pub(crate) fn find(&self, link: LinkId) -> Option<usize> {
        self.list.iter().position(|mirror| mirror.link == link)
    }
}

impl Mirror {
    /// When what is sent now in this direction arrives.
    pub(crate) fn arrives(&mut self, now: Duration, way: usize) -> Duration {
        self.last[way] = self.last[way].max(now + self.delay);
        self.last[way]
    }

    /// Hands over what came from the room.
    pub(crate) fn take(&mut self, now: Duration, between: &Between) {
        let link = TO_ROOM;
        let input = match between {
            Between::Packet(packet) => Input::Packet { link, packet },
            Between::Handled => Input::Sent { link },
        };
        self.room.handle_input(now, input);
    }

    /// The packet to the room that this output is, if it is one.
    pub(crate) fn to_room(output: &mut Output) -> Option<Vec<u8>> {
        match output {
            Output::Send { link: TO_ROOM, packet, body } => {
                Some(room::whole_packet(std::mem::take(packet), body.as_deref()))
            }
            Output::Close { link: TO_ROOM, reason, .. } => panic!("a mirror gives up: {reason:?}"),
            _ => None,
        }
    }
}

/// Hands over to the room what came from a mirror.
pub(crate) fn take(
    room: &mut Room,
    now: Duration,
    link: LinkId,
    between: &Between,
    secrets: &Drawn,
) {
    let input = match between {
        Between::Packet(packet) => Input::MirrorPacket { link, packet, secrets },
        Between::Handled => Input::Sent { link },
    };
    room.handle_input(now, input);
}
