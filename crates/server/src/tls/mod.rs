//! TLS over TCP: its configuration, and its handshakes, each of which has a deadline.

pub(crate) mod tickets;

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion};

use crate::certificate::acme::challenge::ACME_TLS;
use crate::certificate::keeper::Certificates;
use crate::durable::HmacSecrets;
use crate::ends::linger::close_in_order;
use crate::ends::link::TlsStream;
use crate::error::CertificateError;
use tickets::Tickets;

/// The protocol names of HTTP in TLS (RFC 7301).
pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// How long a handshake may take. It takes two round trips at most, and a second more if a packet
/// is lost.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Most handshakes under way. Each holds up to some 64 KiB, the largest message of a handshake that
/// TLS permits.
const MAX_HANDSHAKES: usize = 512;

/// A handshake is not given up for another one before it has lasted this long; new ones wait
/// instead. When many clients come at once, the server or their common link may take longer than
/// usual for each handshake. If the server then gave up handshakes as fast as new clients come,
/// none would ever be complete, and each would be work for nothing that its client repeats.
/// Handshakes that never end let in 512 others in this time.
const PROTECTED: Duration = Duration::from_secs(3);

/// A handshake whose client has sent nothing for this long is given up for another one. A client's
/// first message comes one way after its connection. Handshakes of silent clients let in a thousand
/// others per second, several times what one address may begin.
const SILENT: Duration = Duration::from_millis(500);

/// Handshakes that have ended are forgotten when there are this many.
const MOST_ENDED: usize = 32;

/// The first byte of a TLS connection: that of a record with a part of the handshake (RFC 8446,
/// section 5.1).
const HANDSHAKE_RECORD: u8 = 0x16;

/// The answer to a client that was given an address with http instead of https (docs/transports.md,
/// T29).
const NOT_TLS: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\
    Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: groupwire\r\nGroupwire: 1\r\n\
    Content-Length: 69\r\n\r\nThis port speaks HTTPS: write https:// instead of http:// before it.\n";

/// The configuration of TLS for a listener, with the certificate that is in use when a handshake
/// begins.
pub(crate) fn config(
    certificates: Arc<Certificates>,
    versions: &[&'static SupportedProtocolVersion],
    protocols: &[&[u8]],
) -> Result<ServerConfig, CertificateError> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .map_err(|error| CertificateError::Unusable { why: error.to_string() })?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}

/// Carries out the handshakes of one listener.
pub(crate) struct Handshakes {
    config: Arc<ServerConfig>,
    under_way: UnderWay,
    /// One permit for each handshake that may compute at a time, as many as there are threads. If
    /// all handshakes under way were in the threads' queues at once, rooms would wait behind them
    /// for a tenth of a second.
    turns: Arc<Semaphore>,
}

impl Handshakes {
    pub(crate) fn new(certificates: Arc<Certificates>) -> Result<Self, CertificateError> {
        let question = certificates.question();
        let protocols: Vec<_> = [HTTP2, HTTP1].into_iter().chain(question).collect();
        let config = Arc::new(config(certificates, &[&TLS13, &TLS12], &protocols)?);
        let turns = thread::available_parallelism().map_or(1, NonZero::get);
        let turns = Arc::new(Semaphore::new(turns));
        Ok(Handshakes { config, under_way: UnderWay::new(), turns })
    }

    /// Lets clients resume sessions of TLS 1.3 by tickets, in place of the server's memory of a few
    /// recent sessions.
    pub(crate) fn issue_tickets(&mut self, secrets: Arc<HmacSecrets>) {
        Arc::make_mut(&mut self.config).ticketer = Arc::new(Tickets::new(secrets));
    }

    /// Begins a handshake in a task of its own, as soon as there is a place for it; calls `done`
    /// when it is complete.
    pub(crate) async fn begin(
        &mut self,
        socket: TcpStream,
        peer: SocketAddr,
        done: impl FnOnce(TlsStream) + Send + 'static,
    ) {
        let config = Arc::clone(&self.config);
        let progress = Arc::new(Progress::default());
        let turns = Arc::clone(&self.turns);
        let handshake = shake_hands(config, socket, Arc::clone(&progress), turns);
        let handshake = async move {
            match timeout(HANDSHAKE, handshake).await {
                Ok(Ok(stream)) if stream.speaks(ACME_TLS) => answered(stream, peer).await,
                Ok(Ok(stream)) => done(stream),
                Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS handshake failed"),
                Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
            }
        };
        self.under_way.begin(progress, handshake).await;
    }
}

/// The handshakes under way, [`MAX_HANDSHAKES`] at most.
struct UnderWay {
    /// One permit for each handshake that may begin.
    places: Arc<Semaphore>,
    /// Handshakes in the order in which they began. Some have ended, but not while all places are
    /// taken.
    begun: VecDeque<Begun>,
}

/// A handshake that has begun. It is known by this instead of by the handle of its task, because a
/// handle keeps the memory of a task that has ended, 9 KB: after many have come at once, those of
/// up to 512 handshakes would stay until the next client comes.
struct Begun {
    at: Instant,
    progress: Arc<Progress>,
}

/// How far a handshake is.
#[derive(Default)]
struct Progress {
    /// Whether its client has sent something.
    has_spoken: AtomicBool,
    has_ended: AtomicBool,
    /// Notified when the handshake is given up.
    given_up: Notify,
}

/// Notes that a handshake has ended, when it is dropped.
struct Ending(Arc<Progress>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
    }
}

impl UnderWay {
    fn new() -> Self {
        UnderWay { places: Arc::new(Semaphore::new(MAX_HANDSHAKES)), begun: VecDeque::new() }
    }

    /// Waits for a place, and begins a handshake in a task of its own.
    async fn begin(
        &mut self,
        progress: Arc<Progress>,
        handshake: impl Future<Output = ()> + Send + 'static,
    ) {
        let place = self.place().await;
        self.begun.push_back(Begun { at: Instant::now(), progress: Arc::clone(&progress) });
        tokio::spawn(async move {
            let ending = Ending(progress);
            tokio::select! {
                () = handshake => {}
                () = ending.0.given_up.notified() => {}
            }
            drop(ending);
            drop(place);
        });
    }

    /// Waits until there is a place: a handshake has ended, or one is given up.
    async fn place(&mut self) -> OwnedSemaphorePermit {
        let free = self.places.available_permits();
        if free == 0 || self.begun.len() >= MAX_HANDSHAKES - free + MOST_ENDED {
            self.begun.retain(|one| !one.progress.has_ended.load(Ordering::Relaxed));
        }
        let mut place = pin!(Arc::clone(&self.places).acquire_owned());
        let place = loop {
            let until = self.next().map_or_else(|| Instant::now() + SILENT, |(_, at)| at);
            if let Ok(place) = timeout_at(until, place.as_mut()).await {
                break place;
            }
            // Its client may have begun to speak meanwhile.
            let next = self.next().filter(|(_, at)| *at <= Instant::now());
            if let Some(one) = next.and_then(|(index, _)| self.begun.remove(index)) {
                tracing::debug!("a TLS handshake was given up: too many are under way");
                one.progress.given_up.notify_one();
                // Its task gives the place back.
                break place.await;
            }
        };
        place.expect("nobody closes this semaphore")
    }

    /// The handshake that is given up next, and when: the oldest one whose client is silent after
    /// [`SILENT`], or the oldest of all after [`PROTECTED`].
    fn next(&self) -> Option<(usize, Instant)> {
        let mut begun = self.begun.iter();
        let silent = begun.position(|one| !one.progress.has_spoken.load(Ordering::Relaxed));
        let silent = silent.map(|index| (index, self.begun[index].at + SILENT));
        let oldest = self.begun.front().map(|one| (0, one.at + PROTECTED));
        silent.into_iter().chain(oldest).min_by_key(|(_, at)| *at)
    }
}

/// Closes the connection of an authority that has seen the proof in the handshake (RFC 8737,
/// section 3).
async fn answered(mut stream: TlsStream, peer: SocketAddr) {
    tracing::info!(%peer, "a proof for an ACME authority was asked for and given");
    // The authority may have closed the connection before.
    let _ = timeout(HANDSHAKE, stream.shutdown()).await;
}

/// Answers a client that does not speak TLS.
async fn refuse(mut socket: TcpStream) -> io::Error {
    let answering = async {
        socket.write_all(NOT_TLS.as_bytes()).await?;
        close_in_order(&mut socket).await;
        Ok(())
    };
    let answered: io::Result<()> = answering.await;
    let not_tls = || io::Error::new(io::ErrorKind::InvalidData, "it is not TLS");
    answered.err().unwrap_or_else(not_tls)
}

async fn shake_hands(
    config: Arc<ServerConfig>,
    socket: TcpStream,
    progress: Arc<Progress>,
    turns: Arc<Semaphore>,
) -> io::Result<TlsStream> {
    let mut first = [0];
    let has_sent = socket.peek(&mut first).await? > 0;
    progress.has_spoken.store(has_sent, Ordering::Relaxed);
    if has_sent && first != [HANDSHAKE_RECORD] {
        // Boxed, so that a handshake does not hold memory for it.
        return Err(Box::pin(refuse(socket)).await);
    }
    // A client that has waited for long in the kernel's queue may be gone: it is not worth a
    // signature.
    if socket.ready(Interest::READABLE).await?.is_read_closed() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut handshake = pin!(TlsStream::accept(socket, config));
    // The client's first message is there, so that the first poll takes nearly all of the
    // processor's time.
    let turn = turns.acquire().await.map_err(io::Error::other)?;
    tokio::select! {
        biased;
        stream = handshake.as_mut() => return stream,
        () = std::future::ready(()) => {}
    }
    drop(turn);
    handshake.await
}

#[cfg(test)]
mod tests {
    use groupwire_session::VERSION;
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn the_answer_without_tls_states_its_length() {
        let (head, body) = NOT_TLS.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{}", body.len());
        assert!(head.contains(&format!("\r\nGroupwire: {VERSION}\r\n")), "T28");
    }

    fn spoken(has_spoken: bool) -> Arc<Progress> {
        Arc::new(Progress { has_spoken: AtomicBool::new(has_spoken), ..Progress::default() })
    }

    #[tokio::test(start_paused = true)]
    async fn handshakes_whose_clients_are_silent_are_given_up_first() {
        let (mut under_way, began) = (UnderWay::new(), Instant::now());
        let mut ends = Vec::new();
        for nth in 0..MAX_HANDSHAKES {
            let (end, ended) = oneshot::channel::<()>();
            // Every second client has sent something. The third one will.
            under_way.begin(spoken(nth % 2 == 0 && nth != 2), async { _ = ended.await }).await;
            ends.push(end);
        }
        under_way.begin(spoken(false), std::future::pending()).await;
        assert_eq!(began.elapsed(), SILENT);
        assert!(ends[1].is_closed() && ends.iter().filter(|end| end.is_closed()).count() == 1);
        under_way.begun[1].progress.has_spoken.store(true, Ordering::Relaxed);
        under_way.begin(spoken(false), std::future::pending()).await;
        assert_eq!(began.elapsed(), SILENT);
        assert!(ends[3].is_closed() && !ends[2].is_closed() && !ends[0].is_closed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_handshake_is_given_up_for_another_one_only_when_it_has_lasted_long() {
        let (mut under_way, began) = (UnderWay::new(), Instant::now());
        let mut ends = Vec::new();
        for _ in 0..MAX_HANDSHAKES {
            let (end, ended) = oneshot::channel::<()>();
            under_way.begin(spoken(true), async { _ = ended.await }).await;
            ends.push(end);
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        // A handshake ends, and another one takes its place at once. No handshake is given up for
        // that.
        drop(ends.pop());
        under_way.begin(spoken(true), std::future::pending()).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(ends.iter().all(|end| !end.is_closed()));
        // If no handshake ends, the oldest one is given up, and no other.
        under_way.begin(spoken(true), std::future::pending()).await;
        assert_eq!(began.elapsed(), PROTECTED);
        assert!(ends[0].is_closed() && ends[1..].iter().all(|end| !end.is_closed()));
        // The others began at the same time.
        under_way.begin(spoken(true), std::future::pending()).await;
        assert_eq!(began.elapsed(), PROTECTED);
        assert!(ends[1].is_closed() && ends[2..].iter().all(|end| !end.is_closed()));
    }
}
