/** Hooks that wait until the room is ready. */

import { StrictMode, Suspense, type ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { hooksOf } from "../src/suspense.js";
import { Boundary } from "./boundary.js";
import { board, counted, join, Page, props, start, warnings } from "./room.js";

const hooks = hooksOf(board);

/** React shows for a while what it has shown last, in real time. */
const PATIENCE = { timeout: 60_000 };

function Likes(): ReactNode {
  return hooks.useShared(({ likes }) => likes.value);
}

test("parts wait, and never see an empty room", async () => {
  const net = start();
  const warned = warnings();
  const bo = join(net, "Bo");
  bo.shared.likes.add(3);
  await net.settle();
  const { connect, rooms } = counted(net);
  const seen: number[] = [];
  function Seen(): ReactNode {
    const likes = hooks.useShared(({ likes }) => likes.value);
    seen.push(likes);
    return likes;
  }
  const page = new Page(
    <StrictMode>
      <hooks.RoomProvider {...props(net, connect)}>
        <h1>Likes: </h1>
        <Suspense fallback="wait">
          <Seen />
        </Suspense>
      </hooks.RoomProvider>
    </StrictMode>,
  );
  expect(page.text).toBe("Likes: wait");
  await net.settle();
  await vi.waitFor(() => expect(page.element.querySelector("h1")?.nextSibling?.textContent).toBe("3"), PATIENCE);
  expect(new Set(seen)).toEqual(new Set([3]));
  expect(rooms).toHaveLength(1);
  bo.shared.likes.add(1);
  await net.settle();
  expect(seen.at(-1)).toBe(4);
  expect(warned).toEqual([]);
});

test("without a boundary of its own, the whole waits with the fallback of the provider", async () => {
  const net = start();
  const page = new Page(
    <Suspense fallback="outside">
      <hooks.RoomProvider {...props(net)} fallback="inside">
        <Likes />
      </hooks.RoomProvider>
    </Suspense>,
  );
  expect(page.text).toBe("inside");
  await net.settle();
  await vi.waitFor(() => expect(page.text).toBe("0"), PATIENCE);
});

test("who is refused gets the reason in an error boundary", async () => {
  const net = start({
    authenticate: () => {
      throw new Error("go away");
    },
  });
  warnings();
  const page = new Page(
    <hooks.RoomProvider {...props(net)} onError={() => {}} fallback="wait">
      <Boundary>
        <Likes />
      </Boundary>
    </hooks.RoomProvider>,
  );
  expect(page.text).toBe("wait");
  await net.run(3000);
  await vi.waitFor(() => expect(page.text).toMatch(/^caught: .*go away/), PATIENCE);
});
