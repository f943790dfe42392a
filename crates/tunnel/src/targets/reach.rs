//! Connects the listening end to a target that a program chose, if a rule permits it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::{Allow, Host, Target};
use crate::preface::{Reason, Refusal};

/// The most time that the TCP connection to a target may take.
pub(crate) const TARGET_WITHIN: Duration = Duration::from_secs(10);

/// The most addresses of a name that are tried.
const MOST_ADDRESSES: usize = 16;

/// The rules of the listening end.
#[derive(Debug)]
pub(crate) struct Permitted(Vec<Allow>);

impl Permitted {
    pub(crate) fn new(rules: Vec<Allow>) -> Self {
        Permitted(rules)
    }

    /// Connects to a target. Also returns whether compression is forbidden.
    ///
    /// # Errors
    /// No rule permits the target, or it cannot be reached.
    pub(crate) async fn connect(&self, target: &Target) -> Result<(TcpStream, bool), Refusal> {
        // Names are resolved only if a rule may permit them: other lookups are nobody's business.
        if !self.0.iter().any(|rule| rule.may_permit(target)) {
            return Err(forbidden(target));
        }
        let connect = async {
            let addresses = resolve(target).await.map_err(|error| unreachable(target, &error))?;
            let (addresses, never) = self.choose(target, &addresses)?;
            let connected = TcpStream::connect(&addresses[..]).await;
            Ok((connected.map_err(|error| unreachable(target, &error))?, never))
        };
        let late = || unreachable(target, &io::ErrorKind::TimedOut.into());
        timeout(TARGET_WITHIN, connect).await.unwrap_or_else(|_| Err(late()))
    }

    /// The addresses to which connections are permitted, and whether one of the rules that permit
    /// them forbids compression.
    fn choose(&self, target: &Target, all: &[IpAddr]) -> Result<(Vec<SocketAddr>, bool), Refusal> {
        let (mut permitted, mut never) = (Vec::new(), false);
        for address in all.iter().map(IpAddr::to_canonical).take(MOST_ADDRESSES) {
            let mut rules = self.0.iter().filter(|rule| rule.permits(target, address)).peekable();
            if rules.peek().is_some() {
                permitted.push(SocketAddr::new(address, target.port()));
            }
            never |= rules.any(|rule| rule.never);
        }
        if permitted.is_empty() { Err(forbidden(target)) } else { Ok((permitted, never)) }
    }
}

async fn resolve(target: &Target) -> io::Result<Vec<IpAddr>> {
    match target.host() {
        Host::Address(address) => Ok(vec![*address]),
        Host::Name(name) => {
            let found = lookup_host((name.as_str(), target.port())).await?;
            Ok(found.map(|address| address.ip()).collect())
        }
    }
}

fn forbidden(target: &Target) -> Refusal {
    let message = format!("it may not connect to {target}: its option --allow permits targets");
    Refusal::new(Reason::Forbidden, message)
}

fn unreachable(target: &Target, error: &io::Error) -> Refusal {
    let reason = match error.kind() {
        io::ErrorKind::ConnectionRefused => Reason::NothingListens,
        io::ErrorKind::NetworkUnreachable => Reason::NoNetwork,
        _ => Reason::NoHost,
    };
    Refusal::new(reason, format!("it cannot reach {target}: {}", explanation(error)))
}

/// The reason for which a target cannot be reached, in words for a person.
pub(crate) fn explanation(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        io::ErrorKind::TimedOut => "it does not answer".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(rules: &[&str]) -> Permitted {
        Permitted::new(rules.iter().map(|rule| rule.parse().unwrap()).collect())
    }

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn only_the_addresses_of_a_name_that_a_rule_permits_are_tried() {
        let target = "two.example.org:80".parse().unwrap();
        let all = addresses(&["127.0.0.1", "10.0.0.1", "::ffff:10.0.0.2"]);
        let (chosen, never) = rules(&["10.0.0.0/8:80"]).choose(&target, &all).unwrap();
        assert_eq!(chosen, ["10.0.0.1:80", "10.0.0.2:80"].map(|one| one.parse().unwrap()));
        assert!(!never);
        let nothing = rules(&["192.0.2.0/24:*"]).choose(&target, &all).unwrap_err();
        assert_eq!(nothing.reason, Reason::Forbidden);
    }

    #[test]
    fn one_rule_that_forbids_compression_is_enough() {
        let target = "10.0.0.1:80".parse().unwrap();
        let all = addresses(&["10.0.0.1"]);
        for permitted in [["*:*", "10.0.0.1:80,never"], ["10.0.0.0/8:80,never", "*:80"]] {
            assert!(rules(&permitted).choose(&target, &all).unwrap().1, "{permitted:?}");
        }
        assert!(!rules(&["*:*", "10.0.0.1:81,never"]).choose(&target, &all).unwrap().1);
    }

    #[tokio::test]
    async fn without_rules_everything_is_forbidden_and_no_name_is_resolved() {
        for target in ["127.0.0.1:1", "example.invalid:80"] {
            let refusal = rules(&[]).connect(&target.parse().unwrap()).await.unwrap_err();
            assert_eq!(refusal.reason, Reason::Forbidden, "{target}");
        }
    }
}
