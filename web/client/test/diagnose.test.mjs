import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { SelfSigned } from "../../e2e/certificate.mjs";
import { diagnose } from "../src/transport/diagnose.js";

const OFFER = JSON.stringify({ transports: ["websocket"], webtransport: null });

const certificate = new SelfSigned();
afterAll(() => certificate.remove());

const servers = [];
afterEach(() => {
  vi.unstubAllGlobals();
  servers.splice(0).forEach((server) => server.close());
});

/** The address of a server with these answers by path; other paths are not found. */
async function serving(answers, isTls = false) {
  const answer = (request, response) => {
    const found = answers[request.url ?? ""];
    if (found) found(request, response);
    else response.writeHead(404).end("not found");
  };
  const files = () => ({ cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) });
  const server = isTls ? createTlsServer(files(), answer) : createServer(answer);
  servers.push(server);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return new URL(`${isTls ? "https" : "http"}://127.0.0.1:${server.address().port}`);
}

const says =
  (status, text, headers = {}) =>
  (_, response) =>
    void response.writeHead(status, headers).end(text);

/** The header of all answers of a Groupwire server (T28). */
const OURS = { groupwire: "1" };

/** An address where nothing listens. */
async function nowhere() {
  const url = await serving({});
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return url;
}

const found = (server, before) => diagnose(server, "WebSocket was refused", before);

describe("in Node", () => {
  test("a server that is down is unreachable, and the sentence says why", async () => {
    const server = await nowhere();
    const message = `Nothing answers at ${server.origin} (ECONNREFUSED): is the server running, and is the address right?`;
    expect(await found(server)).toEqual({ code: "unreachable", message });
  });

  test("a server that answers is blocked, with what became of each transport", async () => {
    const server = await serving({ "/transports": says(200, OFFER) });
    const message = `The server at ${server.origin} answers, but no connection to it opens (WebSocket was refused).`;
    expect(await found(server)).toEqual({ code: "blocked", message });
  });

  test("another server's 404", async () => {
    const { code, message } = await found(await serving({}));
    expect(code).toBe("not-groupwire");
    expect(message).toContain("but something else (status 404)");
  });

  test("a development server, which answers any path with its page", async () => {
    const { code, message } = await found(
      await serving({ "/transports": says(200, "<!doctype html><title>Vite</title>") }),
    );
    expect(code).toBe("not-groupwire");
    expect(message).toContain("but something else (a web page)");
  });

  test("JSON of something else", async () => {
    expect((await found(await serving({ "/transports": says(200, '{"transports":1}') }))).code).toBe("not-groupwire");
    expect((await found(await serving({ "/transports": says(200, "null") }))).code).toBe("not-groupwire");
  });

  test("T28: a Groupwire server that is served at another path", async () => {
    const server = await serving({ "/wrong/transports": says(404, "not found", OURS) });
    const { code, message } = await found(new URL("/wrong", server));
    expect(code).toBe("not-groupwire");
    const where = `answers at ${server.origin}, but not below /wrong (status 404)`;
    expect(message).toBe(`A Groupwire server ${where}: pass the path at which it is served.`);
  });

  test("T2: a server that refuses the page's origin, with its sentence", async () => {
    const text = "pages of this origin may not use this server";
    const server = await serving({ "/transports": says(403, `${text}\n`, OURS) });
    expect(await found(server)).toEqual({ code: "origin", message: `${server.host} refuses this page: ${text}` });
  });

  test("a proxy that forbids is no Groupwire server", async () => {
    expect((await found(await serving({ "/transports": says(403, "forbidden") }))).code).toBe("not-groupwire");
  });

  test.each([502, 503, 504])("a proxy that reports %i: the server behind it is down", async (status) => {
    const { code, message } = await found(await serving({ "/transports": says(status, "bad gateway") }));
    expect(code).toBe("unreachable");
    expect(message).toContain(`answers with status ${status}`);
  });

  test("T29: http to a server that says that it speaks https", async () => {
    const server = await serving({ "/transports": says(400, "this port speaks HTTPS", OURS) });
    const { code, message } = await found(server);
    expect(code).toBe("tls");
    expect(message).toContain(`pass https://${server.host}.`);
  });

  test("https to a server without TLS", async () => {
    const server = await serving({ "/transports": says(200, OFFER) });
    const { code } = await found(new URL(`https://${server.host}`));
    expect(code).toBe("tls");
  });

  test("a certificate that is not trusted", async () => {
    const { code, message } = await found(await serving({ "/transports": says(200, OFFER) }, true));
    expect(code).toBe("tls");
    expect(message).toMatch(/^The TLS connection to .* fails \(.*SELF_SIGNED.*\)\.$/);
  });
});

/**
 * In browsers a failed request says nothing, and pages may not read most answers of other origins.
 */
describe("in browsers", () => {
  const server = new URL("http://server.example:8080");

  /** A browser in which requests by `mode` and address succeed or fail. */
  function browser(succeeds, page = "http://page.example/") {
    const asked = [];
    vi.stubGlobal("location", new URL(page));
    vi.stubGlobal("navigator", { onLine: true });
    vi.stubGlobal("fetch", (url, { mode }) => {
      asked.push(`${mode ?? "cors"} ${url}`);
      if (succeeds(url, mode === "no-cors")) return Promise.resolve(new Response(OFFER));
      return Promise.reject(new TypeError("Failed to fetch"));
    });
    return asked;
  }

  test("a device without a network is offline, and nothing is asked", async () => {
    const asked = browser(() => false);
    vi.stubGlobal("navigator", { onLine: false });
    expect((await found(server)).code).toBe("offline");
    expect(asked).toEqual([]);
    expect((await found(new URL("http://localhost:8080"))).code).toBe("unreachable");
  });

  test("http from a page of https is mixed content, and nothing is asked", async () => {
    const asked = browser(() => false, "https://page.example/");
    expect((await found(server)).code).toBe("mixed-content");
    expect(asked).toEqual([]);
    expect((await found(new URL("http://localhost:8080"))).code).toBe("unreachable");
  });

  test("nothing answers at all", async () => {
    browser(() => false);
    const { code, message } = await found(server);
    expect(code).toBe("unreachable");
    expect(message).not.toContain("certificate");
    expect((await found(new URL("https://server.example"))).message).toContain("certificate");
  });

  test("something answers that pages may not read", async () => {
    browser((_, isOpaque) => isOpaque);
    expect((await found(server)).code).toBe("not-groupwire");
  });

  test("the server speaks https", async () => {
    browser((url, isOpaque) => isOpaque && url.startsWith("https:"));
    const { code, message } = await found(server);
    expect(code).toBe("tls");
    expect(message).toContain("pass https://server.example:8080.");
  });

  test("the server does not speak https", async () => {
    browser((url, isOpaque) => isOpaque && url.startsWith("http:"));
    const { code, message } = await found(new URL("https://server.example:8080"));
    expect(code).toBe("tls");
    expect(message).toContain("pass http://server.example:8080 ");
  });

  test("further diagnoses ask one question only", async () => {
    const asked = browser(() => false);
    const before = await found(server);
    expect(asked).toHaveLength(3);
    expect(await found(server, before)).toBe(before);
    expect(asked).toHaveLength(4);
  });
});
