/**
 * The comparison page: one pointer, shown over WebSocket and over WebTransport datagrams through
 * the same emulated network.
 */

import "../../../common/styles/base.css";
import "../../../common/styles/controls.css";
import "../styles/compare.css";
import { make } from "../../../common/ui/dom";
import { onThemeChanged } from "../../../common/view/theme";
import { readCompareAddress } from "./address";
import { Card } from "./card";
import { Controls } from "./controls";
import { Emulation } from "./emulation";
import { expose } from "./hook";
import { said, type Network } from "./network";
import { pageObstacle, pathObstacle, type Obstacle } from "./obstacle";
import { Recorder } from "./recorder";
import { record, type Moment } from "./recording";
import { Receiver, Sender } from "./sessions";
import { Source } from "./source";
import { PEAKS, topFor } from "./spark";
import { Made } from "./timeline";
import { verdict } from "./verdict";

/**
 * Time (ms) after a change of settings in which positions sent under the old settings arrive; they
 * are not counted.
 */
const SETTLE = 700;

/** A connection takes about 100 ms. After this time (ms) the page looks for an obstacle. */
const PATIENCE = 4000;

/** On a responsive page timers are not later than this (ms). */
const PAUSE = 60;

const address = readCompareAddress(new URL(location.href));
const source = new Source();
const made = new Made();
const cards = {
  websocket: new Card({
    transport: "websocket",
    title: "WebSocket",
    subtitle: "One ordered stream: behind a lost packet everything waits.",
    source,
    made,
  }),
  webtransport: new Card({
    transport: "webtransport",
    title: "WebTransport datagrams",
    subtitle: "Each packet for itself: a lost one is skipped, the next is newer anyway.",
    source,
    made,
  }),
} as const;
const both = [cards.websocket, cards.webtransport] as const;

const summary = make("p", "compare-verdict");
summary.dataset.testid = "verdict";
const note = make("p", "compare-note");
note.dataset.testid = "note";
const foot = make("p", "compare-foot");
foot.dataset.testid = "foot";

let awakeAt = performance.now();
/** What the server has accepted; undefined before it has answered. */
let network: Network | undefined;
let settling: ReturnType<typeof setTimeout> | undefined;
const emulation = new Emulation(address.server, address.room, (outcome, set) => {
  if (outcome === "failed") return showNote("The server did not take these settings. Is it running?");
  network = outcome === "done" ? set : "own";
  controls.offer(outcome === "done");
  showNote(said(network).note);
  settle(outcome === "done" ? set.delay : 0);
});
const recorder = new Recorder((seconds, progress) => record(seconds, () => network, moment, progress));
const controls = new Controls(address.settings, (wanted) => emulation.set(wanted), reset, recorder.button);

build();
const sender = new Sender(address.server, address.room, (now) => source.at(now), made, awake);
emulation.set(address.settings);
const who = (): number | undefined => sender.room.self?.id;
const receivers = {
  websocket: receiver("websocket"),
  webtransport: pageObstacle() ? undefined : receiver("webtransport"),
} as const;
let obstacle: Obstacle | undefined = pageObstacle();
watchPath();

onThemeChanged(repaint);
document.addEventListener("visibilitychange", reset);
repaint();
requestAnimationFrame(frame);
setInterval(show, 250);
const recording = address.record > 0 ? started().then(() => recorder.record(address.record)) : undefined;
expose({ sender, cards, network: () => network, recording });

function receiver(transport: keyof typeof cards): Receiver {
  return new Receiver(address.server, address.room, transport, who, (said, now) => {
    awake(now);
    cards[transport].receive(said, now);
  });
}

/**
 * Called on every timer and frame. A longer pause between calls means that the page itself was
 * stopped, which must not count for either board.
 */
function awake(now: number): void {
  if (now - awakeAt > PAUSE) {
    for (const { timeline } of both) timeline.skip(awakeAt, now);
    made.pause(now - awakeAt);
  }
  awakeAt = now;
}

function build(): void {
  document.title = "Loss, live · Groupwire";
  document.documentElement.classList.add("compare");
  const head = make("header", "compare-head");
  const back = make("a", "compare-back", "Whiteboard");
  back.href = "?";
  const title = make("div", "");
  title.append(
    make("h1", "", "The same pointer, twice"),
    make(
      "p",
      "compare-lead",
      "The ring is where the pointer is; the arrow is where the others see it. Both boards are sent the same positions through the same network. Move over a board to lead the pointer yourself.",
    ),
  );
  head.append(title, back);
  const sides = make("div", "compare-sides");
  sides.append(...both.map(({ element }) => element));
  showNote("");
  const page = make("main", "compare-page");
  page.append(head, controls.element, note, recorder.element, summary, sides, foot);
  document.body.replaceChildren(page);
}

/** Says what network the boards use, or why that is not known. */
function showNote(text: string): void {
  note.textContent = text;
  note.hidden = text === "";
  foot.textContent = said(network).foot;
}

/** Begins anew after a change of the network, whose delay this is. */
function settle(delay: number): void {
  clearTimeout(settling);
  settling = setTimeout(reset, SETTLE + 2 * delay);
}

function reset(): void {
  const now = performance.now();
  for (const { timeline } of both) timeline.reset(now);
  show();
}

function repaint(): void {
  for (const card of both) card.repaint();
}

function frame(now: number): void {
  const truth = source.at(now);
  for (const card of both) card.draw(now, truth);
  requestAnimationFrame(frame);
}

function show(): void {
  if (document.hidden) return;
  const now = performance.now();
  const top = topFor(...both.map(({ timeline }) => timeline.peaks(PEAKS)));
  const numbers = both.map(({ timeline }) => timeline.numbers(now));
  both.forEach((card, i) => {
    const own = numbers[i];
    if (own) card.show(own, top);
  });
  cards.websocket.explain(undefined, receivers.websocket.room.status === "connected");
  cards.webtransport.explain(obstacle, receivers.webtransport?.room.status === "connected");
  const [stream, datagrams] = numbers;
  const text = stream ? verdict(network, stream, obstacle ? undefined : datagrams) : "";
  if (summary.textContent !== text) summary.textContent = text;
}

/** Looks for an obstacle while there is no connection. */
function watchPath(): void {
  const { webtransport } = receivers;
  if (!webtransport) return;
  let since = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (webtransport.room.status === "connected") {
      since = now;
      obstacle = undefined;
    } else if (now - since > PATIENCE) {
      since = now;
      void pathObstacle(address.server).then((found) => {
        if (webtransport.room.status !== "connected") obstacle = found;
      });
    }
  }, 500);
}

/** Resolves when both boards show positions, or the only one that can. */
function started(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const isComplete = cards.webtransport.shown !== undefined || obstacle !== undefined;
      if (!network || !cards.websocket.shown || !isComplete) return;
      clearInterval(timer);
      setTimeout(resolve, SETTLE + 2 * (network === "own" ? 0 : network.delay));
    }, 50);
  });
}

function moment(): Moment {
  const time = performance.now();
  return {
    time,
    true: source.at(time),
    websocket: shown(cards.websocket, time),
    webtransport: shown(cards.webtransport, time),
  };
}

function shown({ shown, timeline }: Card, now: number): Moment["websocket"] {
  return shown && { ...shown, behind: timeline.behind(now) };
}
