/**
 * The messages of a room as a reducer, which every program applies in the room's order, and the
 * marks of who has seen what.
 */

/** A message as its sender's program makes it. */
export interface Draft {
  /** An id that no other message has. */
  readonly id: string;
  /** The id of the person who wrote it. */
  readonly person: string;
  readonly name: string;
  readonly text: string;
  /** When it was written, in milliseconds since 1970, by the sender's clock. */
  readonly at: number;
}

export interface Message extends Draft {
  /** Its place in the room's order, from 1. */
  readonly number: number;
}

export interface Log {
  /** The number of messages that there have been. */
  readonly count: number;
  /** The newest ones, in their order. */
  readonly messages: readonly Message[];
}

/** How far a person has read: up to the message with this number. */
export interface Mark {
  readonly name: string;
  readonly number: number;
}

export const EMPTY: Log = { count: 0, messages: [] };

/**
 * The messages that a room keeps. Older ones are dropped, so that newcomers load 100 KB or so at
 * most.
 */
export const KEPT = 500;

export const MAX_TEXT = 2000;
export const MAX_NAME = 40;

/**
 * The value if it is a log. Another program has sent the state to this newcomer, so it may be
 * anything.
 */
export function soundLog(value: unknown): Log {
  const { count, messages } = (value ?? {}) as Partial<Record<keyof Log, unknown>>;
  const isList = Array.isArray(messages) && messages.length <= KEPT;
  const isSound = isList && messages.every((one) => isDraft(one) && Number.isSafeInteger((one as Message).number));
  return isSound && Number.isSafeInteger(count) ? (value as Log) : EMPTY;
}

/**
 * The log after another message. What is no message has no effect: any program in the room may send
 * anything.
 */
export function append(before: Log, draft: unknown): Log {
  const log = soundLog(before);
  if (!isDraft(draft) || log.messages.some(({ id }) => id === draft.id)) return log;
  const { id, person, name, text, at } = draft;
  const message: Message = { id, person, name, text, at, number: log.count + 1 };
  return { count: message.number, messages: [...log.messages, message].slice(-KEPT) };
}

function isDraft(value: unknown): value is Draft {
  const { id, person, name, text, at } = (value ?? {}) as Partial<Record<keyof Draft, unknown>>;
  return (
    isText(id, MAX_NAME) &&
    isText(person, MAX_NAME) &&
    isText(name, MAX_NAME) &&
    isText(text, MAX_TEXT) &&
    typeof at === "number"
  );
}

export function isMark(value: unknown): value is Mark {
  const { name, number } = (value ?? {}) as Partial<Record<keyof Mark, unknown>>;
  return isText(name, MAX_NAME) && Number.isSafeInteger(number);
}

/**
 * For each message, the names of the people whose mark is at it. Left out are the own mark, and
 * marks at a person's own message.
 */
export function readersOf(
  messages: readonly Message[],
  marks: ReadonlyMap<string, Mark>,
  own: string,
): Map<number, string[]> {
  const readers = new Map<number, string[]>();
  for (const [person, mark] of marks) {
    if (person === own) continue;
    const seen = messages.findLast(({ number }) => number <= mark.number);
    if (!seen || seen.person === person) continue;
    readers.set(seen.number, [...(readers.get(seen.number) ?? []), mark.name]);
  }
  return readers;
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= most;
}
