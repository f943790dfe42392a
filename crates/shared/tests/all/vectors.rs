//! Sessions that the TypeScript package has played (`node scripts/shared-sessions.mjs --write`) are
//! repeated: what both send, keep and tell has to be equal, step by step.

use crate::sessions::Sessions;

const RECORDED: &str = include_str!("../vectors/sessions.jsonl");

#[test]
fn recorded_sessions_of_the_typescript_package_are_equal() {
    let mut sessions = Sessions::default();
    for line in RECORDED.lines() {
        if let Err(difference) = sessions.repeat(line) {
            panic!("{difference}");
        }
    }
    assert!(!sessions.is_empty());
    for what in [
        "message",
        "departed",
        "gap",
        "snapshot",
        "make",
        "undo",
        "redo",
        "batch",
        "look",
        "mode",
        "preview-in",
    ] {
        assert!(sessions.count(what) > 0, "no recorded session has the step {what}");
    }
}

#[test]
fn a_difference_is_noticed() {
    let mut sessions = Sessions::default();
    let damaged = RECORDED.replace("\"add\",\"score\",1]", "\"add\",\"score\",2]");
    assert_ne!(damaged, RECORDED, "a recorded session counts");
    assert!(damaged.lines().any(|line| sessions.repeat(line).is_err()));
}
