/**
 * An application as a user of the package may write it: a list of things to do, with chat, votes,
 * presence and pointers.
 */

import { awareness, transaction, type Channel, type Message, type Room } from "../../../src/index.js";

export interface Person {
  readonly name: string;
}

export interface Todo {
  readonly id: string;
  readonly text: string;
  readonly done: boolean;
}

/** An operation. Its id tells whether it is there already when somebody sends it once more. */
type Operation = { readonly id: string } & (
  | { readonly kind: "add"; readonly text: string }
  | { readonly kind: "done" | "remove"; readonly todo: string }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "vote"; readonly choice: string }
);

/** An operation before it has an id. */
type Wish = Operation extends infer One ? (One extends Operation ? Omit<One, "id"> : never) : never;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export class Board {
  readonly #room: Room<Person>;
  readonly #random: () => number;
  readonly #channel: Channel;
  readonly #pointers: Channel;
  /** The operations in the room's order. A map keeps the order of the first insertion. */
  #operations = new Map<string, Operation>();
  readonly #points = new Map<number, Point>();
  /** How often a pointer of somebody else was drawn. */
  drawn = 0;

  /** `random` makes ids. */
  constructor(room: Room<Person>, random: () => number = Math.random) {
    this.#room = room;
    this.#random = random;
    this.#channel = room.channel("board", transaction());
    this.#pointers = room.channel("pointers", awareness({ maxRate: 25 }));
    this.#channel.on("message", (message) => this.#apply(message.json<Operation>()));
    this.#pointers.on("message", (message) => this.#point(message));
    room.provideSnapshot(() => JSON.stringify([...this.#operations.values()]), {
      part: "board",
      channels: [this.#channel],
    });
    room.on("snapshot", ({ data }) => {
      this.#operations = new Map();
      for (const operation of JSON.parse(new TextDecoder().decode(data)) as Operation[]) this.#apply(operation);
    });
    room.on("gap", ({ reason }) => reason === "incarnation" && this.#restore());
    room.on("participants", (others) => {
      for (const id of this.#points.keys()) if (!others.has(id)) this.#points.delete(id);
    });
    // A real application shows them.
    room.on("error", () => {});
  }

  get todos(): Todo[] {
    const todos = new Map<string, Todo>();
    for (const operation of this.#operations.values()) {
      if (operation.kind === "add") todos.set(operation.id, { id: operation.id, text: operation.text, done: false });
      if (operation.kind === "remove") todos.delete(operation.todo);
      const todo = operation.kind === "done" ? todos.get(operation.todo) : undefined;
      if (todo) todos.set(todo.id, { ...todo, done: true });
    }
    return [...todos.values()];
  }

  get chat(): string[] {
    return [...this.#operations.values()].flatMap((one) => (one.kind === "say" ? [one.text] : []));
  }

  get label(): string {
    if (this.#room.status !== "connected") return "Offline";
    if (this.#room.pending > 0) return "Saving…";
    return this.#room.durability === "memory" ? "Sent" : "Saved";
  }

  get names(): string[] {
    return [...this.#room.participants.values()].map(
      ({ presence, away }) => `${presence?.name ?? "somebody"}${away ? " (away)" : ""}`,
    );
  }

  get points(): Point[] {
    return [...this.#points.values()];
  }

  votes(choice: string): number {
    return [...this.#operations.values()].filter((one) => one.kind === "vote" && one.choice === choice).length;
  }

  add(text: string): void {
    this.#send({ kind: "add", text });
  }

  done(todo: Todo): void {
    this.#send({ kind: "done", todo: todo.id });
  }

  remove(todo: Todo): void {
    this.#send({ kind: "remove", todo: todo.id });
  }

  say(text: string): void {
    this.#send({ kind: "say", text });
  }

  vote(choice: string): void {
    this.#send({ kind: "vote", choice });
  }

  rename(name: string): void {
    this.#room.setPresence({ name });
  }

  move(point: Point): void {
    this.#pointers.send(point);
  }

  #send(wish: Wish): void {
    const id = Math.floor(this.#random() * 2 ** 48).toString(36);
    this.#channel.send({ ...wish, id });
  }

  #apply(operation: Operation): void {
    if (!this.#operations.has(operation.id)) this.#operations.set(operation.id, operation);
  }

  /**
   * The server has lost the room: everybody sends what they have, and each operation counts once.
   */
  #restore(): void {
    const kept = [...this.#operations.values()];
    this.#operations = new Map();
    for (const operation of kept) this.#channel.send(operation);
  }

  #point(message: Message): void {
    this.#points.set(message.sender, message.json<Point>());
    this.drawn += 1;
  }
}
