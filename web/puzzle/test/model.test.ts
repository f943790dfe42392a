import { describe, expect, test } from "vitest";
import { cut, OVERHANG, scatter, type Curve, type Point } from "../src/model/cut";
import { parseMove, type Action, type Move } from "../src/model/moves";
import {
  cellOf,
  firstSpec,
  HEIGHT,
  home,
  neighbours,
  parseSpec,
  pieceCount,
  reach,
  SIZES,
  type Spec,
  WIDTH,
} from "../src/model/spec";
import { isSound, type Pieces, play, scattered, State } from "../src/model/state";

const spec: Spec = { picture: "hills", seed: 7, columns: 4, rows: 3 };
const all = SIZES.map(([columns, rows]) => ({ ...spec, columns, rows }));

class Game {
  pieces: Pieces;

  constructor(of: Spec = spec) {
    this.pieces = scattered(of);
  }

  get state(): State {
    return State.of(this.pieces);
  }

  do(by: string, action: Action, game = this.pieces.game): void {
    this.pieces = play(this.pieces, { game, ...action }, by);
  }

  move(by: string, piece: number, x: number, y: number): void {
    this.do(by, { grab: piece });
    this.do(by, { drop: piece, x, y });
  }
}

describe("cutting", () => {
  test.each(all)(
    "$columns by $rows pieces: neighbours share their edges, and all pieces together form the picture",
    (of) => {
      const outlines = cut(of);
      expect(outlines).toHaveLength(pieceCount(of));
      expect(cut(of)).toEqual(outlines);
      expect(cut({ ...of, seed: of.seed + 1 })).not.toEqual(outlines);
      const { w, h } = cellOf(of);
      const edges = outlines.map((outline) => segments(outline.from, outline.curves));
      outlines.forEach((outline, piece) => {
        const points = [outline.from, ...outline.curves.map(({ to }) => to)];
        expect(points.at(-1)).toEqual(outline.from);
        const at = home(of, piece);
        for (const { x, y } of points) {
          expect(x).toBeGreaterThanOrEqual(Math.max(at.x - OVERHANG * Math.max(w, h), 0) - 1e-9);
          expect(x).toBeLessThanOrEqual(Math.min(at.x + w + OVERHANG * Math.max(w, h), WIDTH) + 1e-9);
          expect(y).toBeLessThanOrEqual(Math.min(at.y + h + OVERHANG * Math.max(w, h), HEIGHT) + 1e-9);
        }
        // Each inner edge of a piece occurs in the neighbour in the opposite direction.
        const shared = neighbours(of, piece).flatMap((other) => edges[other] ?? []);
        const inner = (edges[piece] ?? []).filter((edge) => shared.includes(turned(edge)));
        expect(inner).toHaveLength(3 * neighbours(of, piece).length);
      });
    },
  );

  test.each(all)("$columns by $rows pieces do not overlap at first", (of) => {
    const places = scatter(of).map(({ x, y }, piece) => ({ x: x + home(of, piece).x, y: y + home(of, piece).y }));
    const { w, h } = cellOf(of);
    places.forEach((a, i) =>
      places.forEach((b, k) => {
        if (i < k) expect(Math.abs(a.x - b.x) >= w || Math.abs(a.y - b.y) >= h).toBe(true);
      }),
    );
    expect(scattered(of).groups).toHaveLength(pieceCount(of));
  });

  test("a room's first puzzle depends on its name only", () => {
    expect(firstSpec("demo")).toEqual(firstSpec("demo"));
    expect(firstSpec("demo").seed).not.toBe(firstSpec("demo2").seed);
    expect(parseSpec(firstSpec("demo"))).toEqual(firstSpec("demo"));
  });
});

describe("joining", () => {
  test("a piece dropped near its place beside another one snaps to it; further away it does not", () => {
    const game = new Game();
    const near = reach(spec);
    game.move("a", 0, 0, 0);
    game.move("a", 1, near + 1, 0);
    expect(game.state.group(1).pieces).toEqual([1]);
    game.move("a", 1, near, -near);
    expect(game.state.group(1)).toMatchObject({ x: 0, y: 0, pieces: [0, 1] });
    expect(game.state.group(0)).toBe(game.state.group(1));
    // The pieces are not neighbours, so they do not join.
    game.move("a", 11, 0, 0);
    expect(game.state.group(11).pieces).toEqual([11]);
    expect(game.state.joins.get("a")).toBe(1);
    expect(game.state.progress).toBeCloseTo(1 / 11);
  });

  test("groups move as one, and one piece can join several", () => {
    const game = new Game();
    game.move("a", 0, 0, 0);
    game.move("a", 1, 3, 3);
    game.move("a", 3, 0, 0);
    expect(game.state.group(3).pieces).toEqual([3]);
    game.move("a", 2, 5, -5);
    expect(game.state.group(0).pieces).toEqual([0, 1, 2, 3]);
    game.move("b", 3, 500, 40);
    for (const piece of [0, 1, 2, 3]) expect(game.state.group(piece)).toMatchObject({ x: 500, y: 40 });
    expect(game.state.joins.get("a")).toBe(3);
  });

  test("of two places the nearer one wins; a held piece cannot be joined to", () => {
    const game = new Game();
    game.move("a", 0, 0, 0);
    game.move("a", 2, 20, 0);
    game.move("b", 1, 15, 0);
    expect(game.state.group(1)).toMatchObject({ x: 0, pieces: [0, 1, 2] });
    const other = new Game();
    other.move("a", 0, 0, 0);
    other.do("a", { grab: 0 });
    other.move("b", 1, 5, 0);
    expect(other.state.group(1)).toMatchObject({ x: 5, pieces: [1] });
    other.do("a", { drop: 0, x: 6, y: 0 });
    expect(other.state.group(1)).toMatchObject({ x: 5, pieces: [0, 1] });
  });

  test("the last piece solves the puzzle", () => {
    const game = new Game();
    for (let piece = 0; piece < 12; piece++) {
      expect(game.state.isSolved).toBe(false);
      game.move("a", piece, 10, 10);
    }
    expect(game.state.isSolved).toBe(true);
    expect(game.state.progress).toBe(1);
  });
});

describe("holding a piece", () => {
  test("the first grab in the room's order wins; the other window's grab and drop have no effect", () => {
    const game = new Game();
    game.do("a", { grab: 5 });
    game.do("b", { grab: 5 });
    expect(game.state.group(5).holder).toBe("a");
    game.do("b", { drop: 5, x: 900, y: 900 });
    expect(game.state.group(5)).toMatchObject({ holder: "a" });
    game.do("a", { drop: 5, x: 100, y: 100 });
    expect(game.state.group(5)).toMatchObject({ x: 100, y: 100 });
    expect(game.state.group(5).holder).toBeUndefined();
    game.do("b", { grab: 5 });
    expect(game.state.group(5).holder).toBe("b");
  });

  test("a group is held as a whole, by any of its pieces", () => {
    const game = new Game();
    game.move("a", 0, 0, 0);
    game.move("a", 1, 0, 0);
    game.do("a", { grab: 0 });
    game.do("b", { grab: 1 });
    expect(game.state.group(1).holder).toBe("a");
  });

  test("the pieces of a window that has left can be released", () => {
    const game = new Game();
    game.do("a", { grab: 0 });
    game.do("b", { free: "a" });
    game.do("b", { grab: 0 });
    expect(game.state.holders).toEqual(new Set(["b"]));
  });

  test("of two new puzzles the first in the order is used; moves for the old one have no effect", () => {
    const game = new Game();
    game.do("a", { start: { ...spec, seed: 1 } });
    game.do("b", { start: { ...spec, seed: 2 } }, 0);
    game.do("b", { grab: 3 }, 0);
    expect(game.state).toMatchObject({ game: 1, spec: { seed: 1 } });
    expect(game.state.holders.size).toBe(0);
  });
});

describe("snapshot", () => {
  test("a puzzle whose numbers are the greatest ones can be played on", () => {
    const most = 2 ** 40;
    const [first, ...groups] = scattered(spec).groups;
    let pieces: Pieces = { ...scattered(spec), game: most, version: most, joined: [["a", most]], groups: [{ ...first!, z: most }, ...groups] }; // prettier-ignore
    expect(isSound(pieces)).toBe(true);
    const [near] = pieces.groups;
    const act = (action: object): unknown => (pieces = play(pieces, { game: pieces.game, ...action } as never, "a"));
    act({ grab: 1 });
    act({ drop: 1, x: near?.x, y: near?.y });
    expect(State.of(pieces).group(1).pieces).toEqual([0, 1]);
    expect(isSound(pieces)).toBe(true);
    act({ start: spec });
    expect([isSound(pieces), pieces.version]).toEqual([true, 0]);
  });

  test("what a snapshot contains behaves like the original state", () => {
    const game = new Game();
    game.move("a", 0, 0, 0);
    game.move("b", 1, 4, 4);
    game.do("b", { grab: 7 });
    const copy = JSON.parse(JSON.stringify(game.pieces)) as unknown;
    expect(isSound(copy)).toBe(true);
    expect(copy).toEqual(game.pieces);
    const next = { game: 0, drop: 7, x: 9, y: 9 };
    expect(play(copy as Pieces, next, "b")).toEqual(play(game.pieces, next, "b"));
  });

  test.each([
    null,
    [],
    {},
    { spec, game: 0, version: 0 },
    { ...scattered(spec), joined: undefined },
    { ...scattered(spec), joined: [["a", -1]] },
    { ...scattered(spec), groups: scattered(spec).groups.slice(1) },
    { ...scattered(spec), groups: scattered(spec).groups.map((group) => ({ ...group, x: 0.5 })) },
    { ...scattered(spec), groups: scattered(spec).groups.map((group) => ({ ...group, holder: 7 })) },
    { ...scattered(spec), spec: { ...spec, columns: 1e9 } },
    { ...scattered(spec), game: -1 },
    { ...scattered(spec), game: Number.MAX_SAFE_INTEGER },
    { ...scattered(spec), version: Number.MAX_SAFE_INTEGER },
    { ...scattered(spec), joined: [["a", Number.MAX_SAFE_INTEGER]] },
    // Piece 1 is in two groups.
    { ...scattered(spec), groups: [[0, 1], [1, 2], ...[3, 4, 5, 6, 7, 8, 9, 10].map((i) => [i])].map(group) },
    { ...scattered(spec), groups: [[1, 0], ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((i) => [i])].map(group) },
  ])("what is none is refused: %j", (value) => {
    expect(isSound(value)).toBe(false);
  });
});

function group(pieces: readonly number[]): object {
  return { x: 0, y: 0, z: 0, pieces };
}

test.each([
  undefined,
  7,
  {},
  { game: 0 },
  { game: 0, drop: 1, x: 0.5, y: 0 },
  { game: 0, drop: 1, x: 1e9, y: 0 },
  { game: 0, grab: -1 },
  { grab: 1 },
  { game: 0, start: { picture: "nude", seed: 1, columns: 4, rows: 3 } },
  { game: 0, start: { picture: "reef", seed: 1, columns: 400, rows: 300 } },
])("nonsense is no move, and has no effect: %j", (value) => {
  expect(parseMove(value)).toBeUndefined();
  expect(() => play(scattered(spec), value as Move, "a")).toThrow(TypeError);
});

test("a piece that does not exist can be neither grabbed nor dropped", () => {
  for (const action of [{ grab: 99 }, { drop: 99, x: 0, y: 0 }])
    expect(() => play(scattered(spec), { game: 0, ...action }, "a")).toThrow(RangeError);
});

function segments(from: Point, curves: readonly Curve[]): string[] {
  return curves.map(({ c1, c2, to }, i) => [curves[i - 1]?.to ?? from, c1, c2, to].map(name).join(" "));
}

function turned(segment: string): string {
  return segment.split(" ").reverse().join(" ");
}

function name({ x, y }: Point): string {
  return `${x.toFixed(6)},${y.toFixed(6)}`;
}
