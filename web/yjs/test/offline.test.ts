import "fake-indexeddb/auto";
import { expect, test, vi } from "vitest";
import { IndexeddbPersistence } from "y-indexeddb";
import * as Y from "yjs";
import { GroupwireProvider } from "../src/index.js";
import { content, end, program, start } from "./start.js";

vi.setConfig({ testTimeout: 120_000 });

test("what was made offline and kept in IndexedDB is there and merged after the page is loaded again", async () => {
  const net = start();
  const b = program(net);
  b.text.insert(0, "online");
  await net.settle();
  const first = new Y.Doc();
  const [kept, room] = [new IndexeddbPersistence("document", first), net.join()];
  const provider = new GroupwireProvider(room, first);
  await kept.whenSynced;
  await net.settle();
  net.partition(room);
  await net.run(7000);
  first.getText("text").insert(0, "offline, then ");
  // This waits until the update is written.
  await kept.set("written", 1);
  net.crashTab(room);
  await kept.destroy();
  provider.destroy();
  b.text.insert(6, "!");
  await net.settle();

  // The page is loaded again, without a network.
  const second = new Y.Doc();
  const again = net.join();
  net.partition(again);
  const loaded = new IndexeddbPersistence("document", second);
  const next = new GroupwireProvider(again, second);
  await loaded.whenSynced;
  expect(second.getText("text").toString()).toBe("offline, then online");
  expect([next.synced, next.saved]).toEqual([false, false]);
  net.heal(again);
  await net.settle();
  expect(b.text.toString()).toBe("offline, then online!");
  expect(content(second)).toEqual(content(b.doc));
  expect([next.synced, next.saved]).toEqual([true, true]);
  await loaded.destroy();
  first.destroy();
  second.destroy();
  end(net, [b]);
});
