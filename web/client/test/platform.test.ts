import { afterEach, expect, test, vi } from "vitest";
import { available, NAMES } from "../src/transport/platform.js";

afterEach(() => vi.unstubAllGlobals());

/** A page of a browser with all transports. */
function inBrowser(userAgent: string): void {
  vi.stubGlobal("document", {});
  vi.stubGlobal("navigator", { userAgent });
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("WebTransport", function WebTransport() {});
  vi.stubGlobal("WebSocket", function WebSocket() {});
}

const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const IPHONE = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) ${WEBKIT}`;
const CHROMIUM = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  [
    "Safari on macOS and iPadOS",
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/26.4 Safari/605.1.15`,
  ],
  ["Safari on iOS", `${IPHONE} Version/26.4 Mobile/15E148 Safari/604.1`],
  ["Chrome on iOS", `${IPHONE} CriOS/150.0.7300.20 Mobile/15E148 Safari/604.1`],
  ["Firefox on iOS", `${IPHONE} FxiOS/153.0 Mobile/15E148 Safari/604.1`],
  ["an application on iOS", `${IPHONE} Mobile/15E148`],
  ["WebKitGTK", `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Version/60.5 Safari/605.1.15`],
])("%s begins with WebSocket, and WebTransport is only for what blocks that", (_, userAgent) => {
  inBrowser(userAgent);
  expect(available(undefined, undefined)).toEqual([
    ...["websocket", "webtransport"],
    ...["multipart", "iframe", "longpoll", "poll"],
  ]);
});

test.each([
  ["Chrome", `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${CHROMIUM} Chrome/150.0.0.0 Safari/537.36`],
  ["Edge", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROMIUM} Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0`],
  ["Chrome on Android", `Mozilla/5.0 (Linux; Android 10; K) ${CHROMIUM} Chrome/150.0.0.0 Mobile Safari/537.36`],
  ["headless Chromium", `Mozilla/5.0 (X11; Linux x86_64) ${CHROMIUM} HeadlessChrome/150.0.0.0 Safari/537.36`],
  ["Firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"],
])("%s begins with WebTransport", (_, userAgent) => {
  inBrowser(userAgent);
  expect(available(undefined, undefined)).toEqual(NAMES);
});

test("in WebKit, too, an application's own order is kept", () => {
  inBrowser(`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/26.4 Safari/605.1.15`);
  expect(available(["webtransport", "websocket"], undefined)).toEqual(["webtransport", "websocket"]);
});

test("outside of a page only WebSocket is used by itself", () => {
  vi.stubGlobal("navigator", undefined);
  expect(available(undefined, function WebSocket() {} as never)).toEqual(["websocket"]);
});
