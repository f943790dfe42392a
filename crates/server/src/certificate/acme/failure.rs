//! Why no certificate was issued, in words that say what to do.

use instant_acme::{Error, Problem};

/// Why no certificate was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// The error, with its cause.
    pub(super) why: String,
    /// The advice for the operator.
    pub(super) advice: &'static str,
}

/// The name of the problem that an authority does not know an account (RFC 8555, section 6.7).
const NO_ACCOUNT: &str = "accountDoesNotExist";

const UNTRUSTED: &str = "check --acme-directory; if it is an authority of your own, --trusted-root FILE names the certificate to trust";
const UNREACHABLE: &str =
    "this machine must reach the directory over HTTPS: check --acme-directory, DNS and firewalls";
const NO_DIRECTORY: &str = "check that --acme-directory is the address of an ACME directory";
const WAIT: &str = "wait, or ask the authority: the server tries again by itself";
const NAME: &str = "check that all A and AAAA records of the name are addresses of this machine, and that TCP port 443 reaches --listen";
const FILES: &str = "check that this user can write the folder, and that its disk has space";
const CLOCK: &str = "check the clock of this machine";

impl Failure {
    /// A request to the directory failed.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::Api(problem) => Failure::refused(problem),
            Error::Json(why) => {
                let why = format!("the directory answers something else than ACME: {why}");
                Failure { why, advice: NO_DIRECTORY }
            }
            Error::Timeout(_) => {
                let why = "the authority has not decided in time".to_owned();
                Failure { why, advice: WAIT }
            }
            Error::Other(why) => {
                let why = why.to_string();
                let is_untrusted = why.contains("invalid peer certificate");
                let advice = if is_untrusted { UNTRUSTED } else { UNREACHABLE };
                Failure { why: format!("the directory cannot be asked: {why}"), advice }
            }
            other => Failure { why: other.to_string(), advice: WAIT },
        }
    }

    /// The authority refused a request.
    fn refused(problem: &Problem) -> Self {
        let mut why = words(problem);
        for part in problem.subproblems.iter().take(5) {
            let detail = part.detail.as_deref().unwrap_or("no reason is given");
            why += &format!("; {detail}");
        }
        Failure { why, advice: advice(problem) }
    }

    /// The authority found that a name does not lead to this server.
    pub(super) fn of_name(domain: &str, problem: &Problem) -> Self {
        let why = format!("{domain}: {}", words(problem));
        let advice = match advice(problem) {
            WAIT => NAME,
            advice => advice,
        };
        Failure { why, advice }
    }

    /// The authority has not found that the names lead to this server, and does not say why.
    pub(super) fn unexplained() -> Self {
        Failure { why: "the authority refuses the order without a reason".to_owned(), advice: WAIT }
    }

    /// The authority offers no proof for a name that this server can give.
    pub(super) fn no_proof(domain: &str) -> Self {
        let why = format!("{domain}: the authority offers no proof by TLS (tls-alpn-01)");
        let advice = "use another authority, or another program, and --cert and --key";
        Failure { why, advice }
    }

    /// A file cannot be read or written.
    pub(super) fn of_file(path: &std::path::Path, why: impl std::fmt::Display) -> Self {
        Failure { why: format!("{}: {why}", path.display()), advice: FILES }
    }

    /// The certificate that was issued is due for renewal at once.
    pub(super) fn too_short() -> Self {
        let why = "the certificate that was issued cannot be used, or is due for renewal at once";
        Failure { why: why.to_owned(), advice: CLOCK }
    }

    /// Something failed in this process.
    pub(super) fn own(why: impl std::fmt::Display) -> Self {
        Failure { why: why.to_string(), advice: WAIT }
    }
}

/// True if the authority does not know the account.
pub(super) fn is_unknown_account(error: &Error) -> bool {
    matches!(error, Error::Api(problem) if name(problem) == NO_ACCOUNT)
}

/// The authority's own words.
fn words(problem: &Problem) -> String {
    match (&problem.detail, name(problem)) {
        (Some(detail), "") => detail.clone(),
        (Some(detail), name) => format!("{detail} ({name})"),
        (None, name) => format!("the authority says {name:?} without details"),
    }
}

/// The name of a problem, such as `rateLimited`.
fn name(problem: &Problem) -> &str {
    problem.r#type.as_deref().unwrap_or_default().rsplit(':').next().unwrap_or_default()
}

/// What to do about a problem (RFC 8555, section 6.7).
fn advice(problem: &Problem) -> &'static str {
    match name(problem) {
        "connection" => {
            "the authority must reach --listen at TCP port 443 of this name: open or forward the port in firewalls and routers, \
             and check that all A and AAAA records of the name are addresses of this machine"
        }
        "dns" => {
            "create an A or AAAA record with the address of this machine for the name, and wait until DNS servers know it"
        }
        "tls" | "unauthorized" | "incorrectResponse" => {
            "what answers at TCP port 443 of this name is not this server: check that all A and AAAA records of the name are \
             addresses of this machine, that the port reaches --listen, and that no proxy in between ends TLS"
        }
        "caa" => {
            "a CAA record in the DNS forbids this authority: change the record, or use another --acme-directory"
        }
        "rateLimited" => {
            "the authority's limit is used up: wait, the server tries again by itself. For trying there is \
             --acme-directory https://acme-staging-v02.api.letsencrypt.org/directory"
        }
        "rejectedIdentifier" | "unsupportedIdentifier" => {
            "this authority issues no certificate for the name: check --acme"
        }
        "externalAccountRequired" => {
            "this authority wants an account that was made on its own site, which Groupwire does not support: use another \
             --acme-directory"
        }
        "invalidContact" | "unsupportedContact" => {
            "check the mail address in --acme-contact, or leave it out"
        }
        "userActionRequired" => "the authority's terms have changed: read them at its site",
        NO_ACCOUNT => "nothing: the next try makes another account",
        _ => WAIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: &str, detail: &str) -> Problem {
        let text = format!(
            r#"{{"type": "urn:ietf:params:acme:error:{kind}", "detail": "{detail}", "status": 400}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn problems_of_a_name_say_what_to_do() {
        for (kind, due) in [
            ("connection", "TCP port 443"),
            ("dns", "A or AAAA record"),
            ("unauthorized", "is not this server"),
            ("tls", "is not this server"),
            ("caa", "CAA record"),
        ] {
            let failure = Failure::of_name("a.example", &problem(kind, "Words"));
            assert_eq!(failure.why, format!("a.example: Words ({kind})"));
            assert!(failure.advice.contains(due), "{failure:?}");
        }
    }

    #[test]
    fn refused_requests_say_what_to_do() {
        for (kind, due) in [
            ("rateLimited", "acme-staging"),
            ("rejectedIdentifier", "--acme"),
            ("externalAccountRequired", "another"),
            ("invalidContact", "--acme-contact"),
            ("somethingNew", "tries again"),
        ] {
            let failure = Failure::of(&Error::Api(problem(kind, "Words")));
            assert!(failure.why.contains(kind) && failure.advice.contains(due), "{failure:?}");
        }
        let untrusted = "client error (Connect): invalid peer certificate: UnknownIssuer";
        let failure = Failure::of(&Error::Other(untrusted.into()));
        assert!(failure.advice.contains("--trusted-root"), "{failure:?}");
        let failure = Failure::of(&Error::Other("there was no answer within 30 s".into()));
        assert!(failure.advice.contains("firewalls"), "{failure:?}");
        assert!(is_unknown_account(&Error::Api(problem(NO_ACCOUNT, ""))));
        assert!(!is_unknown_account(&Error::Api(problem("rateLimited", ""))));
    }
}
