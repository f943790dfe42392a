// Writes a page on which a recorded pointer is shown by every method at once, over the networks of
// the experiment, beside where it really was.
//
//   node lab/motion/see.mjs FOLDER PAGE.html [--seed N] [--skip N] [--seconds N]

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { METHODS } from "./methods.mjs";
import { conflate, LOSSES, travel } from "./network.mjs";
import { recordingsIn } from "./recording.mjs";
import { FRAME, show } from "./show.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    skip: { type: "string", default: "3" },
    seconds: { type: "string", default: "20" },
  },
});
const [folder, file] = positionals;
if (!folder || !file) throw new Error("usage: node lab/motion/see.mjs FOLDER PAGE.html");
const wanted = { skip: Number(options.skip), count: 1, seconds: Number(options.seconds) };
const [recording] = recordingsIn(folder, wanted);
if (!recording) throw new Error(`no recordings in ${folder}`);

const shown = LOSSES.map((loss) => ({
  loss,
  methods: METHODS.map((method) => {
    const sent = conflate(method.messages(recording), method.interval);
    const arrivals = travel(sent, { transport: "datagram", loss, seed: Number(options.seed) });
    const frames = show(method, arrivals, recording);
    // The frames before the first message are empty.
    const first = Math.round((frames[0]?.now ?? 0) / FRAME);
    return { name: method.name, first, frames: frames.map(({ x, y }) => [Math.round(x), Math.round(y)]) };
  }),
}));
const count = Math.floor(recording.end / FRAME);
const truth = Array.from({ length: count }, (_, i) => recording.at(i * FRAME).map(Math.round));
writeFileSync(file, page({ frame: FRAME, truth, shown }));

function page(data) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Somebody else's pointer, by method</title>
<style>
  body { font: 15px/1.4 system-ui, sans-serif; margin: 1rem; color: #222 }
  main { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 10px }
  figure { margin: 0; border: 1px solid #ccc; border-radius: 6px } figcaption { padding: 4px 8px }
  canvas { display: block; width: 100% } label { margin-right: 1.5rem }
</style>
<p><label>Loss <select id="loss"></select></label> <label>Speed <select id="speed"><option>1</option><option>0.25</option></select></label>
<label>Time <input id="time" type="range" min="0" step="1"></label>
Grey: where the pointer truly was in the last 45 frames. Red: where the method showed it.</p>
<main></main>
<script>
const { frame, truth, shown } = ${JSON.stringify(data)};
const [loss, speed, time] = ["loss", "speed", "time"].map((id) => document.getElementById(id));
loss.append(...shown.map(({ loss }) => new Option(loss)));
loss.value = location.hash.slice(1).split(",")[0] || "rand20";
time.max = truth.length - 1;
const [TRAIL, SCALE] = [45, 0.25];
const views = shown[0].methods.map(({ name }) => {
  const figure = document.createElement("figure");
  const canvas = Object.assign(document.createElement("canvas"), { width: 480, height: 270 });
  const caption = Object.assign(document.createElement("figcaption"), { textContent: name });
  figure.append(caption, canvas);
  document.querySelector("main").append(figure);
  return canvas.getContext("2d");
});
function dots(ctx, points, color) {
  ctx.fillStyle = color;
  points.forEach(([x, y], i) => {
    ctx.globalAlpha = (i + 1) / points.length;
    ctx.beginPath();
    ctx.arc(x * SCALE, y * SCALE, i === points.length - 1 ? 6 : 2.5, 0, 7);
    ctx.fill();
  });
}
function draw(at) {
  const { methods } = shown.find((one) => one.loss === loss.value) ?? shown[0];
  views.forEach((ctx, i) => {
    ctx.clearRect(0, 0, 480, 270);
    dots(ctx, truth.slice(Math.max(at - TRAIL, 0), at + 1), "#999");
    const { first, frames } = methods[i];
    dots(ctx, frames.slice(Math.max(at - TRAIL - first, 0), Math.max(at + 1 - first, 0)), "#d4351c");
  });
}
let [clock, last] = [Number(location.hash.split(",")[1] ?? 0), undefined];
const isStill = location.hash.includes(",");
function tick(now) {
  if (last !== undefined) clock = (clock + ((now - last) / frame) * Number(speed.value)) % truth.length;
  last = now;
  time.value = clock;
  draw(Math.floor(clock));
  requestAnimationFrame(tick);
}
time.oninput = () => (clock = Number(time.value));
// With a frame number in the address, such as #rand20,480, the page shows only this frame.
if (isStill) draw((time.value = clock));
else requestAnimationFrame(tick);
</script>
</html>
`;
}
