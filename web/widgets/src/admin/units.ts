/** How the administration's page writes sizes, dates and times. */

import { short } from "./chart.js";

export const size = (bytes: number): string => short(bytes, 1024, ["B", "KiB", "MiB", "GiB"]);

/** A Unix time in seconds, in the reader's own time zone and language. */
export const date = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function age(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
