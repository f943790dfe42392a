/** The people in the windows. */

export interface Person {
  readonly name: string;
  /** A colour that can be read on white, and white on it. */
  readonly color: string;
}

const NAMES = `Ada Bo Cleo Dan Eva Finn Gia Hugo Ida Jon Kim Leo Mia Noa Ole Pia Quin Rosa Sam Tess`.split(" ");
const COLORS = ["#1d4ed8", "#b42318", "#067647", "#7a2e9e", "#9a5b00", "#0e7090", "#c11574", "#4a5565"];

/** The person in the window with this number, from 0. */
export function personAt(index: number): Person {
  return { name: NAMES[index] ?? `Guest ${index + 1}`, color: COLORS[index % COLORS.length] ?? "#1d4ed8" };
}
