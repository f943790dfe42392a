/** A tab of the devtools, for one room. */
export interface View {
  /** What the tab is called. */
  readonly title: string;
  readonly element: HTMLElement;
  /** Shows how things are now. Called at most once for each frame, while the tab is open. */
  show(): void;
  /** What the tab says beside its title, such as a count; empty if nothing. */
  readonly mark?: string;
}
