//! Ports for programs that cannot choose one themselves: they do not print the port that they take
//! for 0, or others must know it before they start.
//!
//! A port that the system gives for 0 may be given to another program before the one that it is for
//! listens on it. These come from a range that systems give nobody (RFC 6335 calls it that of user
//! ports; Linux gives ports from 32768, others from 49152), and each process begins elsewhere.

use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;
/// How far the first ports of two processes with successive numbers lie apart. Those of any 300
/// successive processes lie at least 66 apart.
const STEP: u32 = 9701;

/// A port on which no program of this machine listens, by TCP or UDP. Each call of a process gives
/// another one.
///
/// # Errors
/// All ports of the range are taken, or the system forbids to listen.
pub fn free_port() -> Result<u16> {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let mut why = Error::from(ErrorKind::AddrInUse);
    for _ in 0..COUNT {
        let port = port(process::id(), CALLS.fetch_add(1, Ordering::Relaxed));
        match bind(port) {
            Ok(()) => return Ok(port),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// The port that the call with this number tries in a process.
fn port(process: u32, call: u32) -> u16 {
    let offset = (u64::from(process) * u64::from(STEP) + u64::from(call)) % u64::from(COUNT);
    (FIRST + offset as u32) as u16
}

fn bind(port: u16) -> Result<()> {
    let address = (Ipv4Addr::UNSPECIFIED, port);
    TcpListener::bind(address)?;
    UdpSocket::bind(address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_process_gets_different_ports_on_which_nobody_listens() {
        let listening: Vec<_> = (0..20)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, free_port().unwrap())).unwrap())
            .collect();
        let ports: BTreeSet<u16> =
            listening.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        assert_eq!(ports.len(), listening.len());
    }

    #[test]
    fn a_port_that_is_taken_is_left_out() {
        let port = free_port().unwrap();
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert_eq!(bind(port).unwrap_err().kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn ports_are_below_what_systems_give_and_processes_begin_apart() {
        let first: BTreeSet<u16> = (0..COUNT).map(|process| port(process, 0)).collect();
        assert_eq!(first.len(), COUNT as usize);
        assert!(first.iter().all(|port| (12_000..32_000).contains(port)));
        let lately: Vec<u16> = (1000..1300).map(|process| port(process, 0)).collect();
        for (at, one) in lately.iter().enumerate() {
            assert!(lately[..at].iter().all(|other| one.abs_diff(*other) >= 66));
        }
        assert_eq!(port(7, 3), port(7, 0) + 3);
        port(u32::MAX, u32::MAX);
    }
}
