/**
 * Voice: participants of a room hear each other. Opus by the browser's WebCodecs, over a channel of
 * the room, so that it needs no other server and no other connection.
 *
 * @packageDocumentation
 */

import type { Room } from "./api.js";
import type { Voice, VoiceOptions } from "./voice/api.js";
import { Conversation } from "./voice/conversation.js";
import { ROOM } from "./voice/options.js";

export type {
  Voice,
  VoiceCode,
  VoiceError,
  VoiceEvents,
  VoiceMode,
  VoiceOptions,
  VoicePath,
  VoicePerson,
  VoicePresence,
  VoiceReceived,
  VoiceSent,
  VoiceState,
  VoiceStats,
} from "./voice/api.js";
export { voiceChannel } from "./voice/options.js";

/**
 * Joins the conversation of a room. Returns at once; the browser asks the user for the microphone.
 * What does not work is told by the event `error`, and what else works goes on.
 *
 * @example
 * ```ts
 * const voice = joinVoice(room);
 * voice.on("error", ({ code, message }) => show(code, message));
 * voice.subscribe(({ people }) => showSpeakers(people.filter(({ speaking }) => speaking)));
 * ```
 */
export function joinVoice<P>(room: Room<P>, options: VoiceOptions = {}): Voice {
  ROOM(room, "`room` of `joinVoice`");
  return new Conversation(room as Room<unknown>, options);
}
