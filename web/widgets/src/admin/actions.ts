/** What the views of the administration's page share: requests, questions, and what became of an action. */

import type { Question } from "./confirm.js";
import type { Requests } from "./requests.js";

export interface Actions {
  readonly requests: Requests;
  readonly ask: (question: Question) => Promise<boolean>;
  /** Awaits what was asked for, and says `done`, if there is one. If it fails, shows the error and returns undefined. */
  readonly attempt: <T>(asked: Promise<T>, done?: string) => Promise<T | undefined>;
}

/** Hands a file to the browser's downloads. */
export function download(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has taken the file when it answers, at the latest in the next minute.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
