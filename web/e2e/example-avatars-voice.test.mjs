// Voice in examples/avatars: whoever walks away is heard no more.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Example } from "./example.mjs";
import { fakeMicrophone, writeSpeech } from "./speech.mjs";
import { until } from "./wait.mjs";

const folder = mkdtempSync(join(tmpdir(), "groupwire-avatars-"));
const speech = join(folder, "speech.wav");
writeSpeech(speech);
after(() => rmSync(folder, { recursive: true }));

class Talking extends Example {
  get flags() {
    return [...fakeMicrophone(speech), "--use-fake-ui-for-media-stream"];
  }
}

const example = new Talking("avatars");

/** Taps what the page plays. */
const TAP = () => {
  const { connect } = AudioNode.prototype;
  AudioNode.prototype.connect = function (...args) {
    if (args[0] instanceof AudioDestinationNode) {
      const tap = new AnalyserNode(this.context);
      connect.call(this, tap);
      const samples = new Float32Array(tap.fftSize);
      window.heard = async () => {
        let most = 0;
        for (let i = 0; i < 5; i++) {
          await new Promise((resolve) => setTimeout(resolve, 40));
          tap.getFloatTimeDomainData(samples);
          most = Math.max(most, ...samples.map(Math.abs));
        }
        return most;
      };
    }
    return connect.apply(this, args);
  };
};

const LOUD = 0.02;

test("people near each other hear each other, and those far away do not", { timeout: 300_000 }, async () => {
  const [ada, bo] = [await example.open("Ada"), await example.open("Bo")];
  const walkTo = ({ page }, place) => page.evaluate((place) => (window.groupwireAvatars.me.place = place), place);
  const heard = ({ page }) => page.evaluate(() => window.heard?.() ?? 0);
  for (const window of [ada, bo]) {
    await window.page.evaluate(`(${TAP})()`);
    await walkTo(window, [500, 500]);
    await window.page.getByRole("button", { name: "Talk" }).click();
    await until("joined", () => window.page.getByRole("button", { name: "Mute" }).isVisible());
  }
  await until("Bo hears Ada", async () => (await heard(bo)) > LOUD);
  await bo.screenshot("example-avatars-voice");
  await walkTo(ada, [1100, 100]);
  // Longer than the pause of the file.
  await until("Bo hears nobody for a while", async () => {
    for (let i = 0; i < 8; i++) if ((await heard(bo)) > LOUD / 4) return false;
    return true;
  });
  await walkTo(ada, [520, 500]);
  await until("Bo hears Ada again", async () => (await heard(bo)) > LOUD);
});
