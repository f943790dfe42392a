//! The reasons why an emulated network cannot be set up.

use std::io;

use super::MAX_CLIENTS;

/// Why there is no emulated network.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmulatorError {
    /// A program that sets up networks is not installed.
    #[error("{program} is not installed; it is in the package {package}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// The package that has it, in most distributions.
        package: &'static str,
    },
    /// This is not Linux.
    #[cfg(not(target_os = "linux"))]
    #[error("the emulator needs network namespaces and TUN devices of Linux")]
    OnlyLinux,
    /// The system does not permit a network namespace.
    #[error(
        "this machine does not permit a network namespace of one's own ({why}); run as root, or allow unprivileged user \
         namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0), and in a \
         container CAP_SYS_ADMIN"
    )]
    NamespaceRefused {
        /// The error message of `unshare`.
        why: String,
    },
    /// There is no TUN device.
    #[error(
        "no TUN device ({0}); /dev/net/tun has to be there and writable (modprobe tun; in a container \
         --device /dev/net/tun)"
    )]
    Device(io::Error),
    /// Addresses or routes were refused.
    #[error("the network in the namespace cannot be set up: {why}")]
    SetUp {
        /// The error message of the program that failed.
        why: String,
    },
    /// There were no clients or too many.
    #[error("a network has 1 to {MAX_CLIENTS} clients, not {0}")]
    Clients(usize),
    /// A proxy was asked to treat a TCP stream in a way that is possible only for packets.
    #[error(
        "a proxy cannot lose, reorder, repeat or damage packets of a TCP connection; the emulator can, in a network \
         namespace"
    )]
    NotForStreams,
    /// The system refused a thread or a socket.
    #[error(transparent)]
    System(#[from] io::Error),
}
