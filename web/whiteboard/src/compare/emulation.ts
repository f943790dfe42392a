/** Reads and sets the server's network emulation for this page's room (`/emulation`). */

export interface Settings {
  /** The packets that are lost, in per cent. */
  readonly loss: number;
  /** Milliseconds in each direction. */
  readonly delay: number;
}

export type Outcome = "done" | "off" | "failed";

/** The shortest interval (ms) between requests while a slider is dragged. */
const INTERVAL = 120;

export class Emulation {
  private readonly url: URL;
  private wanted: Settings | undefined;
  private isBusy = false;

  constructor(
    server: string,
    room: string,
    private readonly told: (outcome: Outcome, settings: Settings) => void,
  ) {
    this.url = new URL("/emulation", server.replace(/^ws/, "http"));
    this.url.searchParams.set("room", room);
  }

  /** Sends the newest settings; those that were set during a request are sent after it. */
  set(settings: Settings): void {
    this.wanted = settings;
    if (!this.isBusy) void this.work();
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    while (this.wanted) {
      const settings = this.wanted;
      this.wanted = undefined;
      this.told(await this.post(settings), settings);
      await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    }
    this.isBusy = false;
  }

  private async post({ loss, delay }: Settings): Promise<Outcome> {
    try {
      const answer = await fetch(this.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ loss: loss / 100, delay_ms: delay }),
      });
      if (answer.ok) return "done";
      return answer.status === 403 || answer.status === 404 ? "off" : "failed";
    } catch {
      return "failed";
    }
  }
}
