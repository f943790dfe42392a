/**
 * One room: its people, its channels with the newest messages, and what an administrator can do to
 * them.
 */

import { button, dot, h, say } from "../shared/dom.js";
import { download, type Actions } from "./actions.js";
import { PublishForm } from "./publish.js";
import type { Channel, Contents, Message, Person, RoomLine } from "./requests.js";
import { SnapshotsView } from "./snapshots.js";
import { Table } from "./table.js";
import { age, size } from "./units.js";

/** Most characters of a message in the list. */
const MOST_SHOWN = 400;

export interface RoomActions extends Actions {
  readonly inspect: (room: string) => string;
  readonly back: () => void;
}

export class RoomView {
  readonly element = h("div", "room-view");
  private readonly name = h("h2");
  private readonly facts = h("p", "lead");
  private readonly inspect = h("a", "quiet", "Inspect packets");
  private readonly remove: HTMLButtonElement;
  private readonly save: HTMLButtonElement;
  private readonly people: Table<Person>;
  private readonly channels: Table<Channel>;
  private readonly contents = h("section", "card contents");
  private readonly transactions: Table<Message>;
  private readonly values: Table<Message>;
  private readonly contentsTitle = h("h2");
  private readonly contentsFacts = h("p", "lead");
  private readonly publish: PublishForm;
  private readonly snapshots: SnapshotsView;
  private room = "";
  private channel: string | undefined;

  constructor(private readonly actions: RoomActions) {
    this.remove = button("danger", "Delete room…", () => void this.deleteRoom());
    this.remove.dataset.testid = "delete";
    this.save = button("quiet", "Export", () => void this.export());
    this.save.dataset.testid = "export";
    this.publish = new PublishForm(actions);
    this.snapshots = new SnapshotsView(actions);
    this.inspect.dataset.testid = "inspect";
    const back = button("quiet", "← Rooms", actions.back);
    back.dataset.testid = "back";
    this.people = new Table<Person>("People", this.personColumns(), ({ participant, state, transport, user }) =>
      [participant, state, transport, user].join(" "),
    );
    this.channels = new Table<Channel>("Channels", this.channelColumns(), ({ id }) => String(id));
    this.transactions = new Table<Message>("Newest transactions", messageColumns("Position"), keyOf);
    this.values = new Table<Message>("Newest values", messageColumns("Key"), keyOf);
    this.people.element.dataset.testid = "people";
    this.channels.element.dataset.testid = "channels";
    this.contents.dataset.testid = "contents";
    const close = button("quiet", "Close", () => this.open(undefined));
    this.contents.append(
      h("div", "head", this.contentsTitle, close),
      this.contentsFacts,
      this.transactions.element,
      this.values.element,
      this.publish.element,
    );
    const head = h("div", "head", back, this.name, this.inspect, this.save, this.remove);
    const people = h("section", "card", h("h2", "", "People"), this.people.element);
    const channels = h("section", "card", h("h2", "", "Channels"), this.channels.element);
    this.element.append(head, this.facts, h("div", "columns", people, channels), this.contents, this.snapshots.element);
    this.open(undefined);
  }

  /** Shows another room. */
  enter(room: string): void {
    if (room === this.room) return;
    this.room = room;
    this.open(undefined);
    this.people.show([], "");
    this.channels.show([], "");
    say(this.name, room);
    say(this.facts, "");
    this.inspect.href = this.actions.inspect(room);
  }

  /** Asks the server for everything that is shown. */
  async poll(line: RoomLine | undefined): Promise<void> {
    const { requests } = this.actions;
    const room = this.room;
    const isStored = line !== undefined && line.stored_bytes !== null;
    for (const one of [this.remove, this.save, this.snapshots.element]) one.hidden = !isStored;
    say(this.facts, describe(line));
    if (!line) {
      this.people.show([], "Nobody is here.");
      return;
    }
    // A closed room is not opened only because somebody looks at the list of its people.
    const people = line.is_open ? await requests.people(room) : [];
    const channels = await requests.channels(room);
    if (isStored) await this.snapshots.poll(room);
    if (room !== this.room) return;
    this.people.show(people, "Nobody is here.");
    this.channels.show(channels, "Nobody has opened a channel.");
    if (this.channel === undefined) return;
    const contents = await requests.contents(room, this.channel);
    if (room === this.room && contents.name === this.channel) this.showContents(contents);
  }

  private open(channel: string | undefined): void {
    this.channel = channel;
    this.contents.hidden = channel === undefined;
    say(this.contentsTitle, channel ?? "");
    say(this.contentsFacts, "");
    this.transactions.show([], "");
    this.values.show([], "");
    this.publish.hide();
    if (channel === undefined) return;
    const { requests, attempt } = this.actions;
    void attempt(requests.contents(this.room, channel)).then((contents) => {
      if (contents?.name !== this.channel || !contents) return;
      this.showContents(contents);
      this.contents.scrollIntoView({ block: "nearest" });
    });
  }

  private showContents(contents: Contents): void {
    this.publish.show(this.room, contents);
    const { part, reset } = contents;
    const facts = [
      part && `A part of the snapshot stands for its transactions up to ${part.as_of} (${size(part.bytes)})`,
      reset !== null && `Reset at position ${reset}`,
    ];
    say(this.contentsFacts, facts.filter(Boolean).join(" · "));
    const isTransaction = contents.kind === "transaction";
    this.transactions.element.hidden = !isTransaction;
    this.values.element.hidden = isTransaction;
    this.transactions.show(contents.newest_transactions, "No transaction is in memory.");
    this.values.show(contents.newest_values, "There is no value.");
  }

  private personColumns() {
    return [
      {
        title: "Participant",
        cell: ({ participant, user }: Person) => h("span", "", dot(participant), user ?? `No ${participant}`),
      },
      { title: "State", cell: ({ state }: Person) => state },
      { title: "Transport", isMinor: true, cell: ({ transport }: Person) => transport ?? "–" },
      { title: "", cell: (person: Person) => this.personActions(person) },
    ];
  }

  private personActions(person: Person): HTMLElement {
    const { participant, user, state } = person;
    const whom = user ?? `participant ${participant}`;
    const kick = button("small", "Kick…", () => void this.kick(participant, whom));
    const ban = button("small", "Ban…", () => void this.ban(participant, whom));
    kick.ariaLabel = `Kick ${whom}`;
    ban.ariaLabel = `Ban ${whom}`;
    kick.hidden = state === "away";
    ban.disabled = user === null;
    if (user === null) ban.title = "Only users whose identity is verified, by a token or a hook, can be banned";
    return h("span", "row-actions", kick, ban);
  }

  private channelColumns() {
    return [
      {
        title: "Channel",
        cell: ({ name }: Channel) => {
          const open = button("link", name, () => this.open(name));
          open.title = "Show the newest messages";
          return open;
        },
      },
      { title: "Kind", isMinor: true, cell: ({ kind }: Channel) => kind },
      { title: "Receivers", isNumber: true, isMinor: true, cell: ({ receivers }: Channel) => String(receivers) },
      {
        title: "In memory",
        isNumber: true,
        cell: (channel: Channel) => {
          const count = channel.transactions + channel.values;
          return `${count} (${size(channel.transaction_bytes + channel.value_bytes)})`;
        },
      },
      {
        title: "",
        cell: ({ name }: Channel) => {
          const reset = button("small", "Reset…", () => void this.reset(name));
          reset.ariaLabel = `Reset ${name}`;
          return h("span", "row-actions", reset);
        },
      },
    ];
  }

  private async kick(participant: number, whom: string): Promise<void> {
    const text = "The connection is closed, and the client does not come back by itself. The user can join again.";
    const { requests, ask, attempt } = this.actions;
    if (!(await ask({ title: `Kick ${whom}?`, text, action: "Kick" }))) return;
    await attempt(requests.kick(this.room, participant, undefined), `Kicked ${whom}.`);
  }

  private async ban(participant: number, whom: string): Promise<void> {
    const text = "The user is kept out of this room until the ban is removed, under Bans.";
    const { requests, ask, attempt } = this.actions;
    if (!(await ask({ title: `Ban ${whom}?`, text, action: "Ban" }))) return;
    await attempt(requests.kick(this.room, participant, "forever"), `Banned ${whom} from this room.`);
  }

  private async reset(channel: string): Promise<void> {
    const text = `Everything that the channel “${channel}” holds is dropped, for everybody in the room.`;
    const { requests, ask, attempt } = this.actions;
    if (!(await ask({ title: `Reset ${channel}?`, text, action: "Reset", name: this.room }))) return;
    await attempt(requests.reset(this.room, [channel]), `The channel “${channel}” is reset.`);
  }

  private async export(): Promise<void> {
    const { requests, attempt } = this.actions;
    const room = this.room;
    const file = await attempt(requests.exported(room));
    if (file) download(file, `${room.replace(/[^\p{L}\p{N}._-]+/gu, "-")}.groupwire`);
  }

  private async deleteRoom(): Promise<void> {
    const text = "All that is stored of the room is deleted. Its participants come back to an empty room.";
    const { requests, ask, attempt, back } = this.actions;
    const room = this.room;
    if (!(await ask({ title: "Delete this room?", text, action: "Delete", name: room }))) return;
    const isDone = attempt(
      requests.remove(room).then(() => true),
      `The room “${room}” is deleted.`,
    );
    if (await isDone) back();
  }
}

function describe(line: RoomLine | undefined): string {
  if (!line) return "This room is neither open nor stored.";
  const stored = line.stored_bytes === null ? "not stored" : `${size(line.stored_bytes)} stored`;
  const people = line.participants === 1 ? "1 participant" : `${line.participants} participants`;
  return `${line.is_open ? "Open" : "Closed"} · ${people} · ${stored}`;
}

function messageColumns(first: "Position" | "Key") {
  return [
    {
      title: first,
      cell: (message: Message) =>
        first === "Position" ? String(message.position ?? "") : (message.key ?? message.key_base64 ?? "–"),
    },
    { title: "Sender", cell: ({ sender }: Message) => (sender === 0 ? "the room" : `No ${sender}`) },
    { title: "Age", isNumber: true, cell: ({ age_ms }: Message) => age(age_ms) },
    { title: "Size", isNumber: true, cell: ({ size: bytes }: Message) => size(bytes) },
    { title: "Content", cell: (message: Message) => h("code", "content", shown(message)) },
  ];
}

function keyOf({ position, order }: Message): string {
  return `${position ?? ""} ${order ?? ""}`;
}

function shown({ json, text, base64, truncated }: Message): string {
  const whole = json === undefined ? (text ?? `base64 ${base64 ?? ""}`) : JSON.stringify(json);
  return whole.length > MOST_SHOWN || truncated ? `${whole.slice(0, MOST_SHOWN)}…` : whole;
}
