/** The participants, one's own name, and the button that shares the room's link. */

import { isRecord } from "../parse";
import { colorOf } from "../view/theme";
import { button, make, part } from "./dom";
import { toast } from "./toast";

/** A longer name does not fit on a telepointer. Names of others are cut to this length. */
export const NAME_LENGTH = 30;

/** What this control needs from the session, and the actions that it calls. */
export interface Company {
  readonly self: { readonly id: number } | undefined;
  /** The other participants. */
  readonly participants: ReadonlyMap<number, Listed>;
  nameOf(id: number): string;
  /** Moves the view to a participant's pointer. */
  visit(id: number): void;
  rename(name: string): void;
}

/** One of the other participants. */
interface Listed {
  readonly id: number;
  readonly away: boolean;
  /** The user that the server verified. */
  readonly user?: string;
}

/** The name in a presence, which another program wrote and which may be any JSON. */
export function nameIn(presence: unknown): string {
  const name = isRecord(presence) ? presence.name : undefined;
  return typeof name === "string" && name.trim() !== "" ? name.slice(0, NAME_LENGTH) : "Guest";
}

/** The number of faces that fit into a window up to this wide (px). Further participants are shown as a number. */
const FACES: readonly (readonly [width: number, faces: number])[] = [
  [560, 3],
  [900, 5],
  [Infinity, 8],
];

const STORED = "groupwire-name";

export class People {
  private readonly faces = make("div", "faces");
  private readonly me = make("button", "face me");
  private readonly form = make("form", "rename card");
  private readonly input = make("input", "");

  constructor(
    private readonly company: Company,
    /** The label of the share button, and the note after the link was copied. */
    words: { readonly share: string; readonly shared: string },
  ) {
    this.faces.role = "group";
    this.faces.ariaLabel = "Who is here";
    this.faces.dataset.testid = "participants";
    this.buildRename();
    const share = button({ icon: "share", label: words.share, testid: "share", onPress: () => copyLink(words.shared) });
    share.classList.add("share");
    share.append(make("span", "share-text", "Share"));
    part("people").append(this.faces, this.me, share);
    document.body.append(this.form);
    this.update();
  }

  update(): void {
    const others = [...this.company.participants.values()];
    const room = FACES.find(([width]) => innerWidth <= width)?.[1] ?? 0;
    const shown = others.slice(0, others.length > room ? room - 1 : room);
    this.faces.replaceChildren(...shown.map((one) => this.face(one)));
    const rest = others.slice(shown.length);
    if (rest.length > 0) {
      const more = make("span", "face more", `+${rest.length}`);
      more.title = rest.map((one) => this.title(one)).join(", ");
      this.faces.append(more);
    }
    const name = storedName();
    this.me.textContent = initials(name);
    this.me.title = `You are ${name}. Press to change your name`;
    this.me.ariaLabel = this.me.title;
    this.me.style.setProperty("--person", colorOf(this.company.self?.id ?? 0));
  }

  /** The name that a participant gave itself, and the user that the server says it is. */
  private title({ id, user }: Listed): string {
    const name = this.company.nameOf(id);
    return user === undefined ? name : `${name} (signed in as ${user})`;
  }

  private face(one: Listed): HTMLElement {
    const { id, away, user } = one;
    const title = this.title(one);
    const face = make("button", "face", initials(this.company.nameOf(id)));
    face.type = "button";
    face.title = away ? `${title} has lost the connection` : `${title}: press to go where they are`;
    face.classList.toggle("verified", user !== undefined);
    face.ariaLabel = face.title;
    face.classList.toggle("away", away);
    face.dataset.testid = "participant";
    face.style.setProperty("--person", colorOf(id));
    face.addEventListener("click", () => this.company.visit(id));
    return face;
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

/** The name from the last visit, or a new one. It is read once, so that another window can have another name. */
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
