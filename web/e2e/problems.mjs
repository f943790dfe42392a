// Addresses at which a page finds no connection, each with the problem that the room must tell.
// Chromium's tests and those of the other engines use them.

import { createServer } from "node:http";
import { once } from "node:events";
import { SelfSigned } from "./certificate.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

/** The servers behind the addresses. */
export class WrongAddresses {
  #certificate = new SelfSigned();
  #foreign;
  #encrypted;

  /** `server` admits no pages of other origins, and `proxy` leads to it. */
  static async start(server, proxy) {
    const it = new WrongAddresses();
    const [foreign, closed] = await Promise.all([listening(foreignAnswer), listening(foreignAnswer)]);
    it.#foreign = foreign;
    it.#encrypted = await Server.start(...it.#certificate.options);
    const down = addressOf(closed);
    closed.close();
    const { host } = new URL(it.#encrypted.url);
    /** By what is wrong: the address, the code of the problem, and what its sentence says. */
    it.cases = {
      "a server that is down": [down, "unreachable", /^Nothing answers at /],
      "a wrong path": [`${proxy.url}/nope`, "not-groupwire", /but not below \/nope \(status 404\): /],
      "another server": [addressOf(foreign), "not-groupwire", /^No Groupwire server answers at .*, but something else/],
      "a server that refuses the page's origin": [server.url, "origin", / refuses this page: .* --origin/],
      "http to a server that speaks https": [`http://${host}`, "tls", /the server speaks https: pass https:\/\//],
      "https to a server that speaks http": [server.url.replace("http:", "https:"), "tls", /pass http:\/\//],
    };
    return it;
  }

  async close() {
    this.#foreign.close();
    this.#certificate.remove();
    await this.#encrypted.kill();
  }
}

/**
 * Waits until the page's room tells this problem, and checks that it goes on trying. `run` runs a
 * function with the participant.
 */
export async function tells(run, code, sentence) {
  // Undefined while the page is loading.
  const told = () => run((participant) => participant?.seen.problems);
  const problems = await until(`the problem ${code}`, async () => {
    const list = await told();
    return list?.length > 0 && list;
  });
  const state = await run(({ room: { status, state } }) => ({ status, problem: state.problem }));
  const [first] = problems;
  if (first.code !== code || !sentence.test(first.message))
    throw new Error(`expected ${code}: ${JSON.stringify(problems)}`);
  if (state.status !== "connecting" || state.problem?.code !== code) throw new Error(JSON.stringify(state));
}

function foreignAnswer(_, response) {
  response.writeHead(404).end("not here");
}

async function listening(answer) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function addressOf(server) {
  return `http://127.0.0.1:${server.address().port}`;
}
