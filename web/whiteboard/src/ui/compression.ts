/**
 * The part of the panel that shows the compression, a choice of settings, and the results of those
 * that were tried.
 */

import type { Codec, Compress } from "groupwire";
import { make } from "../../../common/ui/dom";
import type { DirectionSavings, Savings, Sums } from "../net/savings";

/** What this control needs from the session. */
export interface CompressionSession {
  compress: Compress;
}

const SETTINGS: Readonly<Record<string, string>> = { template: "Template", auto: "Automatic", off: "Off" };

const CODECS: Readonly<Record<string, string>> = {
  lz4: "LZ4",
  lzo: "LZO",
  lzf: "LZF",
  snappy: "Snappy",
  zstd: "zstd",
  zlib: "zlib",
  brotli: "Brotli",
  lzma: "LZMA",
  bzip2: "bzip2",
  lzw: "LZW",
  rle: "Run lengths",
  null: "Null suppression",
} satisfies Record<Exclude<Codec, "none">, string>;

/** The number of settings that are compared. */
const SHOWN = 6;

const STORED = "groupwire-compress";

export class CompressionChoice {
  readonly element = make("div", "transport-choice compression");
  private readonly select = make("select", "");
  private readonly why = make("p", "why");
  private readonly tried = make("table", "tried");

  constructor(private readonly session: CompressionSession) {
    const label = make("label", "", "Compression");
    this.select.dataset.testid = "compress-choice";
    this.why.dataset.testid = "compress-why";
    this.tried.dataset.testid = "compress-tried";
    this.select.append(...options(SETTINGS), group("Each message alone", options(CODECS)));
    this.select.addEventListener("change", () => this.choose(this.select.value as Compress));
    label.append(this.select);
    this.element.append(label, this.why, this.tried);
  }

  /** Updates the control from the session. */
  show(savings: Savings): void {
    const { compress } = this.session;
    // The address may ask for a codec with a level, which the list lacks.
    if (![...this.select.options].some(({ value }) => value === compress))
      this.select.append(...options({ [compress]: labelOf(compress) }));
    if (this.select.value !== compress) this.select.value = compress;
    this.say(sentence(compress, savings));
    this.compare(savings.tried, compress);
  }

  private choose(name: Compress): void {
    this.session.compress = name;
    remember(name);
    this.say(name === "template" || name === "off" ? sentence(name) : "Loading what it takes…");
  }

  private say(text: string): void {
    if (this.why.textContent !== text) this.why.textContent = text;
  }

  /** Shows a bar for each setting that was tried, if there are at least two. */
  private compare(tried: ReadonlyMap<string, Sums>, current: string): void {
    const all = [...tried].map(([name, sums]) => ({ name, each: sums.after / sums.messages }));
    const shown = all.slice(-SHOWN).sort((a, b) => a.each - b.each);
    this.tried.hidden = shown.length < 2;
    if (this.tried.hidden) return;
    const most = Math.max(...shown.map(({ each }) => each));
    this.tried.replaceChildren(caption(), ...shown.map(({ name, each }) => bar(name, each, most, name === current)));
  }
}

/** The setting in the address, otherwise the one of the last visit. */
export function chosenCompress(url: URL): Compress {
  const asked = url.searchParams.get("compress") || stored();
  return (asked as Compress | null) ?? "template";
}

function sentence(compress: Compress, savings?: Savings): string {
  if (compress === "template") return "By what messages share with each other and with earlier ones.";
  if (compress === "off") return "Messages travel as they are.";
  const directions = [codecsOf("up", savings?.up), codecsOf("down", savings?.down)].filter(
    (text) => text !== undefined,
  );
  const now =
    directions.length > 0
      ? `Each message alone: ${directions.join(", ")}.`
      : "Each message alone. None has travelled yet.";
  return compress === "auto" ? `${now} Chosen by size, link and time.` : now;
}

function codecsOf(label: string, direction: DirectionSavings | undefined): string | undefined {
  if (!direction || direction.by.length === 0) return undefined;
  const by = direction.by.filter((name) => name !== "none").map(labelOf);
  // Messages that the codec would not make smaller.
  const rest = direction.by.includes("none") ? ["as it is"] : [];
  return `${label} ${[...by, ...rest].join(" or ")}`;
}

function labelOf(name: string): string {
  return SETTINGS[name] ?? CODECS[name] ?? name;
}

function caption(): HTMLElement {
  return make("caption", "", "What a message becomes, by what was tried");
}

function bar(name: string, each: number, most: number, isCurrent: boolean): HTMLElement {
  const row = make("tr", isCurrent ? "current" : "");
  const track = make("td", "track");
  const fill = make("span", "fill");
  fill.style.width = `${(each / most) * 100}%`;
  track.append(fill);
  row.append(make("th", "", labelOf(name)), track, make("td", "", `${Math.round(each)} B`));
  return row;
}

function options(labels: Readonly<Record<string, string>>): HTMLOptionElement[] {
  return Object.entries(labels).map(([value, text]) => {
    const element = make("option", "", text);
    element.value = value;
    return element;
  });
}

function group(label: string, members: readonly HTMLOptionElement[]): HTMLOptGroupElement {
  const element = make("optgroup", "");
  element.label = label;
  element.append(...members);
  return element;
}

/** Remembers the choice for the next visit, instead of the setting in the address. */
function remember(name: Compress): void {
  const url = new URL(location.href);
  url.searchParams.delete("compress");
  history.replaceState(null, "", url);
  try {
    localStorage.setItem(STORED, name);
  } catch {
    // If storage is forbidden, the next visit begins with the default.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
