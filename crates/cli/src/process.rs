//! What several commands share: shutdown, limits of options.

/// The longest time that an option may state, in seconds: clocks of the system cannot count to any
/// number.
pub(crate) const TEN_YEARS: u64 = 10 * 365 * 24 * 3600;

/// Waits for Ctrl-C or, on Unix, for SIGTERM, which service managers send. From the call on, these
/// signals do not end the process.
#[cfg(unix)]
pub(crate) fn stop_signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let [interrupt, terminate] =
        [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok());
    let either = [interrupt, terminate].map(|signals| async {
        match signals {
            Some(mut signals) => _ = signals.recv().await,
            None => std::future::pending().await,
        }
    });
    async move {
        let [interrupt, terminate] = either;
        tokio::select! {
            () = interrupt => {}
            () = terminate => {}
        }
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub(crate) async fn stop_signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits as [`stop_signal`] does. The next such signal then ends the process at once, whatever it
/// is waiting for.
pub(crate) fn first_stop_signal() -> impl Future<Output = ()> {
    let first = stop_signal();
    async {
        first.await;
        let second = stop_signal();
        tokio::spawn(async {
            second.await;
            eprintln!("groupwire: stopped at once by a second signal");
            std::process::exit(1);
        });
    }
}
