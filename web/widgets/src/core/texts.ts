/**
 * The English texts of the widgets. An application replaces them by `configure({ texts })`, or for
 * one element by its property `texts`.
 */

import type { Problem, TransportName } from "groupwire";
import { TRANSPORT_LABELS } from "./transports.js";

/** The name of a participant without a name. */
const GUEST = { guest: "Guest" };

/** The name of an AI agent, for assistive technology and where there is no badge. */
const AGENT = { agent: (name: string): string => `${name} (AI agent)` };

export const AVATARS = {
  ...GUEST,
  ...AGENT,
  people: "Who is here",
  you: (name: string): string => `${name} (you)`,
  signedIn: (name: string, user: string): string => `${name}, signed in as ${user}`,
  follow: (name: string): string => `Follow ${name}`,
  away: (name: string): string => `${name} (connection lost)`,
  idle: (name: string): string => `${name} (idle)`,
  more: (count: number): string => `+${count}: show more`,
  fewer: "Show fewer",
};
export type AvatarTexts = typeof AVATARS;

export const CURSORS = {
  ...GUEST,
  ...AGENT,
  says: (name: string, text: string): string => `${name}: ${text}`,
  chat: "Message at your pointer",
  chatHint: "Say something",
};
export type CursorTexts = typeof CURSORS;

/** The problems of a connection in a few words. The sentence of the room says more. */
const PROBLEMS: Readonly<Record<Problem["code"], string>> = {
  offline: "Offline",
  unreachable: "Server unreachable",
  "not-groupwire": "Cannot connect",
  origin: "Cannot connect",
  tls: "Cannot connect",
  "mixed-content": "Cannot connect",
  blocked: "The connection is blocked",
};

export const STATUS = {
  /** In place of `connecting` and `reconnecting` once it is known what is wrong. */
  problem: ({ code }: Problem, wasConnected: boolean): string =>
    wasConnected ? `${PROBLEMS[code]}. Your changes are kept.` : PROBLEMS[code],
  connecting: "Connecting…",
  connected: "Connected",
  reconnecting: "Reconnecting. Your changes are kept.",
  closed: "Disconnected",
  sending: "Sending…",
  saving: "Saving…",
  saved: "Saved",
  noTransport: "Not connected. It is tried again by itself.",
  unsaved: (count: number): string =>
    count === 1 ? "1 change is not confirmed" : `${count} changes are not confirmed`,
  nothingUnsaved: "All changes are confirmed",
  transport: (name: TransportName): string => TRANSPORT_LABELS[name],
  why: (sentence: string): string => sentence,
};
export type StatusTexts = typeof STATUS;

/** "Ada", "Ada and Bo", "Ada, Bo and Cy". */
function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

export const FOLLOW = {
  ...GUEST,
  following: (name: string): string => `Following ${name}`,
  stopped: (name: string): string => `No longer following ${name}`,
  stop: "Stop",
  followed: (names: readonly string[]): string => `${list(names)} ${names.length > 1 ? "follow" : "follows"} you`,
};
export type FollowTexts = typeof FOLLOW;

export const SELECTION = {
  ...GUEST,
  selections: "Selected by others",
  selected: (name: string, what: string): string => `${name}: ${what}`,
};
export type SelectionTexts = typeof SELECTION;

export const TYPING = {
  ...GUEST,
  typing: (names: readonly string[]): string =>
    names.length > 3
      ? "Several people are typing"
      : names.length > 0
        ? `${list(names)} ${names.length > 1 ? "are" : "is"} typing`
        : "",
};
export type TypingTexts = typeof TYPING;

export const MINIMAP = {
  ...GUEST,
  overview: "Overview. Arrow keys move the view",
};
export type MinimapTexts = typeof MINIMAP;

export const LOCK = {
  ...GUEST,
  take: "Edit",
  asking: "Asking…",
  release: "Done",
  taken: (name: string): string => `${name} is editing`,
  mine: "You are editing",
  free: "Nobody is editing",
};
export type LockTexts = typeof LOCK;

export const VOICE = {
  ...GUEST,
  joinVoice: "Join the conversation",
  joiningVoice: "Joining…",
  leaveVoice: "Leave",
  mute: "Mute",
  unmute: "Unmute",
  askingMicrophone: "Waiting for the microphone…",
  holdToTalk: "Hold to talk",
  hear: "Hear the others",
  tryMicrophone: "Try the microphone again",
  microphone: "Microphone",
  anyMicrophone: "The browser's choice",
  inVoice: (count: number): string => (count === 1 ? "Only you" : `${count} people`),
  speakers: (names: readonly string[]): string => (names.length > 2 ? `${names.length} people speak` : list(names)),
  speaking: "speaks",
  isMuted: "muted",
  volumeOf: (name: string): string => `Volume of ${name}`,
  voiceProblem: (sentence: string): string => sentence,
};
export type VoiceTexts = typeof VOICE;

/** The texts of all widgets. */
export interface Texts
  extends
    AvatarTexts,
    CursorTexts,
    StatusTexts,
    FollowTexts,
    SelectionTexts,
    TypingTexts,
    MinimapTexts,
    LockTexts,
    VoiceTexts {}
