//! Tells a service manager (systemd with `Type=notify`) that the server is ready, that it stops,
//! and which process goes on after an upgrade in place. Without the variable `NOTIFY_SOCKET` it
//! does nothing.

#[cfg(unix)]
pub(crate) use service_manager::{go_on, ready, stopping};

#[cfg(not(unix))]
pub(crate) use nobody::{go_on, ready, stopping};

#[cfg(unix)]
mod service_manager {
    use sd_notify::NotifyState;

    /// The server serves.
    pub(crate) fn ready() {
        notify(&[NotifyState::Ready]);
    }

    /// The server was asked to stop, and will end.
    pub(crate) fn stopping() {
        notify(&[NotifyState::Stopping]);
    }

    /// This process becomes the main process of the service, in place of the one that ends.
    pub(crate) fn go_on() {
        notify(&[NotifyState::MainPid(std::process::id())]);
    }

    fn notify(states: &[NotifyState<'_>]) {
        if let Err(error) = sd_notify::notify(states) {
            tracing::warn!(%error, "the service manager cannot be told");
        }
    }
}

#[cfg(not(unix))]
mod nobody {
    pub(crate) fn ready() {}

    pub(crate) fn stopping() {}

    pub(crate) fn go_on() {}
}
