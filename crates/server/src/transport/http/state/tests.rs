use super::*;
use futures_util::FutureExt;
use proptest::prelude::*;

/// A response in the test: packets that the server sent and the client has not read.
struct Response {
    response: ResponseNumber,
    next: u64,
    under_way: VecDeque<Bytes>,
    has_ended: bool,
}

/// A client that keeps the rules T10 and T11 of docs/transports.md, and the network between it and
/// the server.
struct Model {
    transport: HttpTransport,
    pushed: u64,
    received: u64,
    older: Option<Response>,
    newer: Response,
    uploads: u64,
}

impl Model {
    fn new() -> Self {
        let transport = HttpTransport::new(HttpTransportId::random(None), Duration::from_secs(5));
        let newer = ask(&transport, 0);
        Model { transport, pushed: 0, received: 0, older: None, newer, uploads: 0 }
    }

    fn step(&mut self, what: u8, lag: u64) {
        match what {
            0 | 1 => self.push(),
            2..=4 => self.take(),
            5..=7 => self.read(),
            // Renew the response, unless the older one is still being read.
            8 if self.older.is_none() => {
                let newer = ask(&self.transport, self.received);
                self.older = Some(std::mem::replace(&mut self.newer, newer));
            }
            // The response breaks, and the server notices.
            9 => {
                self.transport.finish(self.newer.response);
                self.ask_again();
            }
            // The response breaks, and the server does not notice. All packets under way are lost.
            10 => self.ask_again(),
            // The older response breaks: its packets are missing.
            11 => self.older = None,
            // An acknowledgement arrives late.
            12 => {
                self.uploads += 1;
                let received = self.received.saturating_sub(lag);
                assert_eq!(self.transport.begin_upload(self.uploads, received), UploadOrder::Next);
                self.transport.end_upload();
                let taken = self.transport.accept_upload(self.uploads, Bytes::new()).now_or_never();
                assert!(matches!(taken, Some(Ok(()))));
                assert!(matches!(self.transport.next_upload().now_or_never(), Some(Ok(Some(_)))));
                assert!(self.transport.next_upload().now_or_never().is_none());
            }
            _ => {}
        }
    }

    fn push(&mut self) {
        let packet = Bytes::from((self.pushed + 1).to_string());
        let is_kept = self.transport.change(|state| {
            let has_space = state.has_space_for(packet.len());
            has_space.then(|| state.push(packet))
        });
        self.pushed = is_kept.unwrap_or(self.pushed);
    }

    fn take(&mut self) {
        for response in self.older.iter_mut().chain([&mut self.newer]) {
            match self.transport.step(response.response).now_or_never() {
                Some(Step::Packet(packet)) => {
                    assert!(!response.has_ended);
                    response.under_way.push_back(packet);
                }
                Some(Step::End) => response.has_ended = true,
                None => {}
            }
        }
    }

    fn read(&mut self) {
        let is_older = self.older.is_some();
        let response = self.older.as_mut().unwrap_or(&mut self.newer);
        let Some(packet) = response.under_way.pop_front() else {
            if response.has_ended && is_older {
                self.older = None;
            }
            return;
        };
        let number = response.next;
        response.next += 1;
        assert_eq!(packet, number.to_string(), "the packet has the stated number");
        if number == self.received + 1 {
            self.received = number;
        } else if number > self.received {
            self.older = None;
            self.ask_again();
        }
    }

    fn ask_again(&mut self) {
        self.older = None;
        self.newer = ask(&self.transport, self.received);
    }
}

fn ask(transport: &HttpTransport, received: u64) -> Response {
    let (response, next) = transport.begin(received).expect("the transport is open");
    Response { response, next, under_way: VecDeque::new(), has_ended: false }
}

proptest! {
    #[test]
    fn every_packet_arrives_once_and_in_order_whatever_breaks(
        steps in proptest::collection::vec((0..13u8, 0..20u64), 1..400),
    ) {
        let mut model = Model::new();
        for (what, lag) in steps {
            model.step(what, lag);
        }
        for _ in 0..4 * model.pushed + 8 {
            model.take();
            model.read();
            model.read();
        }
        // The client notices that it missed packets of a broken response only when a later packet
        // arrives. There may be none, so it asks again.
        model.ask_again();
        for _ in 0..model.pushed + 1 {
            model.take();
            model.read();
        }
        prop_assert_eq!(model.received, model.pushed);
    }
}

#[test]
fn no_more_is_kept_than_the_limit() {
    let transport = HttpTransport::new(HttpTransportId::random(None), Duration::from_secs(5));
    let (response, _) = transport.begin(0).unwrap();
    let packet = || Bytes::from(vec![0; 60_000]);
    let mut sent = 0;
    loop {
        let mut sending = pin!(transport.send(packet()));
        if sending.as_mut().now_or_never().is_some() {
            panic!("no response has sent it");
        }
        if !matches!(transport.step(response).now_or_never(), Some(Step::Packet(_))) {
            break;
        }
        sent += 1;
    }
    assert_eq!(sent, 17, "T10: 1 MiB");
    // The acknowledgement frees space.
    assert_eq!(transport.begin_upload(1, 17), UploadOrder::Next);
    transport.end_upload();
    assert!(transport.send(packet()).now_or_never().is_none());
    assert!(matches!(transport.step(response).now_or_never(), Some(Step::Packet(_))));
}
