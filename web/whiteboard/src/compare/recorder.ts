/** The button that records both boards, the result, and the link to the file. */

import { make } from "../../../common/ui/dom";
import { download, type Errors, type Recording, type Summary } from "./recording";

/** Seconds: enough for dozens of lost packets at a few per cent. */
export const SECONDS = 20;

export class Recorder {
  readonly button = make("button", "compare-button", `Record ${SECONDS} s`);
  /** Hidden until there is a text. */
  readonly element = make("p", "compare-recorded");
  private readonly text = make("span", "");
  private readonly save = make("button", "compare-button is-save", "Save the recording");
  private lines = "";

  /** `run` records for a number of seconds and reports how many are left. */
  constructor(private readonly run: (seconds: number, progress: (left: number) => void) => Promise<Recording>) {
    this.button.type = this.save.type = "button";
    this.button.title = "Write down what both boards show, a hundred times a second";
    this.button.dataset.testid = "record";
    this.button.addEventListener("click", () => void this.record(SECONDS));
    this.save.dataset.testid = "recording";
    this.save.addEventListener("click", () => download(this.lines));
    this.text.dataset.testid = "recorded";
    this.element.role = "status";
    this.element.hidden = true;
    this.element.append(this.text, this.save);
  }

  async record(seconds: number): Promise<Recording> {
    this.button.disabled = true;
    this.element.hidden = false;
    this.save.hidden = true;
    const done = await this.run(seconds, (left) => this.say(`Recording: ${left} s to go.`));
    this.lines = done.lines;
    this.say(describe(done.summary));
    this.save.hidden = false;
    this.button.disabled = false;
    return done;
  }

  /**
   * Changes the text only if it differs, because layout a hundred times a second would delay what
   * is measured.
   */
  private say(text: string): void {
    if (this.text.textContent !== text) this.text.textContent = text;
  }
}

/** The result of a recording in two sentences. */
export function describe({ network, websocket, webtransport }: Summary): string {
  const where =
    network === "own" ? "over your own network" : `at ${network.loss} % loss and ${network.delay} ms each way`;
  return (
    `Recorded ${where}. ` +
    `How far behind, half and 99 % of the time: WebSocket ${both(websocket)}, datagrams ${both(webtransport)}.`
  );
}

function both({ p50, p99 }: Errors): string {
  if (p50 === undefined || p99 === undefined) return "nothing came";
  return `up to ${p50.toFixed(0)} and ${p99.toFixed(0)} ms`;
}
