import { connect, transaction } from "groupwire";
import { join } from "packed-join";

const say = (seen) => (window.seen = seen);

if (location.hash === "#worker") {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => say(data);
  worker.postMessage(location.search);
} else {
  join({ connect, transaction }, new URLSearchParams(location.search), say);
}
