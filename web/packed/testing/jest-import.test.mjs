import { expect, jest, test } from "@jest/globals";
import * as kit from "groupwire/testing";
import { writeTogether } from "./board.cjs";

jest.setTimeout(60_000);

test("lists are the same in the end", () =>
  kit.forSeeds(20, async (seed) => expect((await writeTogether(kit, seed)).counts).toEqual([10, 10, 10])));
