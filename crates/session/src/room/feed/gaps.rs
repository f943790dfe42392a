//! Tells a receiver of transactions that it lacks and that the room no longer has (wire W33, W102).

use alloc::vec::Vec;

use crate::room::log::Log;
use crate::wire::frame::Frame;
use crate::{ChannelNo, Position};

/// The frames for a receiver that has the channel's transactions up to `has` and is now sent the
/// log up to `until`. A receiver that has none is not told of a reset, because there is nothing
/// that it would have to forget.
pub(in crate::room) fn gaps(
    log: &Log,
    channel: ChannelNo,
    has: Position,
    until: Position,
) -> Vec<Frame<'static>> {
    let reset = log.last_reset(channel).min(until);
    let mut frames = Vec::new();
    if Position(0) < has && has < reset {
        frames.push(Frame::Reset { channel, position: reset });
        frames.push(Frame::Gap { channel, position: reset });
    }
    let position = log.trimmed(channel).min(until);
    if has.max(reset) < position {
        frames.push(Frame::Gap { channel, position });
    }
    frames
}
