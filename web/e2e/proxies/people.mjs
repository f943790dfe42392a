// Participants that reach a server through a proxy, in a browser and in Node, and connections from
// chosen addresses.

import { lookup as resolve } from "node:dns";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { connect, transaction } from "groupwire";
import WebSocket from "ws";
import { acceptedBy } from "../certificate.mjs";
import { Participant } from "../participant.mjs";
import { until } from "../wait.mjs";
import { launch } from "../window.mjs";
import { HOST } from "./kinds.mjs";

const WEB = new URL("../../", import.meta.url);
const TYPES = { html: "text/html", js: "text/javascript", wasm: "application/wasm" };

// The page comes from the test and not from the network, so that Chromium takes it for one of the
// public Internet, whose WebSockets may not reach this machine.
const PAGE_FLAG = "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets";

/** Starts a browser for which the host of the configurations is this machine. */
export function launchBrowser({ port, cert }) {
  const rules = `MAP ${HOST}:443 127.0.0.1:${port}, MAP ${HOST} 127.0.0.1`;
  return launch(PAGE_FLAG, `--host-resolver-rules=${rules}`, ...acceptedBy(readFileSync(cert)));
}

/** Opens a page of a participant, at the address that people use. */
export async function join(browser, room, settings) {
  const context = await browser.newContext();
  await context.route(/\/e2e\//, async (route) => {
    const pathname = new URL(route.request().url()).pathname.replace("/e2e/client/", "/client/");
    const contentType = TYPES[pathname.split(".").at(-1)];
    await route.fulfill({ body: await readFile(new URL(`.${pathname}`, WEB)), contentType });
  });
  try {
    const person = await Participant.open(browser, { url: `https://${HOST}` }, room, { ...settings, context });
    person.ownsContext = true;
    return person;
  } catch (error) {
    const problem = await context.pages()[0].evaluate(() => window.participant?.room.problem?.message);
    await context.close();
    throw new Error(problem ?? error.message);
  }
}

/** The protocol by which a browser asks the proxy, such as `h2`. */
export async function protocol(browser) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`https://${HOST}/transports`);
  const used = await page.evaluate(() => performance.getEntriesByType("navigation")[0].nextHopProtocol);
  await context.close();
  return used;
}

/** How programs of this machine reach the proxy: with its certificate, from a chosen address. */
function reaching({ cert }, localAddress) {
  const here = (host, options, done) => resolve("127.0.0.1", options, done);
  return { ca: readFileSync(cert), lookup: here, ...(localAddress ? { localAddress } : {}) };
}

/** A participant in Node; `texts` has what it received. */
export async function joinFromNode(place, name, timeout) {
  const options = reaching(place);
  class Trusting extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, options);
    }
  }
  const room = connect(`https://${HOST}:${place.port}`, name, { WebSocket: Trusting });
  const draw = room.channel("draw", transaction());
  const texts = [];
  draw.on("message", ({ data }) => texts.push(data));
  await until("Node has joined", () => room.status === "connected", timeout).catch((error) => {
    room.leave();
    throw error;
  });
  return { room, draw: (text) => draw.send(text), texts };
}

/** The status of the answer to a WebSocket from this address. With status 101 it stays open. */
export function openSocket(place, address, headers, opened) {
  return new Promise((done, fail) => {
    const socket = new WebSocket(`wss://${HOST}:${place.port}/ws`, { ...reaching(place, address), headers });
    socket.on("open", () => done(101));
    socket.on("unexpected-response", (asked, answer) => done(answer.statusCode, asked.destroy()));
    socket.on("error", fail);
    opened.push({ close: () => socket.terminate() });
  });
}

/** The status of the answer to a request for long polling from this address. */
export function openPolling(place, address, headers) {
  return new Promise((done, fail) => {
    const options = { ...reaching(place, address), headers: { Host: HOST, ...headers }, method: "POST", agent: false };
    const asking = request(`https://${HOST}:${place.port}/http/longpoll`, options, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    asking.on("error", fail);
    asking.setHeader("Content-Type", "application/x-www-form-urlencoded");
    asking.end();
  });
}
