import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import test from "node:test";
import { freePort, freePorts } from "./ports.mjs";

test("ports differ and lie below what systems give", async () => {
  const ports = await freePorts(20);
  assert.equal(new Set(ports).size, 20);
  assert.ok(
    ports.every((port) => port >= 12_000 && port < 32_000),
    `${ports}`,
  );
});

test("a port on which somebody listens is left out", async () => {
  const next = (await freePort()) + 1;
  const taken = createServer().listen(next, "127.0.0.1");
  // If another process has it, it is taken all the same.
  await once(taken, "listening").catch(() => undefined);
  assert.notEqual(await freePort(), next);
  taken.close();
});
