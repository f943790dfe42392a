import { expect, test, vi } from "vitest";
import { forSeeds } from "../../src/testing.js";
import { keepsLaw, type Tally } from "./law.js";

vi.setConfig({ testTimeout: 100_000_000 });

test("shared data keeps its law, whatever happens (GROUPWIRE_SEEDS runs more)", async () => {
  const tally: Tally = {};
  await forSeeds(60, (seed) => keepsLaw(seed, tally));
  // All of it happened, unless few seeds were asked for.
  if ((tally["runs"] ?? 0) < 60) return;
  for (const what of ["partition", "crash", "restart", "late joiner", "freeze", "snapshot", "incarnation", "session"])
    expect(tally, what).toHaveProperty(what);
  if (tally["runs"] !== 60) console.log(JSON.stringify(tally));
});
