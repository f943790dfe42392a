/** These tests run with two versions of React. */

import { version } from "react";
import { version as domVersion } from "react-dom";
import { expect, test } from "vitest";

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };

test("runs with the version of React that it says", () => {
  const expected = process.env.GROUPWIRE_REACT ?? "19";
  expect([version, domVersion].map((version) => version.split(".")[0])).toEqual([expected, expected]);
});
