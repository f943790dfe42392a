/** The board, and the hash. */

import { expect, test } from "vitest";
import { boardOf, lineOf } from "../src/board";
import { sha256 } from "../src/sha256";

const columns = (text: string): number[] => [...text].map(Number);

test("the hash is SHA-256", async () => {
  for (const length of [0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 119, 120, 1000]) {
    const text = Array.from({ length }, (_, at) => "aé€z9."[(at * 7 + length) % 6]).join("");
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
    expect(sha256(text)).toBe([...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
});

test("discs fall to the lowest free place, and the sides alternate", () => {
  const board = boardOf([3, 3, 3, 0], 1);
  expect(board[3]).toEqual([1, 0, 1]);
  expect(board[0]).toEqual([0]);
});

test.each([
  ["upwards", "3434343", [3, 3, 3, 3], [0, 1, 2, 3]],
  ["across", "0011223", [0, 1, 2, 3], [0, 0, 0, 0]],
  ["diagonally up", "01122323363", [0, 1, 2, 3], [0, 1, 2, 3]],
  ["diagonally down", "65544343303", [6, 5, 4, 3], [0, 1, 2, 3]],
  ["five in a row, filled in the middle", "001133442", [0, 1, 2, 3, 4], [0, 0, 0, 0, 0]],
])("four in a row %s", (_, moves, inColumns, inRows) => {
  const line = lineOf(columns(moves), 0);
  const places = [...line].sort((a, b) => a.row - b.row || a.column - b.column);
  const expected = inColumns.map((column, at) => ({ column, row: inRows[at] }));
  expect(places).toEqual(expected);
  expect(lineOf(columns(moves).slice(0, -1), 0)).toEqual([]);
});

test("three in a row are not enough, nor four of both sides", () => {
  expect(lineOf(columns("01122"), 0)).toEqual([]);
  expect(lineOf(columns("0123"), 0)).toEqual([]);
});
