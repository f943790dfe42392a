/**
 * `window.groupwireCompare`: read-only access for end-to-end tests. Not an API for applications.
 */

import type { Card } from "./card";
import type { Network } from "./network";
import type { Recording } from "./recording";
import type { Sender } from "./sessions";
import type { Numbers } from "./timeline";

export interface CompareHook {
  readonly self: number | undefined;
  /** The settings that the server has accepted, or `own`; undefined before it has answered. */
  readonly network: Network | undefined;
  readonly numbers: { readonly websocket: Numbers; readonly webtransport: Numbers };
  /** The recording that `record` in the address asked for; undefined until it is complete. */
  readonly recording: Recording | undefined;
}

declare global {
  interface Window {
    groupwireCompare?: CompareHook;
  }
}

interface Parts {
  readonly sender: Sender;
  readonly cards: { readonly websocket: Card; readonly webtransport: Card };
  readonly network: () => Network | undefined;
  readonly recording: Promise<Recording> | undefined;
}

export function expose({ sender, cards, network, recording }: Parts): void {
  let recorded: Recording | undefined;
  void recording?.then((done) => (recorded = done));
  window.groupwireCompare = {
    get self() {
      return sender.room.self?.id;
    },
    get network() {
      return network();
    },
    get numbers() {
      const now = performance.now();
      return {
        websocket: cards.websocket.timeline.numbers(now),
        webtransport: cards.webtransport.timeline.numbers(now),
      };
    },
    get recording() {
      return recorded;
    },
  };
}
