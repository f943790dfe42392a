import { beforeEach, describe, expect, test, vi } from "vitest";
import type { TransportName } from "../src/api.js";
import { Choice, RETRY_MS } from "../src/choice.js";
import { FULL } from "../src/transport/link.js";
import { NAMES } from "../src/transport/platform.js";
import { ALL_OPEN, Fake, FakeMemory, world, World } from "./choice-world.js";
import { randomOf } from "./random.js";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/** `BYE` in the place of `WELCOME`: come back after 1.5 s (W36). */
const GOODBYE = Uint8Array.of(1, 0x11, 3, 0, 0xdc, 0x0b);

const pass = (ms: number): void => void vi.advanceTimersByTime(ms);

describe("W117: the server that has the room", () => {
  const OWNER = new URL("https://gw-1.example");
  const owners = (it: World): (string | undefined)[] => it.links.map(({ owner }) => owner);

  /** A session that has joined over its own server and got an OWNER frame. */
  const told = (names: readonly TransportName[] = ["websocket"], atOwner = "opens"): World => {
    const it = world(ALL_OPEN, names);
    it.atOwner = atOwner === "silence" ? undefined : atOwner;
    pass(50);
    it.choice.move(OWNER);
    return it;
  };

  test("the session moves there by the same transport, once the link is open", () => {
    const it = told();
    const [own, direct] = it.links;
    expect(own?.isClosed).toBe(false);
    pass(50);
    expect(owners(it)).toEqual([undefined, OWNER.host]);
    expect([own?.isClosed, direct?.isClosed, it.closed]).toEqual([true, false, 0]);
    // The session does not follow that server any further.
    it.choice.move(new URL("https://gw-2.example"));
    pass(50);
    expect(it.links).toHaveLength(2);
  });

  test("when that link breaks, the session goes back to its own server", () => {
    const it = told();
    pass(50);
    it.links[1]?.break();
    pass(300);
    expect(owners(it)).toEqual([undefined, OWNER.host, undefined]);
    expect(it.name).toBe("websocket");
  });

  test.each(["did not answer", "silence"])("the session stays where it is if that server %s", (rule) => {
    const it = told(["websocket"], rule);
    pass(60_000);
    expect(owners(it)).toEqual([undefined, OWNER.host]);
    expect([it.links[0]?.isClosed, it.links[1]?.isClosed, it.closed]).toEqual([false, true, 0]);
    expect(it.why).not.toContain("did not answer");
  });

  test("a silent link there is replaced by one of the session's own server", () => {
    const it = told();
    pass(50);
    it.choice.quiet(true);
    pass(50);
    expect(owners(it)).toEqual([undefined, OWNER.host, undefined]);
    expect(it.links[1]?.isClosed).toBe(true);
  });

  test("if the session cannot join there, it goes back to its own server", () => {
    const it = told();
    it.joins = false;
    pass(1600);
    it.joins = true;
    pass(50);
    expect(owners(it)).toEqual([undefined, OWNER.host, undefined]);
    expect(it.links.map(({ isClosed }) => isClosed)).toEqual([true, true, false]);
  });

  test("better transports are tried there, too", () => {
    const it = world({ websocket: "opens" }, ["webtransport", "websocket"]);
    pass(RETRY_MS - 1000);
    it.choice.move(OWNER);
    pass(RETRY_MS + 2000);
    expect(it.name).toBe("webtransport");
    expect(it.links.at(-1)?.owner).toBe(OWNER.host);
  });

  test("without a link in use nothing moves", () => {
    const it = world({ websocket: "opens" }, ["websocket"]);
    it.choice.move(OWNER);
    pass(50);
    expect(owners(it)).toEqual([undefined]);
  });
});

describe("race", () => {
  test("if the best transport opens, no other is tried", () => {
    const it = world();
    pass(60_000);
    expect(it.tried()).toEqual(["webtransport"]);
    expect(it.choice.transport).toEqual({ name: "webtransport", why: "The best there is here." });
  });

  test("the next transport starts after 200 ms, the first to open is used, and the better one goes on trying", () => {
    const it = world({ websocket: "opens" });
    pass(199);
    expect(it.tried()).toEqual(["webtransport"]);
    pass(20);
    expect(it.name).toBe("websocket");
    expect(it.why).toBe("WebTransport did not answer within 200 ms; still trying.");
    expect(it.links[0]?.isClosed).toBe(false);
    pass(100);
    // The better transport opens late.
    it.link("webtransport").events.opened(1200);
    expect(it.name).toBe("webtransport");
    expect(it.link("websocket").isClosed).toBe(true);
    expect(it.closed).toBe(0);
    expect(it.opened).toBe(2);
  });

  test("after a failure the next transport starts at once", () => {
    const it = world({ webtransport: "could not be opened", websocket: "was refused", multipart: "opens" });
    pass(40);
    expect(it.name).toBe("multipart");
    expect(it.why).toBe("WebTransport could not be opened, WebSocket was refused; trying again in 15 s.");
    expect(it.loose()).toEqual([]);
  });

  test("a transport that never answers is given up after 10 s, and the reason says so", () => {
    const it = world({ websocket: "opens" });
    pass(10_000);
    expect(it.link("webtransport").isClosed).toBe(true);
    expect(it.why).toBe("WebTransport did not answer within 10 s; trying again in 15 s.");
  });

  test("a link that cannot be created counts as failed", () => {
    const it = new World(["websocket", "poll"]);
    const { open } = it as unknown as { open: unknown };
    expect(open).toBeUndefined();
    const choice = new Choice({
      names: ["websocket", "poll"],
      memory: new FakeMemory(),
      clock: { now: Date.now, after: (ms, run) => (setTimeout(run, ms), () => {}) },
      open: (name, events) => {
        if (name === "websocket") throw new DOMException("mixed content", "SecurityError");
        setTimeout(() => events.opened(0), 10);
        return new Fake(name, 0, events, undefined);
      },
      events: {
        ...{ opened() {}, received() {}, receivedDatagram() {}, sent() {}, datagramSent() {} },
        ...{ closed() {}, failed() {}, changed() {} },
      },
    });
    choice.dial();
    pass(20);
    expect(choice.transport).toEqual({ name: "poll", why: "WebSocket is not permitted here; trying again in 15 s." });
  });

  test("if no transport opens, the session is told, and the next search begins with the best", () => {
    const it = world(Object.fromEntries(NAMES.map((name) => [name, "broke"])));
    pass(60);
    expect(it.closed).toBe(1);
    pass(300);
    expect(it.tried().slice(6, 8)).toEqual(["webtransport", "websocket"]);
    it.rules = { websocket: "opens" };
    pass(500);
    expect(it.name).toBe("websocket");
  });

  test("a transport that never answers does not keep the others from being tried again soon", () => {
    const refused = Object.fromEntries(NAMES.map((name) => [name, "was refused"]));
    delete refused["webtransport"];
    const it = world(refused);
    pass(2500);
    expect(it.closed).toBeGreaterThanOrEqual(1);
    expect(it.tried().filter((name) => name === "websocket").length).toBeGreaterThanOrEqual(2);
    expect(it.tried().filter((name) => name === "webtransport").length).toBe(1);
  });

  test("the only allowed transport has 10 s to open", () => {
    const it = world({}, ["websocket"]);
    pass(9000);
    expect(it.closed).toBe(0);
    it.link("websocket").events.opened(0);
    expect(it.name).toBe("websocket");
    expect(it.why).toBe("The only one that may be used here.");
  });
});

describe("a round that failed", () => {
  test("is told with what became of each transport", () => {
    const it = world({ websocket: "was refused", poll: "broke" }, ["websocket", "poll"]);
    pass(40);
    expect(it.failed).toEqual([[true, "WebSocket was refused, Polling broke"]]);
  });

  test("is told before the session has dialled, too, and nothing more is tried until it dials", () => {
    const it = new World(["websocket", "poll"]);
    it.rules = { websocket: "was refused", poll: "broke" };
    it.choice.preconnect();
    pass(5000);
    expect(it.failed).toEqual([[true, "WebSocket was refused, Polling broke"]]);
    expect(it.tried()).toEqual(["websocket", "poll"]);
    expect(it.closed).toBe(0);
  });

  test("is told while it goes on, once, if nothing answers", () => {
    const it = world({}, ["websocket", "poll"]);
    pass(2100);
    expect(it.failed).toEqual([]);
    pass(5000);
    expect(it.failed).toEqual([[true, "WebSocket has not answered yet, Polling has not answered yet"]]);
    expect(it.closed).toBe(0);
    it.link("poll").events.opened(0);
    expect(it.name).toBe("poll");
  });

  test("tries one transport on request: WebSocket before the session has ever joined", () => {
    const it = new World();
    it.redials = false;
    it.rules = { websocket: "was refused" };
    it.choice.dialOne();
    pass(40);
    expect(it.tried()).toEqual(["websocket"]);
    expect(it.failed).toEqual([[false, "WebSocket was refused"]]);
    expect(it.closed).toBe(1);
  });

  test("tries the transport on which the session has joined, and better ones once it joins", () => {
    const it = world({ webtransport: "could not be opened", websocket: "was refused", multipart: "opens" });
    it.redials = false;
    pass(100);
    it.link("multipart").break();
    const before = it.links.length;
    it.rules = { multipart: "opens", websocket: "opens" };
    it.choice.dialOne();
    pass(15);
    expect(it.tried().slice(before)).toEqual(["multipart"]);
    pass(100);
    expect(it.tried().slice(before)).toEqual(["multipart", "webtransport", "websocket"]);
    expect(it.name).toBe("websocket");
  });

  test("is told if the session cannot join on the transport that opened", () => {
    const it = new World(["websocket"]);
    it.joins = it.redials = false;
    it.rules = ALL_OPEN;
    it.choice.dial();
    pass(20);
    it.link("websocket").break("broke");
    expect(it.failed).toEqual([[true, "WebSocket opened, but broke"]]);
    it.choice.dial();
    pass(20);
    it.choice.hangup();
    expect(it.failed.at(-1)).toEqual([true, "WebSocket opened, but carried nothing"]);
  });

  test("is not told if the server says when to come back, or the session had joined", () => {
    const it = world({ websocket: "opens" }, ["websocket"]);
    it.redials = false;
    pass(40);
    it.link("websocket").break();
    it.joins = false;
    it.choice.dial();
    pass(20);
    it.link("websocket").events.received(GOODBYE);
    it.link("websocket").break();
    expect(it.failed).toEqual([]);
  });
});

describe("before there is a session", () => {
  test("transports open early, and the session gets an open one when it dials", () => {
    const it = new World();
    it.rules = ALL_OPEN;
    it.choice.preconnect();
    pass(1000);
    expect(it.tried()).toEqual(["webtransport"]);
    expect(it.opened).toBe(0);
    it.choice.dial();
    expect(it.opened).toBe(1);
    expect(it.name).toBe("webtransport");
    expect(it.links).toHaveLength(1);
  });

  test("a race that began early goes on when the session dials", () => {
    const it = new World();
    it.rules = { webtransport: "could not be opened" };
    it.choice.preconnect();
    pass(100);
    it.rules = ALL_OPEN;
    it.choice.dial();
    it.link("websocket").events.opened(0);
    expect(it.name).toBe("websocket");
    expect(it.why).toBe("WebTransport could not be opened; trying again in 15 s.");
  });

  test("of two open transports the better one is used", () => {
    const it = new World();
    it.rules = { websocket: "opens" };
    it.choice.preconnect();
    pass(300);
    it.link("webtransport").events.opened(0);
    it.choice.dial();
    expect(it.name).toBe("webtransport");
    expect(it.link("websocket").isClosed).toBe(true);
  });

  test("a transport that the server closed before it was used is opened again", () => {
    const it = new World();
    it.rules = ALL_OPEN;
    it.choice.preconnect();
    pass(5000);
    it.link("webtransport").break("was closed by the server");
    it.choice.dial();
    pass(20);
    expect(it.choice.transport).toEqual({ name: "webtransport", why: "The best there is here." });
  });
});

describe("session", () => {
  test("packets go to and come from the transport in use only", () => {
    const it = world({ websocket: "opens" });
    pass(300);
    it.link("webtransport").events.opened(0);
    it.link("websocket").events.received(Uint8Array.of(1));
    it.link("websocket").break();
    it.link("webtransport").events.received(Uint8Array.of(2));
    expect(it.received).toEqual([Uint8Array.of(2)]);
    expect(it.closed).toBe(0);
    it.choice.send(Uint8Array.of(3));
    expect(it.link("webtransport").sent).toEqual([Uint8Array.of(3)]);
    expect(it.link("websocket").sent).toEqual([]);
  });

  test("a better transport that opens before the session has joined waits until it has", () => {
    const it = new World();
    it.rules = { websocket: "opens" };
    it.joins = false;
    it.choice.dial();
    pass(215);
    it.link("webtransport").events.opened(0);
    expect(it.name).toBe("websocket");
    it.choice.joined();
    expect(it.name).toBe("webtransport");
  });

  test("a transport that opened and carried nothing comes last in the next search", () => {
    const it = new World(["websocket", "multipart"]);
    it.rules = ALL_OPEN;
    it.joins = false;
    it.choice.dial();
    pass(50);
    expect(it.name).toBe("websocket");
    it.link("websocket").break();
    it.joins = true;
    pass(300);
    expect(it.name).toBe("multipart");
    expect(it.why).toBe("WebSocket opened, but broke; trying again in 15 s.");
  });

  test("a transport on which the session does not join is replaced within 3 s", () => {
    const it = new World(["websocket", "multipart"]);
    it.rules = ALL_OPEN;
    it.joins = false;
    it.choice.dial();
    pass(1000);
    expect(it.name).toBe("websocket");
    it.joins = true;
    pass(1000);
    expect(it.name).toBe("multipart");
    expect(it.why).toBe("WebSocket opened, but carried nothing; trying again in 15 s.");
  });

  test("on a slow path the session may join late and keep its transport", () => {
    const it = new World(["websocket", "multipart"]);
    it.rules = { websocket: "opens" };
    it.joins = false;
    it.choice.dial();
    pass(3000);
    it.choice.joined();
    expect(it.name).toBe("websocket");
    expect(it.loose()).toEqual([]);
    pass(1000);
    expect(it.name).toBe("websocket");
  });

  test("hanging up closes the link, and the next search begins anew", () => {
    const it = world();
    pass(50);
    it.choice.hangup();
    expect(it.link("webtransport").isClosed).toBe(true);
    expect(it.choice.transport).toBeUndefined();
    it.choice.dial();
    pass(50);
    expect(it.name).toBe("webtransport");
  });

  test("a transport over which the server says when to come back works, and no other one is used before", () => {
    const it = new World(["webtransport", "websocket", "multipart"]);
    it.rules = { websocket: "opens" };
    it.joins = false;
    it.choice.dial();
    pass(300);
    expect(it.name).toBe("websocket");
    // Version 1, and BYE with reason 0 and 1,500 ms.
    it.link("websocket").events.received(GOODBYE);
    it.choice.hangup();
    expect(it.link("webtransport").isClosed).toBe(true);
    pass(1500);
    expect(it.choice.transport).toBeUndefined();
    it.rules = ALL_OPEN;
    it.joins = true;
    const before = it.tried().length;
    it.choice.dial();
    pass(20);
    expect(it.tried().slice(before)).toEqual(["webtransport"]);
    expect(it.name).toBe("webtransport");
  });

  test("a transport over which something else than a server of this protocol answered has failed", () => {
    const it = new World(["websocket", "multipart"]);
    it.rules = ALL_OPEN;
    it.joins = false;
    it.choice.dial();
    pass(50);
    it.link("websocket").events.received(Uint8Array.of(0x48, 0x54));
    it.choice.hangup();
    it.joins = true;
    it.choice.dial();
    pass(50);
    expect(it.name).toBe("multipart");
  });

  test("`end` closes all links for good", () => {
    const it = world({ websocket: "opens" });
    pass(300);
    it.choice.end();
    expect(it.links.every(({ isClosed }) => isClosed)).toBe(true);
    pass(600_000);
    expect(it.links).toHaveLength(2);
    expect(it.choice.transport).toBeUndefined();
  });
});

describe("chain of failures", () => {
  test("after each failure the session works again within 3 s, and returns to better transports without a gap", () => {
    const it = world();
    pass(50);
    const steps: [blocked: TransportName, silent: boolean][] = [
      ["webtransport", true],
      ["websocket", false],
      ["multipart", true],
      ["iframe", false],
      ["longpoll", false],
    ];
    for (const [blocked, isSilent] of steps) {
      expect(it.name).toBe(blocked);
      it.rules = { ...it.rules, [blocked]: isSilent ? undefined : "was refused" };
      const began = Date.now();
      if (isSilent) setTimeout(() => it.choice.quiet(true), 2500);
      else it.link(blocked).break();
      while (it.name === blocked || it.name === undefined) pass(10);
      expect(Date.now() - began).toBeLessThan(3000);
      pass(20);
    }
    expect(it.name).toBe("poll");
    const closed = it.closed;
    it.rules = ALL_OPEN;
    pass(300_000);
    expect(it.name).toBe("webtransport");
    expect(it.closed).toBe(closed);
  });

  test("better transports are tried again at growing intervals, up to 5 minutes", () => {
    const it = world({ webtransport: "could not be opened", websocket: "opens" });
    pass(50);
    it.links.length = 0;
    pass(3_600_000);
    const times = it.links.map(({ at }) => at);
    const gaps = times.slice(1).map((at, i) => Math.round((at - (times[i] ?? 0)) / 1000));
    expect(gaps.slice(0, 5)).toEqual([30, 60, 120, 240, 300]);
    expect(new Set(gaps.slice(5))).toEqual(new Set([300]));
    expect(it.why).toBe("WebTransport could not be opened; trying again in 300 s.");
  });

  test("a hint (online, page shown, another network) makes better transports be tried at once", () => {
    const it = world({ webtransport: "could not be opened", websocket: "opens" });
    pass(100_000);
    it.rules = ALL_OPEN;
    it.choice.hint();
    pass(20);
    expect(it.name).toBe("webtransport");
  });

  test("a hint during a search cancels attempts that hang on the old network", () => {
    const it = world({}, ["websocket"]);
    pass(5000);
    it.rules = ALL_OPEN;
    it.choice.hint();
    pass(20);
    expect(it.links[0]?.isClosed).toBe(true);
    expect(it.name).toBe("websocket");
  });

  test("T26: when WebTransport breaks, the next link opens while the session waits to dial", () => {
    const it = world();
    pass(100);
    it.link("webtransport").break();
    pass(100);
    expect([it.tried(), it.opened]).toEqual([["webtransport", "webtransport"], 1]);
    pass(150);
    expect([it.name, it.opened]).toEqual(["webtransport", 2]);
    expect(it.links).toHaveLength(2);
  });

  test("when a WebSocket breaks, or the server closes a transport, nothing opens before the session dials", () => {
    for (const [name, reason] of [
      ["websocket", "broke"],
      ["webtransport", "was closed by the server"],
    ] as const) {
      const it = world(ALL_OPEN, [name]);
      pass(100);
      it.link(name).break(reason);
      pass(200);
      expect(it.links).toHaveLength(1);
    }
  });

  test("a transport that worked is used again after it breaks", () => {
    const it = world();
    pass(50);
    it.link("webtransport").break();
    pass(300);
    expect(it.name).toBe("webtransport");
    expect(it.tried()).toEqual(["webtransport", "webtransport"]);
  });
});

describe("quiet", () => {
  test("another link of the same kind and one of the next kind are opened at once; the first that opens gets the session", () => {
    const it = world();
    pass(50);
    it.rules = { websocket: "opens" };
    it.choice.quiet(true);
    expect(it.tried()).toEqual(["webtransport", "webtransport", "websocket", "multipart"]);
    pass(20);
    expect(it.name).toBe("websocket");
    expect(it.why).toBe("WebTransport fell silent; still trying.");
    expect(it.closed).toBe(0);
  });

  test("a new connection of the same kind is used if only the old connection was dead", () => {
    const it = world({ websocket: "opens" }, ["websocket"]);
    pass(50);
    it.choice.quiet(true);
    pass(20);
    expect(it.name).toBe("websocket");
    expect(it.links.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  test("if all others fail, they are tried again soon", () => {
    const it = world({ websocket: "opens" }, ["websocket"]);
    pass(50);
    it.rules = { websocket: "was refused" };
    it.choice.quiet(true);
    pass(700);
    it.rules = ALL_OPEN;
    pass(1000);
    expect(it.opened).toBe(2);
    expect(it.closed).toBe(0);
  });

  test("a transport that is no longer silent stays in use", () => {
    const it = world();
    pass(50);
    it.rules = {};
    it.choice.quiet(true);
    pass(500);
    it.choice.quiet(false);
    expect(it.loose()).toEqual([]);
    const opening = it.link("websocket");
    opening.events.opened(0);
    expect(it.name).toBe("webtransport");
    expect(it.opened).toBe(1);
  });
});

describe("memory", () => {
  test("if the best transport never worked, the next visit begins with the fall-back and tries the best later", () => {
    const memory = new FakeMemory();
    const first = world({ webtransport: "could not be opened", websocket: "opens" }, NAMES, memory);
    pass(100);
    first.choice.end();
    expect(memory.instead).toBe("websocket");
    const it = world(ALL_OPEN, NAMES, memory);
    pass(50);
    expect(it.name).toBe("websocket");
    expect(it.tried()).toEqual(["websocket"]);
    expect(it.why).toBe("WebTransport did not work here before; trying again in 15 s.");
    pass(RETRY_MS);
    expect(it.name).toBe("webtransport");
    expect([...memory.best]).toEqual(["webtransport"]);
  });

  test("if the best transport worked once, no fall-back is remembered", () => {
    const memory = new FakeMemory();
    const it = world(ALL_OPEN, NAMES, memory);
    pass(100);
    it.rules = { webtransport: "could not be opened", websocket: "opens" };
    it.link("webtransport").break();
    pass(500);
    expect(it.name).toBe("websocket");
    expect(memory.instead).toBeUndefined();
  });

  test("a transport that was only slow is not remembered as failed", () => {
    const memory = new FakeMemory();
    world({ websocket: "opens" }, NAMES, memory);
    pass(5000);
    expect(memory.instead).toBeUndefined();
    pass(6000);
    expect(memory.instead).toBe("websocket");
  });
});

describe("allowed transports", () => {
  test("a pinned transport is the only one ever tried", () => {
    const it = world({ ...ALL_OPEN, longpoll: "was refused" }, ["longpoll"]);
    pass(20_000);
    expect(new Set(it.tried())).toEqual(new Set(["longpoll"]));
    it.rules = ALL_OPEN;
    pass(1000);
    expect(it.name).toBe("longpoll");
    it.choice.quiet(true);
    pass(60_000);
    expect(new Set(it.tried())).toEqual(new Set(["longpoll"]));
  });

  test("a change of the allowed transports moves the session without a gap", () => {
    const it = world();
    pass(50);
    it.choice.choose(["poll"]);
    expect(it.link("webtransport").isClosed).toBe(false);
    pass(20);
    expect(it.name).toBe("poll");
    expect(it.link("webtransport").isClosed).toBe(true);
    it.choice.choose(NAMES);
    pass(50);
    expect(it.name).toBe("webtransport");
    expect(it.closed).toBe(0);
  });

  test("a transport that is no longer allowed is closed when no other opens", () => {
    const it = world({ ...ALL_OPEN, poll: "was refused" });
    pass(50);
    it.choice.choose(["poll"]);
    pass(50);
    expect(it.closed).toBe(1);
    expect(it.choice.transport).toBeUndefined();
    it.rules = ALL_OPEN;
    pass(1000);
    expect(it.name).toBe("poll");
  });

  test("a change during a search goes on with the new transports", () => {
    const it = world({});
    pass(300);
    it.rules = ALL_OPEN;
    it.choice.choose(["longpoll", "poll"]);
    pass(20);
    expect(it.name).toBe("longpoll");
    expect(it.loose()).toEqual([]);
  });

  test("T20: if all responses that may be held are taken, the session polls, and moves when one is free", () => {
    const it = world({ ...ALL_OPEN, multipart: FULL }, ["multipart"]);
    pass(50);
    expect(it.name).toBe("poll");
    expect(it.why).toMatch(/^Multipart streaming would be the fifth response/);
    it.rules = ALL_OPEN;
    pass(RETRY_MS);
    expect(it.name).toBe("multipart");
  });
});

test("after any sequence of events at most one transport is in use, and all other links are closed", () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = randomOf(seed);
    const it = world({});
    for (let step = 0; step < 60; step += 1) {
      const link = it.links[random(it.links.length)];
      const acts = [
        () =>
          (it.rules = Object.fromEntries(
            NAMES.map((name) => [name, ["opens", "broke", undefined][random(3)]]),
          ) as World["rules"]),
        () => link && !link.isClosed && it.choice.transport?.name === link.name && link.break(),
        () => it.choice.quiet(random(2) === 0),
        () => it.choice.hint(),
        () => it.choice.choose(NAMES.filter(() => random(2) === 0).concat("poll")),
        () => pass(random(3000)),
        () => pass(random(20)),
      ];
      acts[random(acts.length)]?.();
    }
    it.rules = ALL_OPEN;
    it.choice.quiet(false);
    it.choice.choose(NAMES);
    pass(620_000);
    expect(it.name, `seed ${seed}`).toBe("webtransport");
    const open = it.links.filter(({ isClosed }) => !isClosed).map(({ name }) => name);
    expect(open, `seed ${seed}`).toEqual(["webtransport"]);
  }
});

describe("a session that can soon do more", () => {
  test("a better transport that opens meanwhile waits for it", () => {
    const it = world({ websocket: "opens" });
    it.choice.hold();
    pass(220);
    it.link("webtransport").events.opened(1200);
    expect(it.name).toBe("websocket");
    it.choice.renew();
    expect(it.name).toBe("webtransport");
    expect([it.opened, it.closed]).toEqual([2, 0]);
    pass(60_000);
    expect(it.tried()).toEqual(["webtransport", "websocket"]);
  });

  test("without a better one it moves to another link of the same kind, and stays on the old one until that is open", () => {
    const it = world({ webtransport: "failed", websocket: "opens" }, ["webtransport", "websocket"]);
    it.choice.hold();
    pass(60);
    const [before] = it.links.filter(({ name }) => name === "websocket");
    it.choice.renew();
    expect(before?.isClosed).toBe(false);
    pass(30);
    expect(before?.isClosed).toBe(true);
    expect(it.tried()).toEqual(["webtransport", "websocket", "websocket"]);
    expect([it.name, it.opened, it.closed]).toEqual(["websocket", 2, 0]);
  });

  test("it moves after joining if it had not joined before", () => {
    const it = world(ALL_OPEN, ["websocket"]);
    it.choice.hold();
    pass(15);
    it.choice.renew();
    expect(it.tried()).toEqual(["websocket"]);
    pass(30);
    expect([it.tried().length, it.opened]).toEqual([2, 2]);
  });

  test("a second link that fails is tried again later, and the first goes on", () => {
    const it = world(ALL_OPEN, ["websocket"]);
    pass(60);
    it.rules = { websocket: "was refused" };
    it.choice.renew();
    pass(100);
    expect([it.name, it.opened, it.closed]).toEqual(["websocket", 1, 0]);
    expect(it.links[0]?.isClosed).toBe(false);
    it.rules = ALL_OPEN;
    pass(RETRY_MS);
    expect([it.tried().length, it.opened]).toEqual([3, 2]);
  });

  test("if it cannot, it moves to a better transport as it is", () => {
    const it = world({ websocket: "opens" });
    it.choice.hold();
    pass(220);
    it.link("webtransport").events.opened(1200);
    it.choice.unhold();
    expect(it.name).toBe("webtransport");
  });

  test("a transport that falls silent is replaced by a better one that waits", () => {
    const it = world({ websocket: "opens" });
    it.choice.hold();
    pass(220);
    it.link("webtransport").events.opened(1200);
    it.choice.quiet(true);
    expect(it.name).toBe("webtransport");
  });
});
