/** The types of the hooks follow from `defineRoom`: `tsc` checks this file. */

import { expectTypeOf, test } from "vitest";
import type { Hooks, Registered } from "../src/index.js";
import { hooks, type Definition } from "./room.js";

declare module "../src/index.js" {
  interface Register {
    room: typeof import("./room.js").board;
  }
}

test("hooks have the types of the room", () => {
  expectTypeOf<Hooks<Registered>>().toEqualTypeOf<Hooks<Definition>>();
  type All = typeof hooks;
  expectTypeOf<ReturnType<All["usePresence"]>[0]>().toEqualTypeOf<
    { name: string; user?: string | undefined } | undefined
  >();
  const shapes = (): unknown => {
    const x = hooks.useShared(({ shapes }) => shapes.get("a")?.x);
    expectTypeOf(x).toEqualTypeOf<number | undefined>();
    const name = hooks.useOther(1, ({ presence }) => presence?.name);
    expectTypeOf(name).toEqualTypeOf<string | undefined>();
    const move = hooks.useMutation(({ shapes }, x: number) => shapes.patch("a", { x }), []);
    expectTypeOf(move).toEqualTypeOf<(x: number) => void>();
    const send = hooks.useChannel("chat", ({ value }) => expectTypeOf(value).toEqualTypeOf<{ text: string }>());
    expectTypeOf(send).parameter(0).toEqualTypeOf<{ text: string }>();
    hooks.usePositions("cursor", (positions) =>
      expectTypeOf(positions).toEqualTypeOf<ReadonlyMap<number, { x: number; y: number }>>(),
    );
    // @ts-expect-error: the room has no such channel.
    hooks.useChannel("nothing");
    // @ts-expect-error: the room has no such data.
    hooks.useShared(({ nothing }) => nothing);
    // @ts-expect-error: a message has a text.
    send({ wrong: "" });
    return x;
  };
  expectTypeOf(shapes).toBeFunction();
});
