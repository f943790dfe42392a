/** The participants, one's own name, and the button that shares the room's link. */

import type { Room } from "groupwire";
import type { Avatars } from "groupwire-widgets/avatars";
import { isRecord } from "../parse";
import { colorOf } from "../view/theme";
import { button, make, part } from "./dom";
import { toast } from "./toast";

/** A longer name does not fit on a cursor. Names of others are cut to this length. */
export const NAME_LENGTH = 30;

/** What this control needs of the session. */
export interface Company {
  readonly room: Room;
  rename(name: string): void;
  /** Moves the view to a participant's pointer. */
  visit(id: number): void;
}

/** The name in a presence, which another program wrote and which may be any JSON. */
export function nameIn(presence: unknown): string {
  const name = isRecord(presence) ? presence.name : undefined;
  return typeof name === "string" && name.trim() !== "" ? name.slice(0, NAME_LENGTH) : "Guest";
}

/**
 * How many others are shown in a window up to this wide (px). Further ones are a number that shows
 * them.
 */
const SHOWN: readonly (readonly [width: number, people: number])[] = [
  [560, 1],
  [900, 4],
  [Infinity, 7],
];

const STORED = "groupwire-name";

export class People {
  /** Defined once somebody else is in the room: see `others.ts`. */
  private readonly others: Avatars = document.createElement("gw-avatars");
  private readonly me = make("button", "me");
  private readonly form = make("form", "rename card");
  private readonly input = make("input", "");

  constructor(
    private readonly company: Company,
    /** The label of the share button, and the note after the link was copied. */
    words: { readonly share: string; readonly shared: string },
  ) {
    this.others.room = company.room;
    this.others.toggleAttribute("hide-self", true);
    this.others.texts = { follow: (name) => `Go to ${name}` };
    this.others.addEventListener("gw-follow", (event) => {
      event.preventDefault();
      if (event.detail.id !== undefined) company.visit(event.detail.id);
    });
    this.buildRename();
    const share = button({ icon: "share", label: words.share, testid: "share", onPress: () => copyLink(words.shared) });
    share.classList.add("share");
    // The accessible name contains the visible text, so that speech input can press the button
    // (WCAG 2.5.3).
    share.ariaLabel = `Share: ${words.share}`;
    share.append(make("span", "share-text", "Share"));
    part("people").append(this.others, this.me, share);
    document.body.append(this.form);
    // The own colour follows from the own id, which the server assigns.
    company.room.on("status", () => this.update());
    addEventListener("resize", () => this.fit());
    this.fit();
    this.update();
  }

  private fit(): void {
    this.others.setAttribute("max", String(SHOWN.find(([width]) => innerWidth <= width)?.[1]));
  }

  private update(): void {
    const name = storedName();
    this.me.textContent = initials(name);
    this.me.title = `You are ${name}. Press to change your name`;
    this.me.ariaLabel = `${this.me.textContent}: ${this.me.title}`;
    this.me.style.setProperty("--person", colorOf(this.company.room.self?.id ?? 0));
  }

  private buildRename(): void {
    this.me.type = "button";
    this.me.dataset.testid = "me";
    this.me.addEventListener("click", () => this.toggle(this.form.hidden !== false));
    this.form.hidden = true;
    this.input.maxLength = NAME_LENGTH;
    this.input.dataset.testid = "name";
    this.input.autocomplete = "off";
    const label = make("label", "", "Your name");
    label.append(this.input);
    const done = make("button", "primary", "Done");
    done.type = "submit";
    this.form.append(label, done);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.rename();
    });
    this.form.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.toggle(false);
    });
    document.addEventListener("pointerdown", ({ target }) => {
      const isInside = target instanceof Node && (this.form.contains(target) || this.me.contains(target));
      if (!isInside && !this.form.hidden) this.rename();
    });
  }

  private toggle(isOpen: boolean): void {
    this.form.hidden = !isOpen;
    if (!isOpen) return;
    this.input.value = storedName();
    this.input.select();
  }

  private rename(): void {
    const name = this.input.value.trim();
    this.toggle(false);
    if (name === "" || name === storedName()) return;
    store(name);
    this.company.rename(name);
    this.update();
  }
}

/**
 * The name from the last visit, or a new one. It is read once, so that another window can have
 * another name.
 */
export function storedName(): string {
  name ??= readName() ?? freshName();
  store(name);
  return name;
}
let name: string | undefined;

function readName(): string | undefined {
  try {
    return localStorage.getItem(STORED) || undefined;
  } catch {
    // If storage is forbidden, the name lives as long as the page.
    return undefined;
  }
}

function store(chosen: string): void {
  name = chosen;
  try {
    localStorage.setItem(STORED, chosen);
  } catch {
    // If storage is forbidden, the name lives as long as the page.
  }
}

const FIRST = ["Calm", "Brave", "Quick", "Kind", "Bright", "Gentle", "Merry", "Clever", "Sunny", "Keen"];
const SECOND = ["Otter", "Heron", "Lynx", "Robin", "Badger", "Dolphin", "Falcon", "Hare", "Wren", "Fox"];

function freshName(): string {
  const [a = 0, b = 0] = crypto.getRandomValues(new Uint8Array(2));
  return `${FIRST[a % FIRST.length]} ${SECOND[b % SECOND.length]}`;
}

export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase() || "?";
}

async function copyLink(shared: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    toast(`Link copied. ${shared}`);
  } catch {
    // Without https the clipboard is not available.
    prompt("The link:", location.href);
  }
}
