// The documents that describe the requests of the administration and of HTTP users are OpenAPI 3.1.

import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";

test.each(["admin_http", "user_http"])("the document of %s keeps the schema of OpenAPI 3.1", async (folder) => {
  const file = new URL(`../../../crates/server/src/${folder}/openapi.json`, import.meta.url);
  const document = JSON.parse(await readFile(file, "utf8"));
  const validator = new Validator();
  expect(await validator.validate(document)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  const { info: _, ...damaged } = document;
  expect((await new Validator().validate(damaged)).valid).toBe(false);
});
