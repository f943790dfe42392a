/**
 * Finds out why no transport to a server opens. It is a module of its own, which is loaded only
 * when it is needed.
 */

import type { Problem } from "../api.js";
import { door } from "../door.js";

/**
 * A server that has not answered within this time does not answer: twice what two lost SYN packets
 * cost (1 + 2 s, RFC 6298).
 */
const ANSWER_MS = 6000;

/** The largest number of characters shown of a refusal by a server, or by a proxy before it. */
const LONGEST_REFUSAL = 200;

/**
 * Statuses by which a proxy says that the server behind it does not answer (RFC 9110, 15.6.3 to
 * 15.6.5).
 */
const GATEWAY = [502, 503, 504];

/**
 * The reason why no transport opens; `blocked` if the server itself answers. `tried` has the result
 * of each transport, `before` is the problem that was found last.
 */
export async function diagnose(server: URL, tried: string, before: Problem | undefined): Promise<Problem> {
  if (globalThis.navigator?.onLine === false && !isLocal(server)) {
    return problem("offline", "This device is offline.");
  }
  if (isMixed(server)) {
    const hint = `serve Groupwire over TLS, and pass an address with https`;
    return problem("mixed-content", `A page from https cannot connect to ${server.origin}: ${hint}.`);
  }
  let answer: Response;
  try {
    answer = await ask(door(server, "transports"));
  } catch (error) {
    return unanswered(server, error, before);
  }
  return answered(server, answer, tried);
}

/**
 * Something answers, and this page may read the answer. The header `groupwire` tells our servers
 * from others (T28).
 */
async function answered(server: URL, answer: Response, tried: string): Promise<Problem> {
  const { status } = answer;
  const text = await answer.text().catch(() => "");
  if (isOffer(status, text)) {
    const what = tried ? ` (${tried})` : "";
    return problem("blocked", `The server at ${server.origin} answers, but no connection to it opens${what}.`);
  }
  const isGroupwire = answer.headers.has("groupwire");
  const refusal = text.slice(0, LONGEST_REFUSAL).trim();
  if (isGroupwire && status === 403) return problem("origin", `${server.host} refuses this page: ${refusal}`);
  if (GATEWAY.includes(status)) {
    return problem(
      "unreachable",
      `${server.origin} answers with status ${status}: the server is down, busy or restarting.`,
    );
  }
  if (isGroupwire && status === 400 && server.protocol === "http:") return otherScheme(server);
  if (isGroupwire) {
    const where = `answers at ${server.origin}, but not below ${server.pathname} (status ${status})`;
    return problem("not-groupwire", `A Groupwire server ${where}: pass the path at which it is served.`);
  }
  const isPage = /^\s*<(!doctype|html)/i.test(text);
  const what = isPage ? "a web page" : `status ${status}`;
  const hint = "pass the address of a Groupwire server, which `groupwire serve` prints";
  return problem(
    "not-groupwire",
    `No Groupwire server answers at ${server.href}, but something else (${what}): ${hint}.`,
  );
}

/** Nothing answers, or nothing that this page may read. */
async function unanswered(server: URL, error: unknown, before: Problem | undefined): Promise<Problem> {
  const detail = detailOf(error);
  if (isTls(detail)) return problem("tls", `The TLS connection to ${server.origin} fails (${detail}).`);
  if (detail !== undefined) return unreachable(server, ` (${detail})`);
  // Browsers keep the reason to themselves. The questions below cost a line in the console each, so
  // they are asked once.
  if (before && before.code !== "offline" && before.code !== "blocked") return before;
  if (await answersAnybody(server)) {
    const hint = "pass the address of a Groupwire server, which `groupwire serve` prints";
    return problem("not-groupwire", `No Groupwire server answers at ${server.href}, but something else: ${hint}.`);
  }
  if (!isMixed(swapped(server)) && (await answersAnybody(swapped(server)))) return otherScheme(server);
  const hint =
    server.protocol === "https:" ? " Open the address in a tab to see whether its certificate is the reason." : "";
  return unreachable(server, "", hint);
}

function unreachable(server: URL, detail: string, hint = ""): Problem {
  const question = "is the server running, and is the address right?";
  return problem("unreachable", `Nothing answers at ${server.origin}${detail}: ${question}${hint}`);
}

function otherScheme(server: URL): Problem {
  const { origin } = swapped(server);
  const hint =
    server.protocol === "http:"
      ? `the server speaks https: pass ${origin}.`
      : `pass ${origin} if the server has no certificate; if it has one, browsers do not trust it.`;
  return problem("tls", `No connection to ${server.origin} opens: ${hint}`);
}

/** The server's address with http instead of https, or the other way round. */
function swapped(server: URL): URL {
  const url = new URL(server);
  url.protocol = server.protocol === "https:" ? "http:" : "https:";
  return url;
}

/**
 * True if browsers refuse this address to the page, because the page is from https and the address
 * is not.
 */
function isMixed(server: URL): boolean {
  const from = (globalThis as { location?: Location }).location?.protocol;
  return from === "https:" && server.protocol === "http:" && !isLocal(server);
}

function isLocal({ hostname }: URL): boolean {
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function ask(address: string, options: RequestInit = {}): Promise<Response> {
  return fetch(address, { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS), ...options });
}

/** Whether anything answers there, even if this page may not read it. */
function answersAnybody(server: URL): Promise<boolean> {
  return ask(door(server, "transports"), { mode: "no-cors" }).then(
    () => true,
    () => false,
  );
}

/** Whether this is a server's list of its transports (T4). */
function isOffer(status: number, text: string): boolean {
  try {
    return status === 200 && Array.isArray((JSON.parse(text) as { transports?: unknown } | null)?.transports);
  } catch {
    return false;
  }
}

/**
 * What Node, Bun and Deno say of a request that failed; undefined in browsers, which say nothing.
 */
function detailOf(error: unknown): string | undefined {
  const { cause, code, name } = error as {
    cause?: { code?: unknown; message?: unknown };
    code?: unknown;
    name?: unknown;
  };
  if (name === "TimeoutError") return `no answer within ${ANSWER_MS / 1000} s`;
  const said = [cause?.code, cause?.message, code].find((text) => typeof text === "string" && text !== "");
  return typeof said === "string" ? said : undefined;
}

function isTls(detail: string | undefined): boolean {
  return /cert|ssl|tls|verify/i.test(detail ?? "");
}

function problem(code: Problem["code"], message: string): Problem {
  return { code, message };
}
