import { connect, transaction } from "groupwire";
import { join } from "packed-join";

const say = (seen) => (window.seen = seen);

if (location.hash === "#worker") {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => say(data);
  worker.postMessage(location.search);
} else {
  const room = join({ connect, transaction }, new URLSearchParams(location.search), say);
  if (import.meta.env.DEV) import("groupwire/devtools").then(({ devtools }) => devtools(room));
}
