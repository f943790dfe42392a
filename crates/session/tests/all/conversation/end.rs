//! A room or a client that is driven by the words of a conversation.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Client, Config as ClientConfig, Event, Input, Outgoing,
    Output as ClientOutput,
};
use groupwire_session::room::{self, Room, whole_packet};
use groupwire_session::{
    Access, Authority, ChangeRequest, Durability, Error, Grant, Kind, Limits, LinkId, OpenRequest,
    Opening, Overflow, ParticipantId, Position, Qos, Rate, Timing, refusal,
};

use crate::grammar::unhex;
use crate::support::identity_of;
use crate::support::secrets::Drawn;

/// An output of an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) at: Duration,
    pub(crate) verb: &'static str,
    /// The transport; `None` for clients.
    pub(crate) link: Option<u64>,
    pub(crate) bytes: Vec<u8>,
}

/// A room or a client whose timeouts are passed to it by [`End::run_to`].
pub(crate) struct End {
    core: Core,
    outputs: Vec<Output>,
    events: Vec<Event>,
    wishes: Vec<u64>,
    due: Option<Duration>,
    /// The time of its last input, and of its last timeout.
    now: Duration,
    told: Option<Duration>,
    /// The secrets that a room gave.
    secrets: Drawn,
}

enum Core {
    Room(Box<Room>),
    Client(Box<Client>),
}

impl End {
    pub(crate) fn room(words: &str) -> Self {
        let numbers = numbers(words);
        let get = |name: &str, default: usize| numbers.get(name).map_or(default, |n| *n as usize);
        let usual = room::Config::new("demo", get("incarnation", 7) as u64);
        let limits = Limits {
            snapshot_after: get("snapshot_after", usual.limits.snapshot_after),
            max_log_bytes: get("log_bytes", usual.limits.max_log_bytes),
            max_message: get("max_message", usual.limits.max_message),
            max_former: get("max_former", usual.limits.max_former),
            ..Limits::default()
        };
        let tick = Duration::from_millis(get("tick_ms", 40) as u64);
        let config = room::Config {
            timing: Timing { tick, ..Timing::default() },
            limits,
            durability: match get("stored", 0) {
                0 => Durability::Memory,
                _ => Durability::Local,
            },
            compress: get("compress", 1) == 1,
            share_stream_above: get("share_stream_above", usual.share_stream_above),
            announce_everybody_up_to: get("everybody", usual.announce_everybody_up_to),
            share_datagrams_above: get("share_datagrams_above", usual.share_datagrams_above),
            ..usual
        };
        End::new(Core::Room(Box::new(Room::new(config, Box::new(Gate)))))
    }

    pub(crate) fn client(words: &str) -> Self {
        let numbers = numbers(words);
        let get = |name: &str, default: u64| numbers.get(name).copied().unwrap_or(default);
        let config = ClientConfig {
            presence: format!("person {}", get("person", 0)).into_bytes(),
            seed: get("seed", 1),
            compress: get("compress", 1) == 1,
            token: if get("refused", 0) == 1 { b"refused".to_vec() } else { Vec::new() },
            ..ClientConfig::new("demo")
        };
        let start = Duration::from_micros(get("start_us", 0));
        let client = Client::new(start, config).expect("a configuration");
        let mut end = End::new(Core::Client(Box::new(client)));
        end.due = Some(start);
        end
    }

    fn new(core: Core) -> Self {
        let (outputs, events, wishes) = Default::default();
        let secrets = Drawn::default();
        End { core, outputs, events, wishes, due: None, now: Duration::ZERO, told: None, secrets }
    }

    /// The time of its next timeout.
    pub(crate) fn due(&self) -> Option<Duration> {
        // After a timeout, the next one comes at least a millisecond later.
        let soonest = self.told.map_or(Duration::ZERO, |told| told + super::MS);
        // Times in conversations are in whole microseconds.
        let whole = |due: Duration| Duration::from_micros(due.as_nanos().div_ceil(1000) as u64);
        self.due.map(|due| whole(due).max(self.now).max(soonest))
    }

    /// Passes the timeouts up to `now` to the end.
    pub(crate) fn run_to(&mut self, now: Duration) {
        while let Some(at) = self.due().filter(|at| *at <= now) {
            self.told = Some(at);
            match &mut self.core {
                Core::Room(room) => room.handle_input(at, room::Input::Timeout),
                Core::Client(client) => client.handle_input(at, Input::Timeout),
            }
            self.drain(at);
        }
    }

    /// Passes an input to the end. `packet` returns the bytes of a packet by its number.
    pub(crate) fn input(&mut self, now: Duration, what: &str, packet: impl Fn(usize) -> Vec<u8>) {
        let words: Vec<&str> = what.split(' ').collect();
        let bytes = |word: &str| packet(word[1..].parse().expect("the number of a packet"));
        match &mut self.core {
            Core::Client(client) => tell_client(client, now, &words, &bytes),
            Core::Room(room) => {
                let secrets = &mut self.secrets;
                let refused = tell_room(room, now, secrets, &words, &bytes);
                self.outputs.extend(refused.map(|(link, bytes)| Output {
                    at: now,
                    verb: "close",
                    link: Some(link),
                    bytes,
                }));
            }
        }
        self.drain(now);
    }

    /// The outputs since the last call.
    pub(crate) fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// The snapshots that it was asked for since the last call.
    pub(crate) fn take_wishes(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.wishes)
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    fn drain(&mut self, at: Duration) {
        self.now = at;
        let End { core, outputs, events, wishes, due, .. } = self;
        let mut put = |verb, link, bytes| outputs.push(Output { at, verb, link, bytes });
        match core {
            Core::Client(client) => loop {
                match client.poll_output(at) {
                    ClientOutput::Timeout(next) => return *due = next,
                    ClientOutput::Dial => put("dial", None, Vec::new()),
                    ClientOutput::Hangup => put("hangup", None, Vec::new()),
                    ClientOutput::Send(packet) => {
                        put("packet", None, packet);
                        client.handle_input(at, Input::Sent);
                    }
                    ClientOutput::Datagram(packet) => {
                        put("datagram", None, packet);
                        client.handle_input(at, Input::DatagramSent);
                    }
                    ClientOutput::Event(event) => {
                        if let Event::SnapshotWanted { as_of, .. } = &event {
                            wishes.push(as_of.get());
                        }
                        events.push(event);
                    }
                }
            },
            Core::Room(room) => loop {
                match room.poll_output() {
                    room::Output::Timeout(next) => return *due = next,
                    room::Output::Event(_)
                    | room::Output::Store(_)
                    | room::Output::Delay { .. }
                    | room::Output::Token { .. } => {}
                    room::Output::Send { link, packet, body } => {
                        put("packet", Some(link.get()), whole_packet(packet, body.as_deref()));
                        room.handle_input(at, room::Input::Sent { link });
                    }
                    room::Output::Datagram { link, packet, body } => {
                        let is_shared = body.is_some();
                        put("datagram", Some(link.get()), whole_packet(packet, body.as_deref()));
                        if !is_shared {
                            room.handle_input(at, room::Input::DatagramSent { link });
                        }
                    }
                    room::Output::Close { link, packet, .. } => {
                        put("close", Some(link.get()), packet)
                    }
                }
            },
        }
    }
}

fn tell_client(
    client: &mut Client,
    now: Duration,
    words: &[&str],
    bytes: &dyn Fn(&str) -> Vec<u8>,
) {
    let number = |word: &str| word.parse::<u64>().expect("a number");
    let channel = |word: &str| ChannelId(number(word) as u32);
    match *words {
        ["open", max] => {
            client.handle_input(now, Input::Opened { max_datagram: number(max) as usize });
        }
        ["packet", packet] => client.handle_input(now, Input::Packet(&bytes(packet))),
        ["datagram", packet] => client.handle_input(now, Input::Datagram(&bytes(packet))),
        ["closed"] => client.handle_input(now, Input::Closed),
        ["channel", name, qos, compress] => {
            let access = Access::FULL;
            let compress = compress.parse().expect("a compression");
            let options = ChannelOptions { access, compress };
            let qos = read_qos(qos);
            client.channel_with(name, qos, options).expect("a channel");
        }
        ["send", to, text, key, message] => {
            let (bytes, key_bytes) = (unhex(message), unhex(key.trim_start_matches('-')));
            let key = (key != "-").then_some(&key_bytes[..]);
            let message =
                Outgoing { bytes: &bytes, text: text == "text", key, priority: None, to: None };
            client.send(now, channel(to), message).expect("a message");
        }
        ["large", to, count, part] => {
            let bytes = unhex(part).repeat(number(count) as usize);
            let message = Outgoing { bytes: &bytes, text: true, ..Outgoing::default() };
            client.send(now, channel(to), message).expect("a message");
        }
        ["priority", to, priority, message] => {
            let (bytes, priority) = (unhex(message), Some(number(priority) as u8));
            let message = Outgoing { bytes: &bytes, text: false, key: None, priority, to: None };
            client.send(now, channel(to), message).expect("a message");
        }
        ["presence", presence] => client.set_presence(&unhex(presence)).expect("a presence"),
        ["compress", to, name] => {
            let compress = name.parse().expect("a compression");
            client.compress(channel(to), compress).expect("a channel");
        }
        ["qos", to, qos] => client.set_qos(channel(to), read_qos(qos)).expect("a QoS"),
        ["limit", to, rate] => {
            client
                .limit_rate(channel(to), Some(Rate::from_millihertz(number(rate) as u32)))
                .expect("a rate");
        }
        ["provide", part, list] => {
            let channels: Vec<ChannelId> = list.split(',').map(channel).collect();
            client.provide(part, &channels).expect("channels");
        }
        ["snapshot", as_of, count, part] => {
            let state = unhex(part).repeat(number(count) as usize);
            client.snapshot("drawing", Position(number(as_of)), &state).expect("a snapshot");
        }
        ["leave"] => client.leave(),
        _ => panic!("a client is not told {words:?}"),
    }
}

/// Passes an input to a room. Returns the refusal of an opening that the room does not get.
fn tell_room(
    room: &mut Room,
    now: Duration,
    secrets: &mut Drawn,
    words: &[&str],
    bytes: &dyn Fn(&str) -> Vec<u8>,
) -> Option<(u64, Vec<u8>)> {
    let number = |word: &str| word.parse::<u64>().expect("a number");
    match *words {
        ["join", link, max_datagram, secret, packet] => {
            let (link, packet) = (LinkId(number(link)), bytes(packet));
            let opening = match Opening::read(&packet) {
                Ok(opening) => opening,
                Err(error) => return Some((link.get(), refusal(&error))),
            };
            if opening.token() == b"refused" {
                let why = "not with this token".into();
                return Some((link.get(), refusal(&Error::Refused { why })));
            }
            let max_datagram = number(max_datagram) as usize;
            let secrets = secrets.draw(unhex(secret).try_into().expect("16 bytes"));
            let opening = &opening;
            room.handle_input(
                now,
                room::Input::Join {
                    link,
                    opening,
                    identity: &identity_of(opening.token()),
                    secrets,
                    max_datagram,
                },
            );
        }
        ["packet", link, packet] => {
            let (link, packet) = (LinkId(number(link)), bytes(packet));
            room.handle_input(now, room::Input::Packet { link, packet: &packet });
        }
        ["datagram", link, packet] => {
            let (link, packet) = (LinkId(number(link)), bytes(packet));
            room.handle_input(now, room::Input::Datagram { link, packet: &packet });
        }
        ["closed", link] => {
            room.handle_input(now, room::Input::Closed { link: LinkId(number(link)) });
        }
        ["durable", position] => {
            let (position, reserved) = (Position(number(position)), ParticipantId(1024));
            room.handle_input(now, room::Input::Durable { position, reserved });
        }
        ["inspect"] => {
            room.set_tracing(true);
            drop(room.inspect(now));
        }
        ["shutdown", ms] => {
            let retry = Duration::from_millis(number(ms));
            room.handle_input(now, room::Input::Shutdown { retry, step: Duration::ZERO });
        }
        _ => panic!("a room is not told {words:?}"),
    }
    None
}

/// `kind,overflow,priority,private,loss,deadline_ms,rate_min,rate_max`, as W15 numbers them.
fn read_qos(words: &str) -> Qos {
    let numbers = words.split(',').map(|word| word.parse().expect("a number"));
    let numbers: Vec<u32> = numbers.collect();
    let [kind, overflow, priority, private, loss, deadline, rate_min, rate_max] = numbers[..]
    else {
        panic!("eight numbers");
    };
    Qos {
        kind: if kind == 0 { Kind::Transaction } else { Kind::Awareness },
        overflow: if overflow == 0 { Overflow::Conflate } else { Overflow::Aggregate },
        priority: priority as u8,
        private: private == 1,
        departures: false,
        loss: loss as u16,
        deadline: (deadline > 0).then(|| Duration::from_millis(deadline.into())),
        rate_min: Rate::from_millihertz(rate_min),
        rate_max: Rate::from_millihertz(rate_max),
    }
}

fn numbers(words: &str) -> BTreeMap<String, u64> {
    let pairs = words.split(' ').filter_map(|word| word.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.parse().expect("a number"))).collect()
}

/// An authority that refuses one channel and one QoS, so that conversations contain refusals.
struct Gate;

impl Authority for Gate {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        let Access { publish, subscribe } = request.access;
        match request.channel {
            "forbidden" => Err("nobody may".into()),
            "read-only" => {
                let access = Access { publish: false, subscribe };
                Ok(Grant { access, qos: request.qos })
            }
            _ => Ok(Grant { access: Access { publish, subscribe }, qos: request.qos }),
        }
    }

    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        if request.qos.loss == 999 { Err("too much".into()) } else { Ok(request.qos) }
    }
}
