/** How the user has arranged the devtools, from one visit to the next. */

export interface Arrangement {
  /** The height of the panel in CSS pixels. */
  readonly height: number;
  readonly side: "left" | "right";
  readonly isOpen: boolean;
  readonly tab: string;
}

const KEY = "groupwire devtools";

const DEFAULT: Arrangement = { height: 340, side: "right", isOpen: false, tab: "" };

export function recall(): Arrangement {
  try {
    const { height, side, isOpen, tab } = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Arrangement>;
    return {
      height: typeof height === "number" ? height : DEFAULT.height,
      side: side === "left" ? "left" : "right",
      isOpen: isOpen === true,
      tab: typeof tab === "string" ? tab : "",
    };
  } catch {
    return DEFAULT;
  }
}

export function remember(arrangement: Arrangement): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(arrangement));
  } catch {
    // Storage is forbidden in private windows and sandboxed frames, and may be full.
  }
}
