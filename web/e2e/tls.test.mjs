// Every transport over TLS, with one certificate: one that signed itself, or, if GROUPWIRE_PEBBLE
// names the folder of Pebble's programs, one that the server orders from it by ACME.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { SelfSigned } from "./certificate.mjs";
import { Issued } from "./issued.mjs";
import { Participant } from "./participant.mjs";
import { Server } from "./server.mjs";
import { closeAll, launch } from "./window.mjs";

const options = { timeout: 300_000 };
const WEB = new URL("../", import.meta.url);
// The page comes from the test and not from the network, so that Chromium takes it for one of the
// public Internet, whose WebSockets may not reach this machine.
const PAGE_FLAG = "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets";
const TYPES = { html: "text/html", js: "text/javascript", wasm: "application/wasm" };

const people = [];
let browser;
let certificate;
let server;

before(async () => {
  certificate = process.env.GROUPWIRE_PEBBLE ? await Issued.start() : new SelfSigned();
  server = await Server.startAt(certificate.port ?? 0, ...certificate.options);
  browser = await launch(PAGE_FLAG, ...(await certificate.flags()));
});
afterEach(() => closeAll(people));
after(async () => {
  await browser?.close();
  await server?.kill();
  certificate?.remove();
});

/** Opens the tests' page, which the server itself does not have, at the server's address. */
async function join(name, transport) {
  const context = await browser.newContext();
  await context.route(/\/e2e\//, async (route) => {
    const pathname = new URL(route.request().url()).pathname.replace("/e2e/client/", "/client/");
    const contentType = TYPES[pathname.split(".").at(-1)];
    await route.fulfill({ body: await readFile(new URL(`.${pathname}`, WEB)), contentType });
  });
  const person = await Participant.open(browser, server, transport, { name, transports: [transport], context });
  person.ownsContext = true;
  people.push(person);
  return person;
}

test("the printed address is one of HTTPS, whose pages use HTTP/2", options, async () => {
  assert.match(server.url, /^https:/);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(server.url);
  const protocols = () => performance.getEntriesByType("navigation").map((entry) => entry.nextHopProtocol);
  assert.deepEqual(await page.evaluate(protocols), ["h2"]);
  await context.close();
});

for (const transport of ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"]) {
  test(`${transport}: two participants exchange messages over TLS`, options, async () => {
    const [ada, bo] = await Promise.all([join("Ada", transport), join("Bo", transport)]);
    for (const person of [ada, bo]) assert.equal((await person.transport()).name, transport);
    for (let i = 0; i < 20; i++) {
      await ada.run(({ draw }, i) => draw(`a${i}`), i);
      await bo.run(({ draw }, i) => draw(`b${i}`), i);
    }
    const seen = await Promise.all([ada, bo].map((person) => person.got(40)));
    assert.deepEqual(seen[0], seen[1]);
    assert.equal(new Set(seen[0]).size, 40);
  });
}
