//! The laws of docs/laws.md in whole sessions, as in `crates/session/tests/laws`, but the fuzzer's
//! input chooses the steps. So sessions are found that random steps rarely reach.

#![no_main]
#![allow(dead_code, reason = "what only the test needs")]

#[path = "../../crates/session/tests/laws/app.rs"]
mod app;
#[path = "../../crates/session/tests/laws/messages.rs"]
mod messages;
#[path = "../../crates/session/tests/laws/mirrors.rs"]
mod mirrors;
#[path = "../../crates/session/tests/laws/model.rs"]
mod model;
#[path = "../../crates/session/tests/laws/quotas.rs"]
mod quotas;
mod random;
#[path = "../../crates/session/tests/all/support/secrets.rs"]
mod secrets;
#[path = "../../crates/session/tests/laws/story.rs"]
mod story;
#[path = "../../crates/session/tests/laws/verdict.rs"]
mod verdict;
#[path = "../../crates/session/tests/laws/world.rs"]
mod world;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    random::set_input(data);
    // In sessions of seeds that are not recorded clients begin plain; beyond others there are
    // quotas, rooms are large, or have mirrors. With even seeds among them, a channel records
    // departures.
    let seed = match data.first().map_or(0, |byte| byte & 7) {
        1 => story::SEEDS + 2,
        2 => story::LARGE_SEEDS + 1,
        3 => story::QUOTA_SEEDS + 1,
        4 => story::MIRROR_SEEDS + 1,
        _ => 1,
    };
    story::play(seed, false);
});
