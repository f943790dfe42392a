//! The addresses of server and clients, and the translation of addresses in packets.

use std::net::Ipv4Addr;

/// The most clients of a network: each has a number of one byte in the addresses.
pub(crate) const MAX_CLIENTS: usize = 250;

/// A network within 10.0.0.0/8, which RFC 1918 reserves for private use.
const NETWORK: [u8; 2] = [10, 87];
const LOCAL: u8 = 1;
const REMOTE: u8 = 2;
/// The last byte of the server's local address on a client's network.
const SERVER_LOCAL: u8 = 3;
const SERVER_REMOTE: u8 = 4;
/// The last byte of the local address of a client that has moved to another network.
const MOVED_LOCAL: u8 = 5;
const MOVED_REMOTE: u8 = 6;

/// A host of the emulated network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Host(u8);

impl Host {
    /// The server, to which all paths lead.
    pub(crate) const SERVER: Host = Host(0);

    /// The n-th client, from 0 on.
    pub(super) fn client(n: usize) -> Option<Host> {
        u8::try_from(n + 1).ok().filter(|_| n < MAX_CLIENTS).map(Host)
    }

    /// The address that programs on this host bind to. A server that is bound to no address
    /// receives the packets of all clients, and its own packets take the path of client 0.
    pub(crate) fn local(self) -> Ipv4Addr {
        self.address(LOCAL)
    }

    /// The address that other hosts send to, and from which they see this host's packets come.
    pub(crate) fn remote(self) -> Ipv4Addr {
        self.address(REMOTE)
    }

    /// The address at which the server is reached over this client's path, whatever the program is
    /// bound to: with it one program, a browser for instance, can be many clients. The server has
    /// to listen on all addresses.
    pub(crate) fn server(self) -> Ipv4Addr {
        self.address(SERVER_REMOTE)
    }

    /// The same address, as the server sees it.
    pub(super) fn server_local(self) -> Ipv4Addr {
        self.address(SERVER_LOCAL)
    }

    /// The address that a client has instead of [`Host::local`] once it has moved.
    pub(super) fn moved_local(self) -> Ipv4Addr {
        self.address(MOVED_LOCAL)
    }

    /// The address at which others then see the client.
    pub(super) fn moved_remote(self) -> Ipv4Addr {
        self.address(MOVED_REMOTE)
    }

    fn address(self, side: u8) -> Ipv4Addr {
        Ipv4Addr::new(NETWORK[0], NETWORK[1], self.0, side)
    }
}

/// The direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// From the client of this number to the server.
    Up(usize),
    /// From the server to the client of this number.
    Down(usize),
}

/// Readdresses an IPv4 packet from `A.local -> B.remote` to `A.remote -> B.local`, and returns its
/// direction; `None` if it belongs to none of the network's `clients`.
pub(super) fn readdress(packet: &mut [u8], clients: usize) -> Option<Route> {
    let header: &mut [u8; 20] = packet.first_chunk_mut()?;
    let (source, from) = host(&header[12..16])?;
    let (destination, to) = host(&header[16..20])?;
    let route = match ((usize::from(source), from), (usize::from(destination), to)) {
        ((client @ 1.., LOCAL), (0, REMOTE)) => Route::Up(client - 1),
        ((0, LOCAL), (client @ 1.., REMOTE)) => Route::Down(client - 1),
        ((client @ 1.., LOCAL), (same, SERVER_REMOTE)) if same == client => Route::Up(client - 1),
        ((same, SERVER_LOCAL), (client @ 1.., REMOTE)) if same == client => Route::Down(client - 1),
        ((client @ 1.., MOVED_LOCAL), (same, SERVER_REMOTE)) if same == client => {
            Route::Up(client - 1)
        }
        ((same, SERVER_LOCAL), (client @ 1.., MOVED_REMOTE)) if same == client => {
            Route::Down(client - 1)
        }
        _ => return None,
    };
    let (Route::Up(client) | Route::Down(client)) = route;
    if header[0] >> 4 != 4 || client >= clients {
        return None;
    }
    // The internet checksum is a sum of 16-bit words (RFC 1071): one more here and one less there
    // leaves it as it is.
    (header[15], header[19]) = (from + 1, to - 1);
    Some(route)
}

/// Whether a packet, once it is readdressed, has the address of a client that moved.
pub(super) fn is_of_moved(packet: &[u8]) -> bool {
    packet.get(15) == Some(&MOVED_REMOTE) || packet.get(19) == Some(&MOVED_LOCAL)
}

/// The bytes of an IPv4 packet above TCP or UDP.
pub(super) fn content(packet: &[u8]) -> usize {
    const TCP: u8 = 6;
    const UDP: u8 = 17;
    let Some(header) = packet.first_chunk::<20>() else { return 0 };
    let ip = usize::from(header[0] & 0xF) * 4;
    let above = match header[9] {
        // The upper half of this byte is the length in words of 4 bytes.
        TCP => packet.get(ip + 12).map(|offset| usize::from(offset >> 4) * 4),
        UDP => Some(8),
        _ => None,
    };
    above.map_or(0, |above| packet.len().saturating_sub(ip + above))
}

/// The number of a host, and the last byte of the address.
fn host(address: &[u8]) -> Option<(u8, u8)> {
    match *address {
        [first, second, host, side] if [first, second] == NETWORK => Some((host, side)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(source: [u8; 4], destination: [u8; 4]) -> Vec<u8> {
        [&[0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0][..], &source, &destination].concat()
    }

    fn sum(packet: &[u8]) -> u32 {
        packet.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum()
    }

    #[test]
    fn both_ways_are_told_apart_and_sums_stay() {
        let mut up = packet([10, 87, 3, 1], [10, 87, 0, 2]);
        let before = sum(&up);
        assert_eq!(readdress(&mut up, 3), Some(Route::Up(2)));
        assert_eq!(up, packet([10, 87, 3, 2], [10, 87, 0, 1]));
        assert_eq!(sum(&up), before);
        let mut down = packet([10, 87, 0, 1], [10, 87, 3, 2]);
        assert_eq!(readdress(&mut down, 3), Some(Route::Down(2)));
        assert_eq!(down, packet([10, 87, 0, 2], [10, 87, 3, 1]));
    }

    #[test]
    fn a_client_has_an_address_of_the_server_to_itself() {
        let mut up = packet([10, 87, 3, 1], [10, 87, 3, 4]);
        let before = sum(&up);
        assert_eq!(readdress(&mut up, 3), Some(Route::Up(2)));
        assert_eq!(up, packet([10, 87, 3, 2], [10, 87, 3, 3]));
        assert_eq!(sum(&up), before);
        let mut down = packet([10, 87, 3, 3], [10, 87, 3, 2]);
        assert_eq!(readdress(&mut down, 3), Some(Route::Down(2)));
        assert_eq!(down, packet([10, 87, 3, 4], [10, 87, 3, 1]));
        assert!(!is_of_moved(&up) && !is_of_moved(&down));
    }

    #[test]
    fn a_client_that_moved_has_another_address() {
        let mut up = packet([10, 87, 3, 5], [10, 87, 3, 4]);
        assert_eq!(readdress(&mut up, 3), Some(Route::Up(2)));
        assert_eq!(up, packet([10, 87, 3, 6], [10, 87, 3, 3]));
        let mut down = packet([10, 87, 3, 3], [10, 87, 3, 6]);
        assert_eq!(readdress(&mut down, 3), Some(Route::Down(2)));
        assert_eq!(down, packet([10, 87, 3, 4], [10, 87, 3, 5]));
        assert!(is_of_moved(&up) && is_of_moved(&down));
        assert_eq!(readdress(&mut packet([10, 87, 2, 5], [10, 87, 3, 4]), 3), None);
    }

    #[test]
    fn content_is_what_the_transport_carries() {
        let mut tcp = vec![0; 20 + 32 + 7];
        (tcp[0], tcp[9], tcp[32]) = (0x45, 6, 8 << 4);
        assert_eq!(content(&tcp), 7);
        let mut udp = vec![0; 24 + 8 + 5];
        (udp[0], udp[9]) = (0x46, 17);
        assert_eq!(content(&udp), 5);
        assert_eq!((content(&udp[..25]), content(&tcp[..30]), content(&[])), (0, 0, 0));
    }

    #[test]
    fn strangers_are_left_alone() {
        let strangers = [
            ([10, 87, 3, 1], [10, 87, 2, 2]),
            ([10, 87, 4, 1], [10, 87, 0, 2]),
            ([10, 87, 0, 1], [10, 87, 0, 2]),
            ([10, 87, 1, 2], [10, 87, 0, 2]),
            ([10, 87, 1, 1], [10, 87, 0, 1]),
            ([10, 88, 1, 1], [10, 87, 0, 2]),
            ([10, 87, 1, 1], [10, 87, 2, 4]),
            ([10, 87, 1, 3], [10, 87, 2, 2]),
            ([10, 87, 1, 3], [10, 87, 0, 2]),
        ];
        for (source, destination) in strangers {
            let mut one = packet(source, destination);
            assert_eq!(readdress(&mut one, 3), None, "{source:?} {destination:?}");
            assert_eq!(one, packet(source, destination));
        }
        assert_eq!(readdress(&mut packet([10, 87, 1, 1], [10, 87, 0, 2])[..19], 3), None);
        assert_eq!(readdress(&mut [0x60; 40], 3), None);
    }

    #[test]
    fn clients_have_addresses_of_their_own_up_to_the_limit() {
        let last = Host::client(MAX_CLIENTS - 1).unwrap();
        assert_eq!(last.local(), Ipv4Addr::new(10, 87, 250, 1));
        assert_eq!(Host::client(MAX_CLIENTS), None);
        assert_eq!(Host::SERVER.remote(), Ipv4Addr::new(10, 87, 0, 2));
    }
}
