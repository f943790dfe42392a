/** Names and colours of participants, and which participants are one person. */

import type { Participant, Room } from "groupwire";
import { colorOf } from "./colors.js";
import { settings } from "./settings.js";

export interface Person {
  readonly name: string;
  /** A colour of CSS. */
  readonly color: string;
  /**
   * Participants with the same key are one person: a user with several pages open. Undefined: each
   * is another one.
   */
  readonly key: string | undefined;
  /** The address of a picture. */
  readonly picture?: string | undefined;
}

/** Tells who a participant is. The presence may be anything: other programs wrote it. */
export type PersonOf = (participant: Participant<any>) => Partial<Person>;

/** A person in the room. */
export interface Shown extends Person {
  /** The lowest id of the person's participants that are not away. */
  readonly id: number;
  /** The ids of all participants that are this person. */
  readonly ids: readonly number[];
  /** True if the connections of all of them are broken. */
  readonly isAway: boolean;
  readonly isSelf: boolean;
  readonly key: string;
  /** True for a program that says that it is an AI agent: `agent: true` in its presence. */
  readonly isAgent: boolean;
  /** The user that the server has verified. */
  readonly user: string | undefined;
}

/** Longer names are cut. */
const NAME_LENGTH = 40;

/** The people in a room: this participant's first, then the others by their ids. */
export function peopleIn(room: Room<any>, guest: string): Shown[] {
  const groups = new Map<string, Participant[]>();
  const { self } = room;
  for (const participant of [...(self ? [self] : []), ...room.participants.values()]) {
    const key = keyOf(participant);
    groups.set(key, [...(groups.get(key) ?? []), participant]);
  }
  const people = [...groups].map(([key, group]) => shownOf(group, key, self?.id, guest));
  return people.sort((a, b) => Number(b.isSelf) - Number(a.isSelf) || a.id - b.id);
}

/** The people of {@link peopleIn} by the ids of participants. */
export function byParticipant(people: readonly Shown[]): Map<number, Shown> {
  return new Map(people.flatMap((person) => person.ids.map((id) => [id, person] as const)));
}

/** Where a person is shown as two letters. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase() || "?";
}

function shownOf(group: readonly Participant[], key: string, self: number | undefined, guest: string): Shown {
  const ids = group.map(({ id }) => id).sort((a, b) => a - b);
  const here = group.filter(({ away }) => !away);
  const one = here[0] ?? (group[0] as Participant);
  const { name, color, picture } = personOf(one);
  return {
    name: name ?? guest,
    color: color ?? colorOf(ids[0] ?? 0),
    key,
    picture,
    id: one.id,
    ids,
    isAway: here.length === 0,
    isSelf: self !== undefined && ids.includes(self),
    isAgent: isAgent(one),
    user: group.find(({ user }) => user !== undefined)?.user,
  };
}

/**
 * The key of a person. A key from a verified user never equals a key from a presence, and an agent
 * is never one person with somebody else, so that a user whose token it has cannot hide it.
 */
function keyOf(participant: Participant): string {
  const { id, user, presence } = participant;
  const own = settings().person?.(participant).key;
  if (own !== undefined) return `own ${own}`;
  const kind = isAgent(participant) ? "agent " : "";
  if (user !== undefined) return `${kind}user ${user}`;
  const said = field(presence, "user");
  return said === undefined ? `id ${id}` : `${kind}said ${said}`;
}

function personOf(participant: Participant): Partial<Person> {
  const { presence } = participant;
  const name = field(presence, "name")?.trim().slice(0, NAME_LENGTH);
  const color = field(presence, "color");
  return {
    ...(name ? { name } : {}),
    ...(color !== undefined && isColor(color) ? { color } : {}),
    ...settings().person?.(participant),
  };
}

/** True if a participant says that it is an AI agent. */
function isAgent({ presence }: Participant): boolean {
  return (
    typeof presence === "object" &&
    presence !== null &&
    Object.hasOwn(presence, "agent") &&
    Reflect.get(presence, "agent") === true
  );
}

/** A text in a presence. */
function field(presence: unknown, name: string): string | undefined {
  if (typeof presence !== "object" || presence === null || !Object.hasOwn(presence, name)) return undefined;
  const value: unknown = Reflect.get(presence, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * True for a colour that another program may choose: nothing that refers to other values of the
 * page.
 */
function isColor(text: string): boolean {
  const isForm = /^(#[\da-f]{3,8}|[a-z]{3,20}|(rgb|hsl|hwb|lab|lch|oklab|oklch)a?\([\d\s.,%/a-z-]{1,40}\))$/i.test(
    text,
  );
  return isForm && (globalThis.CSS?.supports?.("color", text) ?? true);
}
