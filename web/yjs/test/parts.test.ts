import { expect, test } from "vitest";
import { Claims } from "../src/claims.js";
import { Pieces } from "../src/pieces.js";

test("pieces without bytes are counted, too, so that they cannot fill the memory", () => {
  const pieces = new Pieces();
  const bytes = new Uint8Array();
  const count = Number.MAX_SAFE_INTEGER;
  for (let index = 0; index < 700_000; index += 1) pieces.add(1, { series: 1, index, count, bytes });
  // The unfinished updates of a snapshot are those that are kept.
  expect(pieces.encode(new Uint8Array()).length).toBeLessThan(100);
});

test("a participant that claims again and again has one claim", () => {
  const claims = new Claims();
  claims.claim(1, false);
  for (let again = 0; again < 1000; again += 1) claims.claim(1, false);
  claims.claim(2, true);
  expect(claims.leads).toBe(false);
  claims.done(1, true);
  expect(claims.leads).toBe(true);
});
