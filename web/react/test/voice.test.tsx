/** `useVoice`: renders what happens in the conversation, and ends it with the component. */

import type { ReactNode } from "react";
import { expect, test } from "vitest";
import { useVoice, type UsedVoice } from "../src/voice.js";
import { hooks, join, Page, props, start } from "./room.js";

const { RoomProvider } = hooks;

test("joins on demand, shows the people, and leaves with the component", async () => {
  const net = start();
  const bo = join(net, "Bo");
  let used: UsedVoice | undefined;
  function Talk(): ReactNode {
    used = useVoice({ microphone: false });
    const { state } = used;
    return state ? `${state.microphone} ${state.people.length}` : "not joined";
  }
  const page = new Page(
    <RoomProvider {...props(net)}>
      <Talk />
    </RoomProvider>,
  );
  await net.settle();
  expect(page.text).toBe("not joined");
  await used?.join();
  const { voice } = used ?? {};
  // jsdom has no sound.
  voice?.on("error", () => {});
  await net.run(500);
  expect(page.text).toBe("off 0");
  bo.setPresence({ name: "Bo", voice: "speaking" } as never);
  await net.settle();
  await net.run(500);
  expect(page.text).toBe("off 1");
  used?.leave();
  await net.run(500);
  expect(page.text).toBe("not joined");
  await used?.join();
  const again = used?.voice;
  again?.on("error", () => {});
  expect(again).not.toBe(voice);
  page.close();
  await net.run(500);
  expect(again?.state.people).toEqual([]);
});
