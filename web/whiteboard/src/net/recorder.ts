/**
 * With `?record` in the URL the board keeps every message that it sends and receives, and offers
 * them as a trace for `groupwire replay`: a file of records, each a little-endian u32 length and
 * the bytes of one message, and a tab-separated table with the time in ms, the sender's participant
 * id, the channel and the direction.
 */

interface Note {
  readonly time: number;
  readonly sender: number;
  readonly channel: string;
  readonly kind: "sent" | "received";
  readonly bytes: Uint8Array;
}

export class Recorder {
  private readonly notes: Note[] = [];
  private readonly start = performance.now();

  note(kind: Note["kind"], sender: number, channel: string, data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data.slice();
    this.notes.push({ time: performance.now() - this.start, sender, channel, kind, bytes });
  }

  get count(): number {
    return this.notes.length;
  }

  trace(): Uint8Array<ArrayBuffer> {
    const size = this.notes.reduce((sum, { bytes }) => sum + 4 + bytes.length, 0);
    const trace = new Uint8Array(size);
    const view = new DataView(trace.buffer);
    let at = 0;
    for (const { bytes } of this.notes) {
      view.setUint32(at, bytes.length, true);
      trace.set(bytes, at + 4);
      at += 4 + bytes.length;
    }
    return trace;
  }

  table(): string {
    const rows = this.notes.map(({ time, sender, channel, kind }) => [time.toFixed(1), sender, channel, kind]);
    return [["time_ms", "sender", "channel", "kind"], ...rows].map((row) => row.join("\t") + "\n").join("");
  }

  download(): void {
    save(new Blob([this.trace()]), "whiteboard.bin");
    save(new Blob([this.table()], { type: "text/tab-separated-values" }), "whiteboard.tsv");
  }
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Once the download has begun it no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
