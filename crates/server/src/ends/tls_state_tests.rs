use std::io::{Read, Write};

use proptest::prelude::*;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, version};

use super::*;

const LIMIT: usize = 96 << 10;
const PROTOCOL: &[u8] = b"http/1.1";

/// A client made of rustls' own buffers, and the server's end, with what is on the way to it.
struct Two {
    client: ClientConnection,
    server: TlsState,
    on_the_way: Vec<u8>,
}

impl Two {
    fn new(is_newest: bool) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned()];
        let made = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        let version = if is_newest { &version::TLS13 } else { &version::TLS12 };
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![made.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .unwrap();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        let mut roots = RootCertStore::empty();
        roots.add(made.der().clone()).unwrap();
        let mut trusting = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        trusting.alpn_protocols = vec![PROTOCOL.to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::new(trusting), name).unwrap();
        let server = TlsState::new(Arc::new(config), LIMIT).unwrap();
        Two { client, server, on_the_way: Vec::new() }
    }

    /// Client and server after their handshake.
    fn met(is_newest: bool) -> Self {
        let mut two = Two::new(is_newest);
        while two.client.is_handshaking() || two.server.is_handshaking() {
            two.carry(usize::MAX).unwrap();
        }
        two.carry(usize::MAX).unwrap();
        two
    }

    /// Carries what both have to say, to the server in pieces of `cut` bytes.
    fn carry(&mut self, cut: usize) -> io::Result<()> {
        while self.client.wants_write() {
            self.client.write_tls(&mut self.on_the_way).unwrap();
        }
        let mut outcome = Ok(());
        while !self.on_the_way.is_empty() && outcome.is_ok() {
            let on_the_way = &mut self.on_the_way;
            outcome = self.server.receive(|buffer| {
                let received = on_the_way.len().min(cut).min(buffer.len());
                buffer[..received].copy_from_slice(&on_the_way[..received]);
                on_the_way.drain(..received);
                Ok(received)
            });
        }
        while !self.server.waiting().is_empty() {
            let sent = self.client.read_tls(&mut self.server.waiting()).unwrap();
            self.server.sent(sent);
            if self.client.process_new_packets().is_err() {
                break;
            }
        }
        outcome
    }

    fn read_at_server(&mut self) -> Vec<u8> {
        let (mut all, mut some) = (Vec::new(), [0; 300]);
        while let Some(read @ 1..) = self.server.take(&mut some) {
            all.extend_from_slice(&some[..read]);
        }
        all
    }

    /// The memory of the server's buffers.
    fn held(&self) -> usize {
        let TlsState { incomplete, decrypted, encrypted, .. } = &self.server;
        incomplete.capacity() + decrypted.capacity() + encrypted.capacity()
    }
}

#[test]
fn a_connection_that_rests_holds_no_buffers() {
    for is_newest in [true, false] {
        let mut two = Two::met(is_newest);
        assert_eq!(two.server.protocol(), Some(PROTOCOL));
        assert_eq!(two.held(), 0);
        two.client.writer().write_all(&[7; 40_000]).unwrap();
        two.carry(usize::MAX).unwrap();
        assert!(two.held() > 0);
        assert_eq!(two.read_at_server(), [7; 40_000]);
        assert_eq!(two.server.encrypt([&[1], &[2; 300], &[3]]).unwrap(), 302);
        assert!(two.held() > 0);
        two.carry(usize::MAX).unwrap();
        assert_eq!(two.held(), 0);
    }
}

#[test]
fn no_more_is_encrypted_than_may_wait() {
    let mut two = Two::met(true);
    let large = vec![5; LIMIT];
    let taken = two.server.encrypt([&large, &large, &[]]).unwrap();
    assert_eq!(taken, LIMIT);
    assert_eq!(two.server.encrypt([&large, &[], &[]]).unwrap(), 0);
    let mut received = Vec::new();
    while !two.server.waiting().is_empty() {
        let sent = two.client.read_tls(&mut two.server.waiting()).unwrap();
        two.server.sent(sent);
        two.client.process_new_packets().unwrap();
        let mut some = vec![0; LIMIT];
        if let Ok(read) = two.client.reader().read(&mut some) {
            received.extend_from_slice(&some[..read]);
        }
    }
    assert_eq!(received, large);
}

#[test]
fn the_end_of_a_stream_is_not_taken_for_a_broken_one() {
    let mut two = Two::met(true);
    two.client.send_close_notify();
    two.carry(usize::MAX).unwrap();
    assert_eq!(two.server.take(&mut [0; 4]), Some(0));
    // The other direction goes on, and ends, too.
    assert_eq!(two.server.encrypt([b"late", &[], &[]]).unwrap(), 4);
    two.server.finish();
    two.server.finish();
    two.carry(usize::MAX).unwrap();
    let mut late = Vec::new();
    two.client.reader().read_to_end(&mut late).unwrap();
    assert_eq!(late, b"late");

    let mut two = Two::met(true);
    assert_eq!(two.server.receive(|_| Ok(0)).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn a_client_that_breaks_a_rule_is_told_why() {
    let mut two = Two::met(true);
    // A record that cannot be decrypted.
    two.on_the_way = vec![23, 3, 3, 0, 32];
    two.on_the_way.extend([9; 32]);
    assert_eq!(two.carry(usize::MAX).unwrap_err().kind(), ErrorKind::InvalidData);
    assert!(two.client.process_new_packets().is_err(), "an alert");
    assert!(two.server.encrypt([b"more", &[], &[]]).is_err());
}

#[test]
fn keys_are_renewed() {
    let mut two = Two::met(true);
    two.client.refresh_traffic_keys().unwrap();
    two.client.writer().write_all(b"with other keys").unwrap();
    two.carry(3).unwrap();
    assert_eq!(two.read_at_server(), b"with other keys");
    assert_eq!(two.server.encrypt([b"an answer", &[], &[]]).unwrap(), 9);
    two.carry(3).unwrap();
    let mut answer = [0; 9];
    two.client.reader().read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"an answer");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For all cuts, both ends receive what the other one sent.
    #[test]
    fn bytes_survive_any_segmentation(
        is_newest: bool,
        cut in 1..2000_usize,
        messages in proptest::collection::vec((any::<bool>(), 0..40_000_usize, any::<u8>()), 1..6),
    ) {
        let mut two = Two::new(is_newest);
        while two.client.is_handshaking() || two.server.is_handshaking() {
            two.carry(cut).unwrap();
        }
        for (is_up, length, byte) in messages {
            let message = vec![byte; length];
            if is_up {
                two.client.writer().write_all(&message).unwrap();
                // The server may write while a record is not complete.
                while two.client.wants_write() {
                    two.client.write_tls(&mut two.on_the_way).unwrap();
                }
                let rest = two.on_the_way.split_off(two.on_the_way.len() / 2);
                two.carry(cut).unwrap();
                prop_assert_eq!(two.server.encrypt([b"a", b"b", b"c"]).unwrap(), 3);
                two.on_the_way = rest;
                two.carry(cut).unwrap();
                prop_assert_eq!(two.read_at_server(), message);
                let mut answer = [0; 3];
                two.client.reader().read_exact(&mut answer).unwrap();
                prop_assert_eq!(&answer, b"abc");
            } else {
                let half = length / 2;
                let taken = two.server.encrypt([&message[..half], &[], &message[half..]]).unwrap();
                prop_assert_eq!(taken, length);
                let mut received = Vec::new();
                while !two.server.waiting().is_empty() {
                    let sent = two.client.read_tls(&mut two.server.waiting()).unwrap();
                    two.server.sent(sent);
                    two.client.process_new_packets().unwrap();
                    let mut some = vec![0; 50_000];
                    if let Ok(read) = two.client.reader().read(&mut some) {
                        received.extend_from_slice(&some[..read]);
                    }
                }
                prop_assert_eq!(received, message);
            }
        }
    }

    /// For all bytes, nothing panics, and memory is bounded.
    #[test]
    fn random_bytes_never_panic(
        has_met: bool,
        type_of_record in 20..24_u8,
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        cut in 1..100_usize,
    ) {
        let mut two = if has_met { Two::met(true) } else { Two::new(true) };
        two.on_the_way = vec![type_of_record, 3, 3, 0, bytes.len() as u8];
        two.on_the_way.extend(bytes);
        let _ = two.carry(cut);
        let _ = two.server.encrypt([b"x", &[], &[]]);
        two.server.finish();
        prop_assert!(two.held() < MOST_INCOMPLETE * 2);
    }
}
