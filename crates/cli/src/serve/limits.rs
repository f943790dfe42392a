//! The options that limit what clients may use.

use std::time::Duration;

use clap::Args;
use groupwire_server::session::{Quota, Quotas};
use groupwire_server::{AddressLimits, ArrivalLimits, Config, TrustedProxy};

/// The options that limit what clients may use.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// The limit of open rooms. At the limit, stored rooms without people are closed for new ones.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub(super) max_rooms: usize,

    /// The limit of people in a room.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    max_people: usize,

    /// The most people in a room whose clients are told of everybody. In a larger room, clients are
    /// told the number of people, and of the people who send messages or change their presence.
    #[arg(long, value_name = "COUNT", default_value_t = 256)]
    announce_everybody_up_to: usize,

    /// The limit of simultaneous connections.
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    max_connections: usize,

    /// The limit of simultaneous connections from one address; with IPv6, from all with the same
    /// first 64 bits. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 5000)]
    max_connections_per_address: usize,

    /// How many connections one address may open in a second, on average over ten seconds. 0: no
    /// limit.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    max_handshakes_per_address: u32,

    /// A reverse proxy whose header X-Forwarded-For is trusted: its address, or a network such as
    /// 10.0.0.0/8. May be given several times. Default: the header is ignored.
    #[arg(long = "trusted-proxy", value_name = "ADDRESS|NETWORK", value_delimiter = ',')]
    trusted_proxies: Vec<TrustedProxy>,

    /// How many clients may join in a second. Further ones are told when to come back. 0: as many
    /// as the server can serve.
    #[arg(long, value_name = "PER SECOND", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    max_joins: u32,

    /// If rooms send later than this, in milliseconds, because many clients join, the server lets
    /// fewer join and tells the others when to come back. 0: no limit.
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    max_join_lag: u64,

    /// The bytes that a participant may send in a second before it is slowed down; at least 65536.
    /// 0: no limit.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = bytes)]
    participant_bytes: u64,

    /// The deliveries that a participant may cause in a second before it is slowed down: its
    /// messages, times their receivers. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    participant_deliveries: u64,

    /// The bytes that all participants of a room may send together in a second before those who
    /// send most are slowed down; at least 65536. 0: no limit.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = bytes)]
    room_bytes: u64,

    /// The deliveries that all participants of a room may cause together in a second before those
    /// who cause most are slowed down. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 8_000_000)]
    room_deliveries: u64,
}

impl LimitArgs {
    pub(super) fn configure(self, config: &mut Config) {
        config.max_rooms = self.max_rooms;
        config.max_connections = self.max_connections;
        config.room.limits.max_participants = self.max_people;
        config.room.announce_everybody_up_to = self.announce_everybody_up_to;
        config.room.quotas = Quotas {
            participant: quota(self.participant_bytes, self.participant_deliveries),
            room: quota(self.room_bytes, self.room_deliveries),
            ..Quotas::default()
        };
        config.arrivals = ArrivalLimits {
            joins_per_second: self.max_joins,
            lag: Duration::from_millis(self.max_join_lag),
        };
        config.addresses = AddressLimits {
            connections: self.max_connections_per_address,
            handshakes_per_second: self.max_handshakes_per_address,
            trusted_proxies: self.trusted_proxies,
        };
    }
}

fn quota(bytes: u64, deliveries: u64) -> Quota {
    let limit = |limit| if limit == 0 { u64::MAX } else { limit };
    Quota { bytes: limit(bytes), deliveries: limit(deliveries) }
}

/// The largest packet has 65,536 bytes, and has to pass within a second.
fn bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(bytes) if bytes == 0 || bytes >= 65_536 => Ok(bytes),
        Ok(_) => {
            Err("write 0 for no limit, or at least 65536, the size of the largest packet"
                .to_owned())
        }
        Err(_) => Err("write a number of bytes, such as 1048576".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        limits: LimitArgs,
    }

    fn configured(arguments: &[&str]) -> Config {
        let arguments = [&["serve"][..], arguments].concat();
        let mut config = Config::default();
        Command::try_parse_from(arguments).unwrap().limits.configure(&mut config);
        config
    }

    #[test]
    fn the_options_have_the_defaults_of_the_library() {
        let (ours, theirs) = (configured(&[]), Config::default());
        assert_eq!(ours.room.quotas, theirs.room.quotas);
        assert_eq!(ours.room.limits, theirs.room.limits);
        assert_eq!(ours.room.announce_everybody_up_to, theirs.room.announce_everybody_up_to);
        assert_eq!((ours.addresses, ours.arrivals), (theirs.addresses, theirs.arrivals));
        assert_eq!(
            (ours.max_rooms, ours.max_connections),
            (theirs.max_rooms, theirs.max_connections)
        );
    }

    #[test]
    fn zero_is_no_limit_and_less_than_a_packet_is_refused() {
        let config = configured(&["--participant-bytes", "0", "--room-deliveries=0"]);
        let Quotas { participant, room, .. } = config.room.quotas;
        assert_eq!((participant.bytes, room.deliveries), (u64::MAX, u64::MAX));
        for wrong in ["--participant-bytes=65535", "--room-bytes=1", "--trusted-proxy=proxy"] {
            assert!(Command::try_parse_from(["serve", wrong]).is_err(), "{wrong}");
        }
    }
}
