import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { requestModule, type ModuleName } from "../src/locate.js";
import { SocketDouble } from "./double.js";
import { until } from "./until.js";

const packages = vi.hoisted(() => ({ ws: undefined as unknown }));

vi.mock("node:module", () => ({
  createRequire: () => (name: string) => {
    if (name === "ws" && packages.ws) return packages.ws;
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
  },
}));

const FILES: Record<ModuleName, string> = {
  first: "groupwire_wasm_first.wasm",
  second: "groupwire_wasm_second.wasm",
  codecs: "groupwire_wasm_codecs_bg.wasm",
  brotli: "groupwire_wasm_brotli_bg.wasm",
};
const MODULES = Object.keys(FILES) as ModuleName[];
const content = (name: ModuleName) => readFileSync(new URL(`../wasm/${FILES[name]}`, import.meta.url));

/** Faster than comparing by the test library, which takes seconds for arrays of a megabyte. */
const same = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, at) => byte === b[at]);

let sockets: SocketDouble[] = [];
class Socket extends SocketDouble {
  constructor(url: string) {
    super(url);
    sockets.push(this);
  }
}

// Each entry sets the reader of modules when it is imported, so each test imports anew.
beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal("WebSocket", undefined);
  sockets = [];
  packages.ws = undefined;
});
afterEach(() => vi.unstubAllGlobals());

test.each(MODULES)("Node reads the module %s from the disk", async (name) => {
  await import("../src/node.js");
  const { requestModule } = await import("../src/locate.js");
  const bytes = (await requestModule(name, undefined)) as Uint8Array;
  expect(same(bytes, content(name))).toBe(true);
});

test.each(MODULES)("on a development server the module %s is inside JavaScript", async (name) => {
  await import("../src/development.js");
  const { requestModule } = await import("../src/locate.js");
  const response = (await requestModule(name, undefined)) as Response;
  expect(response.headers.get("content-type")).toBe("application/wasm");
  expect(same(new Uint8Array(await response.arrayBuffer()), content(name))).toBe(true);
});

test("a module that the application names is taken in place of the package's own", async () => {
  const bytes = Uint8Array.of(0);
  expect(await requestModule("first", bytes)).toBe(bytes);
  const fetched = vi.fn(async (_address: unknown) => new Response());
  vi.stubGlobal("fetch", fetched);
  await requestModule("first", "https://example.com/core.wasm");
  expect(fetched).toHaveBeenCalledExactlyOnceWith("https://example.com/core.wasm");
});

test.each(["option", "global", "package"])("the WebSocket is that of the %s", async (place) => {
  const { connect } = await import("../src/node.js");
  packages.ws = place === "package" ? Socket : undefined;
  if (place === "global") vi.stubGlobal("WebSocket", Socket);
  const room = connect("ws://server.example", "room", place === "option" ? { WebSocket: Socket } : {});
  await until(() => sockets.length === 1);
  room.leave();
});

test("without a WebSocket the error says what to install, unless another transport may be used", async () => {
  const { connect } = await import("../src/node.js");
  const missing = expect.objectContaining({ code: "no-transport", message: expect.stringContaining("npm install ws") });
  expect(() => connect("ws://server.example", "room")).toThrow(missing);
  expect(() => connect("ws://server.example", "room", { transports: ["websocket"] })).toThrow(missing);
  connect("ws://server.example", "room", { transports: ["longpoll"] }).leave();
});
