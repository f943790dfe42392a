/** Tokens: given as text, by a function, and renewed. */

import { expect, test, vi } from "vitest";
import type { RoomError } from "../src/index.js";
import { dialled, join } from "./double.js";
import * as wire from "./wire.js";
import { until } from "./until.js";

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

test("a function is asked for the token before the room is joined, and again when the server wants another one", async () => {
  const token = vi.fn<() => Promise<string>>().mockResolvedValueOnce("the first").mockResolvedValue("the second");
  const it = join({ token });
  const socket = await dialled(it);
  expect(text(socket.packets[0])).toContain("the first");
  socket.serverSends(wire.welcome());
  socket.serverSends(wire.packet(wire.tokenWanted()));
  await until(() => socket.frames().some(({ type }) => type === wire.TOKEN));
  expect(text(socket.frames().find(({ type }) => type === wire.TOKEN)?.payload)).toBe("the second");
  expect(token).toHaveBeenCalledTimes(2);
  it.room.leave();
});

test("a function that fails at first ends the room with its reason", async () => {
  const errors: RoomError[] = [];
  const it = join({ token: () => Promise.reject(new Error("not logged in")) });
  it.room.on("error", (error) => errors.push(error));
  await until(() => it.room.status === "closed");
  expect(errors).toMatchObject([{ fatal: true, message: expect.stringContaining("not logged in") as string }]);
});

test("without a function, an expired token is told, and the room waits for another one", async () => {
  const errors: RoomError[] = [];
  const it = join({ token: "the first" });
  it.room.on("error", (error) => errors.push(error));
  const socket = await dialled(it);
  socket.serverSends(wire.welcome());
  socket.serverSends(wire.packet(wire.expired()));
  socket.drop();
  expect(errors).toMatchObject([{ code: "expired", fault: "refused", fatal: false }]);
  expect(it.room.status).toBe("reconnecting");
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(it.sockets).toHaveLength(1);
  it.room.setToken("the second");
  await until(() => it.sockets.length === 2);
  it.sockets[1]?.open();
  await until(() => it.sockets[1]?.packets.length === 1);
  expect(text(it.sockets[1]?.packets[0])).toContain("the second");
  it.room.leave();
});
