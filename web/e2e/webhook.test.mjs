// The library of Standard Webhooks verifies the webhook's requests, with either of two secrets.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OTHER = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

const folder = await mkdtemp(join(tmpdir(), "groupwire-e2e-"));
after(() => rm(folder, { recursive: true }));

test("a receiver verifies requests with the old secret and with the new one", { timeout: 60_000 }, async (t) => {
  const requests = [];
  const receiver = createServer(async (request, response) => {
    requests.push({ body: Buffer.concat(await request.toArray()).toString(), headers: request.headers });
    response.writeHead(204).end();
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  t.after(() => receiver.close());
  const file = join(folder, "secrets");
  await writeFile(file, `${OLD}\n${NEW}\n`, { mode: 0o600 });
  const address = `http://127.0.0.1:${receiver.address().port}/events`;
  const server = await Server.start("--webhook", address, "--webhook-secret-file", file);
  t.after(() => server.kill());
  await until("told that the server has started", () => requests.length > 0);
  const { body, headers } = requests[0];
  for (const secret of [OLD, NEW]) {
    const { type, data } = new Webhook(secret).verify(body, headers);
    assert.equal(type, "groupwire.events");
    assert.equal(data.events[0].type, "server.started");
  }
  assert.throws(() => new Webhook(OTHER).verify(body, headers), /No matching signature/);
  assert.throws(() => new Webhook(OLD).verify(`${body} `, headers), /No matching signature/);
});
