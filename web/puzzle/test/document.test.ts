import { describe, expect, test } from "vitest";
import { pick, seeded } from "../../common/random";
import { Document } from "../src/model/document";
import { parseOperation, type Operation } from "../src/model/operations";
import { home, pieceCount } from "../src/model/spec";

interface Loss {
  readonly piece: number;
  readonly holder: string | undefined;
}

/** A room that puts operations into an order, in which all members receive them at different times. */
class Room {
  readonly members: Member[] = [];
  log: Operation[] = [];

  join(): Member {
    const member = new Member(this, `window${this.members.length}`);
    this.members.push(member);
    return member;
  }

  /** Orders the oldest operation that a member has sent. */
  order(member: Member): void {
    const operation = member.outbox.shift();
    if (!operation) return;
    const arrived = parseOperation(JSON.parse(JSON.stringify(operation)));
    if (!arrived) throw new Error("an own operation was not understood");
    this.log.push(arrived);
  }

  settle(): void {
    for (const member of this.members) while (member.outbox.length > 0) this.order(member);
    for (const member of this.members) while (member.hear());
  }
}

class Member {
  readonly outbox: Operation[] = [];
  readonly losses: Loss[] = [];
  readonly document: Document;
  private heard: number;

  constructor(
    private readonly room: Room,
    by: string,
  ) {
    this.document = new Document("test", (operation) => this.outbox.push(operation), by);
    this.document.onChanged({ changed: () => {}, lost: (piece, holder) => this.losses.push({ piece, holder }) });
    this.heard = 0;
  }

  hear(): boolean {
    const operation = this.room.log[this.heard];
    if (!operation) return false;
    this.heard++;
    this.document.deliver(operation);
    return true;
  }

  /** Joins late with the snapshot of another member. */
  copy(other: Member): void {
    this.document.replace(other.document.snapshot());
    this.heard = other.heard;
  }
}

describe("a document", () => {
  test("shows own moves at once, and moves of others when they are ordered", () => {
    const room = new Room();
    const [a, b] = [room.join(), room.join()];
    expect(a.document.grab(3)).toBe(true);
    a.document.drop(70, 80);
    expect(a.document.state.group(3)).toMatchObject({ x: 70, y: 80 });
    expect(a.document.waiting).toBe(2);
    room.settle();
    expect(b.document.state.group(3)).toMatchObject({ x: 70, y: 80 });
    expect(a.document.waiting).toBe(0);
    expect(a.losses).toEqual([]);
  });

  test("the second grab in the order loses the piece, and its window learns who holds it", () => {
    const room = new Room();
    const [a, b] = [room.join(), room.join()];
    a.document.grab(3);
    b.document.grab(3);
    expect(b.document.holding).toBe(3);
    room.settle();
    expect(a.losses).toEqual([]);
    expect(b.losses).toEqual([{ piece: 3, holder: "window0" }]);
    expect(b.document.holding).toBeUndefined();
    // Dropping a piece that the window does not hold has no effect.
    b.document.drop(1, 1);
    a.document.drop(5, 5);
    room.settle();
    expect(b.document.state.group(3)).toMatchObject({ x: 5, y: 5, holder: undefined });
  });

  test("a pending drop is discarded when another window's grab was first", () => {
    const room = new Room();
    const [a, b] = [room.join(), room.join()];
    a.document.grab(3);
    b.document.grab(3);
    b.document.drop(900, 900);
    room.settle();
    expect(b.document.state.group(3)).toMatchObject({ holder: "window0" });
    expect(b.document.state.group(3).x).not.toBe(900);
  });

  test("a held piece cannot be grabbed; a new puzzle releases it", () => {
    const room = new Room();
    const [a, b] = [room.join(), room.join()];
    a.document.grab(3);
    room.settle();
    expect(b.document.grab(3)).toBe(false);
    b.document.perform({ start: { picture: "reef", seed: 1, columns: 8, rows: 6 } });
    room.settle();
    expect(a.losses).toEqual([{ piece: 3, holder: undefined }]);
    expect(pieceCount(a.document.state.spec)).toBe(48);
  });

  test("a restarted server gets the puzzle back, with the moves made meanwhile", () => {
    const room = new Room();
    const [a, b] = [room.join(), room.join()];
    a.document.grab(0);
    a.document.drop(10, 10);
    room.settle();
    for (const { document } of room.members) document.startRestore();
    b.document.grab(1);
    b.document.drop(20, 20);
    expect(b.document.state.group(0)).toMatchObject({ x: 10, y: 10 });
    b.outbox.length = 0;
    a.document.sendMissing();
    room.settle();
    for (const { document } of room.members) {
      expect(document.isMissing).toBe(false);
      document.endRestore();
      document.resend();
    }
    room.settle();
    expect(b.document.snapshot()).toBe(a.document.snapshot());
    expect(a.document.state.group(1)).toMatchObject({ x: 10, y: 10, pieces: [0, 1] });
  });
});

describe("convergence", () => {
  test.each(Array.from({ length: 80 }, (_, i) => i))("same order, same puzzle: seed %i", (seed) => {
    const random = seeded(seed);
    const room = new Room();
    for (let i = 0; i < 4; i++) room.join();
    for (let step = 0; step < 500; step++) {
      const member = pick(room.members, random);
      const dice = random();
      if (dice < 0.45) act(member, random);
      else if (dice < 0.7) room.order(member);
      else if (dice < 0.98) member.hear();
      else if (room.members.length < 7) room.join().copy(member);
    }
    room.settle();
    const [first] = room.members;
    for (const { document } of room.members) {
      expect(document.waiting).toBe(0);
      expect(document.snapshot()).toBe(first?.document.snapshot());
      expect(JSON.stringify(document.state.encode())).toBe(document.snapshot());
      // A window that believes to hold a piece is its only holder.
      const { holding } = document;
      if (holding !== undefined) expect(document.state.group(holding).holder).toBe(document.by);
    }
    const late = room.join();
    while (late.hear());
    expect(late.document.snapshot()).toBe(first?.document.snapshot());
  });
});

/** Performs a random action that a user could do. */
function act({ document }: Member, random: () => number): void {
  const { state, holding } = document;
  const count = pieceCount(state.spec);
  const dice = random();
  if (holding !== undefined) {
    if (dice < 0.5) return;
    // Often near the right place.
    const { x, y } = home(state.spec, 0);
    const [dx, dy] = [Math.round((random() - 0.5) * 60), Math.round((random() - 0.5) * 60)];
    document.drop(x + dx, y + dy);
  } else if (dice < 0.9) document.grab(Math.floor(random() * count));
  else if (dice < 0.97) document.perform({ free: pick(["window0", "window1", "window2"], random) });
  else if (dice < 0.98) {
    const seed = Math.floor(random() * 1000);
    document.perform({ start: { picture: "town", seed, columns: 2 + Math.floor(random() * 4), rows: 3 } });
  }
}
