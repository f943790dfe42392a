//! Any bytes of a program that speaks SOCKS are a target with its port, or a typed error. No more
//! is read than belongs to the greeting and the request, and what is answered is short.

#![no_main]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use groupwire_tunnel::Target;
use groupwire_tunnel::socks::request;
use libfuzzer_sys::fuzz_target;

/// A greeting with 255 methods, and a request with a name of 255 bytes.
const LONGEST: usize = 2 + 255 + 4 + 1 + 255 + 2;

fuzz_target!(|data: &[u8]| {
    let mut answers = Vec::new();
    let mut program = tokio::io::join(data, &mut answers);
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(outcome) = pin!(request(&mut program)).poll(&mut context) else {
        panic!("bytes in memory are always ready");
    };
    assert!(data.len() - program.reader().len() <= LONGEST);
    match outcome {
        Ok(target) => {
            assert_eq!(answers, [5, 0]);
            assert_ne!(target.port(), 0);
            assert_eq!(target.to_string().parse::<Target>(), Ok(target));
        }
        Err(error) => {
            assert!(answers.len() <= 2);
            // The text is shown to a person.
            assert!(!error.to_string().is_empty());
        }
    }
});
