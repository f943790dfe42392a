// The packed package's `groupwire/testing`, as users install it, in the test runners that they use.

import { execFile } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { before, test } from "node:test";
import { install, pack } from "./scratch.mjs";

const RUNNERS = ["vitest@4.1.12", "jsdom@29.1.1", "jest@30.5.2", "jest-environment-jsdom@30.5.2"];

let folder;

before(() => {
  folder = install("testing", pack(), ...RUNNERS);
  cpSync(fileURLToPath(new URL("testing", import.meta.url)), folder, { recursive: true });
  writeFileSync(`${folder}jest.json`, JSON.stringify({ transform: {}, testMatch: ["**/jest-*.test.*"], rootDir: "." }));
});

/** Runs a command of the folder; its output is shown if it fails. */
async function run(...args) {
  // The runner of this file tells its children where to report; those here are runners of their
  // own.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  await promisify(execFile)(process.execPath, args, { cwd: folder, env: { ...env, NO_COLOR: "1" } }).catch((error) => {
    throw new Error(`${args.join(" ")}: ${error.message}\n${error.stdout}\n${error.stderr}`);
  });
}

test("node:test, by import", () => run("--test", "node.test.mjs"));

test("node:test, by require", () => run("--test", "node-require.test.cjs"));

test("Vitest", () => run("node_modules/vitest/vitest.mjs", "run", "vitest.test.mjs"));

test("Vitest with jsdom", () =>
  run("node_modules/vitest/vitest.mjs", "run", "vitest.test.mjs", "--environment", "jsdom"));

const jest = ["node_modules/jest/bin/jest.js", "--config", "jest.json"];

test("Jest, by require", () => run(...jest, "jest-require"));

test("Jest with jsdom, by require", () => run(...jest, "--env", "jsdom", "jest-require"));

test("Jest with ES modules", () => run("--experimental-vm-modules", ...jest, "jest-import"));
