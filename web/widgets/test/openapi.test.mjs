// The document that describes the administration's requests is OpenAPI 3.1.

import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";

const DOCUMENT = new URL("../../../crates/server/src/admin_http/openapi.json", import.meta.url);

test("the document keeps the schema of OpenAPI 3.1", async () => {
  const document = JSON.parse(await readFile(DOCUMENT, "utf8"));
  const validator = new Validator();
  expect(await validator.validate(document)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  const { info: _, ...damaged } = document;
  expect((await new Validator().validate(damaged)).valid).toBe(false);
});
