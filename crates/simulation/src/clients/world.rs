//! What surrounds a participant: time, chance, tasks, and connections to the server.

use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use groupwire_client::DialError;
use groupwire_client::world::{BoxFuture, Link, LinkEvent, World};

use crate::clients::connection::{Number, Opening};
use crate::clients::random::Random;
use crate::clients::shared::Shared;
use crate::clients::tasks::lock;

/// What surrounds one participant.
pub(crate) struct MemberWorld {
    shared: Arc<Shared>,
    member: usize,
    /// Its own, so that nobody waits for the simulation to draw a number.
    random: Mutex<Random>,
}

impl MemberWorld {
    pub(crate) fn new(shared: Arc<Shared>, member: usize, seed: u64) -> MemberWorld {
        MemberWorld { shared, member, random: Mutex::new(Random::new(seed)) }
    }
}

impl World for MemberWorld {
    fn now(&self) -> Duration {
        self.shared.now()
    }

    fn sleep_until(&self, at: Duration) -> BoxFuture<()> {
        Box::pin(sleep_until(Arc::clone(&self.shared), at))
    }

    fn random(&self) -> u64 {
        lock(&self.random).any()
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.shared.tasks.spawn(task);
    }

    fn dial(&self) -> BoxFuture<Result<Box<dyn Link>, DialError>> {
        let number = lock(&self.shared.state).dial(self.member);
        let link = SimulatedLink { shared: Arc::clone(&self.shared), number };
        Box::pin(Dialing { link: Some(link) })
    }
}

/// Waits until a connection is open.
struct Dialing {
    link: Option<SimulatedLink>,
}

impl Future for Dialing {
    type Output = Result<Box<dyn Link>, DialError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let refused = || Poll::Ready(Err(DialError::Io(ErrorKind::ConnectionRefused.into())));
        let Some(link) = &self.link else { return refused() };
        let opening = {
            let mut state = lock(&link.shared.state);
            let Some(connection) = state.connection(link.number) else { return refused() };
            connection.wait(cx.waker());
            connection.opening
        };
        match opening {
            Opening::Waiting => Poll::Pending,
            Opening::Refused => refused(),
            Opening::Open => match self.link.take() {
                Some(link) => Poll::Ready(Ok(Box::new(link))),
                None => refused(),
            },
        }
    }
}

/// A participant's end of a connection.
struct SimulatedLink {
    shared: Arc<Shared>,
    number: Number,
}

impl Link for SimulatedLink {
    fn max_datagram(&self) -> usize {
        lock(&self.shared.state).connection(self.number).map_or(0, |one| one.max_datagram())
    }

    fn send(&mut self, packet: Vec<u8>) {
        lock(&self.shared.state).send(self.number, packet);
    }

    fn send_datagram(&mut self, packet: Vec<u8>) {
        lock(&self.shared.state).send_datagram(self.number, packet);
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<LinkEvent> {
        let mut state = lock(&self.shared.state);
        let Some(connection) = state.connection(self.number) else {
            return Poll::Ready(LinkEvent::Closed);
        };
        if let Some(event) = connection.next(read) {
            return Poll::Ready(event);
        }
        connection.wait(cx.waker());
        Poll::Pending
    }
}

impl Drop for SimulatedLink {
    fn drop(&mut self) {
        lock(&self.shared.state).close(self.number);
    }
}

/// Completes at this time.
pub(crate) async fn sleep_until(shared: Arc<Shared>, at: Duration) {
    if shared.now() >= at {
        return;
    }
    // Replaced by each poll, and empty once the sleep was dropped.
    let waker = Arc::new(Mutex::new(None::<Waker>));
    let to_wake = Arc::downgrade(&waker);
    lock(&shared.state).plan(at, move |_| {
        let waker = to_wake.upgrade().and_then(|waker| lock(&waker).take());
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    std::future::poll_fn(move |cx| {
        if shared.now() >= at {
            return Poll::Ready(());
        }
        *lock(&waker) = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
}
