/** Parses the address of the comparison page. */

import { readAddress } from "../../../common/address";
import type { Settings } from "./emulation";

export interface CompareAddress {
  readonly server: string;
  /** By default a room of this page alone, so that its network settings affect nobody else. */
  readonly room: string;
  readonly settings: Settings;
  /** Seconds to record; 0 for none. */
  readonly record: number;
}

/** The initial network, on which the difference is easy to see. */
const START: Settings = { loss: 5, delay: 40 };

export function readCompareAddress(url: URL): CompareAddress {
  const { searchParams } = url;
  return {
    server: readAddress(url).server,
    room: searchParams.get("room")?.trim() || `compare-${Math.random().toString(36).slice(2, 12)}`,
    settings: {
      loss: number(searchParams.get("loss"), 20) ?? START.loss,
      delay: number(searchParams.get("delay"), 200) ?? START.delay,
    },
    record: number(searchParams.get("record"), 600) ?? 0,
  };
}

function number(text: string | null, most: number): number | undefined {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? Math.min(Math.max(value, 0), most) : undefined;
}
