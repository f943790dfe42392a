//! The task that drives one session: it feeds what the transport receives to the session's state machine and carries
//! out what that says.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use groupwire_session::client::Input;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::Bytes;

use crate::address::Address;
use crate::shared::{Next, Outgoing, Progress, Shared};
use crate::transport::{Happening, Transport};
use crate::{Error, Trust};

/// The state of the transport.
enum Link {
    None,
    /// The session wants a transport, which is opened once the application has read enough.
    Wanted,
    Dialing(Pin<Box<dyn Future<Output = Result<Transport, Error>> + Send>>),
    Open(Transport),
}

/// A result of waiting for the transport.
enum News {
    Opened(Result<Transport, Error>),
    Transport(Happening),
}

impl Link {
    async fn next(&mut self, read: bool) -> News {
        match self {
            Link::None | Link::Wanted => std::future::pending().await,
            Link::Dialing(dialing) => News::Opened(dialing.await),
            Link::Open(transport) => News::Transport(transport.next(read).await),
        }
    }
}

/// Drives the session until it ends.
pub(crate) async fn drive(shared: Arc<Shared>, address: Arc<Address>, trust: Arc<Trust>) {
    let mut link = Link::None;
    let mut outgoing = Vec::new();
    let mut news: Option<News> = None;
    let mut timer = pin!(sleep_until(Instant::now()));
    loop {
        let next = turn(&shared, &mut link, news.take(), &mut outgoing);
        if let Link::Open(transport) = &mut link {
            for one in outgoing.drain(..) {
                match one {
                    Outgoing::Packet(packet) => transport.send(packet),
                    Outgoing::Datagram(packet) => transport.send_datagram(packet),
                }
            }
        }
        outgoing.clear();
        let at = match next {
            Next::Wait(at) => at,
            Next::Dial => {
                link = Link::Wanted;
                continue;
            }
            Next::Hangup => {
                if let Link::Open(transport) = std::mem::replace(&mut link, Link::None) {
                    transport.close().await;
                }
                news = Some(News::Transport(Happening::Closed));
                continue;
            }
            Next::End => break,
        };
        let credit = shared.has_credit();
        if credit && matches!(link, Link::Wanted) {
            let (address, trust) = (Arc::clone(&address), Arc::clone(&trust));
            link = Link::Dialing(Box::pin(async move { Transport::dial(&address, &trust).await }));
        }
        if let Some(at) = at.map(|at| shared.instant(at)).filter(|at| *at != timer.deadline()) {
            timer.as_mut().reset(at);
        }
        tokio::select! {
            happened = link.next(credit) => news = Some(happened),
            () = shared.wake.notified() => {}
            () = timer.as_mut(), if at.is_some() => {}
        }
    }
    shared.news.notify_one();
}

/// Feeds `news`, or the passing of time, to the session. Returns what to do next.
fn turn(
    shared: &Shared,
    link: &mut Link,
    news: Option<News>,
    outgoing: &mut Vec<Outgoing>,
) -> Next {
    let packet: Bytes;
    let mut inputs = Vec::new();
    match news {
        None => inputs.push(Input::Timeout),
        Some(News::Opened(Ok(transport))) => {
            inputs.push(Input::Opened { max_datagram: transport.max_datagram() });
            *link = Link::Open(transport);
        }
        Some(News::Opened(Err(error))) => {
            *link = Link::None;
            shared.progress.send_replace(Progress::Unreachable(error));
            inputs.push(Input::Closed);
        }
        Some(News::Transport(Happening::Packet(bytes))) => {
            packet = bytes;
            inputs.push(Input::Packet(&packet));
        }
        Some(News::Transport(Happening::Datagram(bytes))) => {
            packet = bytes;
            inputs.push(Input::Datagram(&packet));
        }
        Some(News::Transport(Happening::DatagramsSent(count))) => {
            inputs.extend((0..count).map(|_| Input::DatagramSent));
        }
        Some(News::Transport(Happening::Sent(count))) => {
            inputs.extend((0..count).map(|_| Input::Sent));
        }
        Some(News::Transport(Happening::Closed)) => {
            *link = Link::None;
            inputs.push(Input::Closed);
        }
    }
    shared.turn(&mut inputs, outgoing)
}
