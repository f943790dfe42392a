/**
 * A server renders the first state without a connection, and the page goes on from it without a
 * warning.
 */

import "../../common/test/dom.js";
import { StrictMode, type ReactNode } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { hooksOf } from "../src/suspense.js";
import { board, counted, hooks, join, Page, props, rendered, start, warnings } from "./room.js";

const waiting = hooksOf(board);

function App(): ReactNode {
  const names = hooks.useOthers((others) => others.map(({ presence }) => presence?.name));
  const { status, pending } = hooks.useRoomStatus();
  const likes = hooks.useShared(({ likes, tasks }) => ({ likes: likes.value, tasks: tasks.value.length }));
  const [presence] = hooks.usePresence();
  const { canUndo } = hooks.useUndo();
  hooks.useChannel("chat", () => {});
  hooks.usePositions("cursor", () => {});
  return (
    <p>{`${presence?.name} and ${names.join()}: ${likes.likes} ${likes.tasks} ${status} ${pending} ${canUndo}`}</p>
  );
}

/** Puts what a server has rendered into a page. */
function hydrated(shown: ReactNode): { readonly page: Page; readonly recovered: unknown[] } {
  const recovered: unknown[] = [];
  const html = renderToString(shown);
  const page = new Page(shown, (element) => {
    element.innerHTML = html;
    return hydrateRoot(element, shown, { onRecoverableError: (error) => recovered.push(error) });
  });
  return { page, recovered };
}

test.each([
  ["alone", (app: ReactNode) => app],
  ["in strict mode", (app: ReactNode) => <StrictMode>{app}</StrictMode>],
])("hydrates %s", async (_, wrapped) => {
  const net = start();
  const warned = warnings();
  const { connect, rooms } = counted(net);
  const bo = join(net, "Bo");
  bo.shared.likes.add(2);
  const app = wrapped(
    <hooks.RoomProvider {...props(net, connect)}>
      <App />
    </hooks.RoomProvider>,
  );
  expect(renderToString(app)).toBe("<p>Ada and : 0 0 connecting false false</p>");
  expect(rooms).toEqual([]);
  const { page, recovered } = hydrated(app);
  expect(page.text).toBe("Ada and : 0 0 connecting false false");
  await rendered();
  await net.settle();
  expect(page.text).toBe("Ada and Bo: 2 0 connected false false");
  expect(rooms).toHaveLength(1);
  expect(warned).toEqual([]);
  expect(recovered).toEqual([]);
});

test.each([
  ["a fallback", hooks],
  ["suspense", waiting],
])("hydrates with %s", async (_, { RoomProvider }) => {
  const net = start();
  const warned = warnings();
  const app = (
    <StrictMode>
      <RoomProvider {...props(net)} fallback={<b>loading</b>}>
        <App />
      </RoomProvider>
    </StrictMode>
  );
  expect(renderToString(app)).toContain("<b>loading</b>");
  expect(renderToString(app)).not.toContain("Ada");
  const { page, recovered } = hydrated(app);
  await rendered();
  await net.settle();
  await vi.waitFor(() => expect(page.text).toBe("Ada and : 0 0 connected false false"), { timeout: 60_000 });
  expect(warned).toEqual([]);
  expect(recovered).toEqual([]);
});

test("servers share nothing between requests", () => {
  const connect = vi.fn();
  const render = (name: string): string =>
    renderToString(
      <hooks.RoomProvider room={board} url="http://test" name="demo" presence={{ name }} connect={connect}>
        <App />
      </hooks.RoomProvider>,
    );
  expect(render("Ada")).toContain("Ada and");
  expect(render("Bo")).toContain("Bo and");
  expect(connect).not.toHaveBeenCalled();
});
