/** The seeds of tests with hostile inputs. */
export const HOSTILE: readonly number[] = Array.from({ length: 40 }, (_, seed) => seed + 1);
