/**
 * The functions that the views of the administration's page share: requests, questions, and the
 * report of an action's outcome.
 */

import type { Question } from "./confirm.js";
import type { Requests } from "./requests.js";

export interface Actions {
  readonly requests: Requests;
  readonly ask: (question: Question) => Promise<boolean>;
  /**
   * Awaits an action, then shows `done` if given. If the action fails, shows the error and returns
   * undefined.
   */
  readonly attempt: <T>(asked: Promise<T>, done?: string) => Promise<T | undefined>;
}

/** Hands a file to the browser's downloads. */
export function download(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has taken the file within the next minute at the latest.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
