/** The page in a simulated room. */

import "../../../web/common/test/dom.js";
import { simulate, type Simulation } from "groupwire/testing";
import { Profiler } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, expect, test } from "vitest";
import { App } from "../src/app";
import { COLORS, pointers, RoomProvider, type Place } from "../src/room";

const [blue, red] = COLORS as [string, string];

let net: Simulation;
let root: Root;
let renders: number;

/** Shows the page of Ada. */
function show(): HTMLElement {
  const element = document.createElement("div");
  renders = 0;
  root = createRoot(element);
  root.render(
    <RoomProvider
      {...{ room: pointers, url: "http://test", name: "demo", connect: net.connect }}
      presence={{ name: "Ada", color: blue }}
    >
      <Profiler id="page" onRender={() => (renders += 1)}>
        <App />
      </Profiler>
    </RoomProvider>,
  );
  return element;
}

/** Lets another participant join, without a page. */
function join(name: string) {
  const room = pointers.join(net.connect, "http://test", "demo", { presence: { name, color: red } });
  const point = (place: Place): unknown => room.channels.pointer.send(place);
  return { room, point };
}

/** The place of the pointer that carries this name, if it is shown. */
function placeOf(page: HTMLElement, name: string): string | undefined {
  const cursor = [...page.querySelectorAll<HTMLElement>(".cursor")].find(({ textContent }) => textContent === name);
  return cursor && !cursor.hidden ? cursor.style.translate : undefined;
}

afterEach(() => {
  root.unmount();
  net.end();
});

test("shows who is here and where they point, without rendering when they move", async () => {
  net = simulate({ seed: 1, loss: 0.05, fakeTimers: true });
  const bo = join("Bo");
  const page = show();
  await net.settle();
  expect(page.querySelector("output")?.textContent).toBe("2 people are here");
  expect(page.querySelector("li")?.textContent).toBe("BBo");
  expect(placeOf(page, "Bo")).toBeUndefined();

  const before = renders;
  for (let x = 0; x <= 400; x += 10) {
    bo.point([x, 250]);
    await net.run(20);
  }
  await net.settle();
  expect(placeOf(page, "Bo")).toBe("40cqw 25cqh");
  expect(renders).toBe(before);

  bo.point(null);
  await net.settle();
  expect(placeOf(page, "Bo")).toBeUndefined();
});

test("who comes later sees where others have pointed before, and nothing of those who have left", async () => {
  net = simulate({ seed: 2, fakeTimers: true });
  const [bo, cy] = [join("Bo"), join("Cy")];
  await net.settle();
  bo.point([10, 20]);
  cy.point([30, 40]);
  await net.settle();
  const page = show();
  await net.settle();
  expect([placeOf(page, "Bo"), placeOf(page, "Cy")]).toEqual(["1cqw 2cqh", "3cqw 4cqh"]);
  cy.room.room.leave();
  await net.settle();
  expect([...page.querySelectorAll("li")].map(({ title }) => title)).toEqual(["Bo"]);
  expect(page.querySelector("main")?.textContent).not.toContain("Cy");
});

test("what is no place has no effect", async () => {
  net = simulate({ seed: 3, fakeTimers: true });
  const bo = join("Bo");
  const page = show();
  bo.point([10, 20]);
  await net.settle();
  const raw = bo.room.room.channel("pointer");
  for (const wrong of ["{", "7", "[1]", '["a","b"]', '{"x":1}', "[1e999,0]"]) {
    raw.send(wrong);
    await net.settle();
    expect(placeOf(page, "Bo")).toBe("1cqw 2cqh");
  }
});
