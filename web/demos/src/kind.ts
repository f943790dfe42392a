/** What a demonstration consists of, beside the frame that all have in common. */

import type { Room, RoomSettings, NetworkConditions, Simulation } from "groupwire/testing/page";
import type { Person } from "./people.js";

/** The window of one participant. */
export interface DemoWindow {
  readonly index: number;
  readonly person: Person;
  readonly room: Room<Person>;
  /** Where the application of this window is shown. */
  readonly body: HTMLElement;
  readonly net: Simulation;
  /** The number of windows. */
  readonly count: number;
  /** True while the synthetic people act. */
  readonly isActing: () => boolean;
  /** Shows a sentence in the window, below the application. */
  readonly say: (text: string) => void;
}

/** The application in one window, once it runs. */
export interface Running {
  /** Called in each frame while the simulation plays. */
  frame?(now: number): void;
  /** Called when the demonstration ends. */
  stop?(): void;
}

/** A button above the windows that does something, and then the opposite. */
export interface Action {
  readonly label: string;
  run(net: Simulation): void;
  readonly undoLabel: string;
  undo(net: Simulation): void;
}

export interface Kind {
  readonly title: string;
  /** What to try, in a sentence. */
  readonly hint: string;
  /** The choices for the number of windows; the first one is the default. */
  readonly counts: readonly number[];
  /** The settings of the server's room. */
  readonly settings?: RoomSettings;
  readonly network?: NetworkConditions;
  /** The channels whose contracts are shown: their names, and what they ask for in plain words. */
  readonly channels: Readonly<Record<string, { readonly name: string; readonly asks: string }>>;
  /** What a message is before it is compressed. Default: "A message as JSON". */
  readonly message?: string;
  /** True if people move by themselves, so that the reader can stop them. */
  readonly hasActors?: boolean;
  readonly actions?: readonly Action[];
  /** Starts the application in a window. Channels are opened in this call. */
  open(window: DemoWindow): Running;
}
