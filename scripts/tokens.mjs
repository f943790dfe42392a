// JSON web tokens for programs under test, with a key that `groupwire token` makes.

import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";

/** The issuer and the audience of the tokens. */
const WHO = "test";

export class Tokens {
  #key;
  /** The options of a server that takes these tokens. */
  options;

  /** Makes a new key in this file. */
  constructor(binary, file) {
    rmSync(file, { force: true });
    execFileSync(binary, ["token", "--keys", file, "--sub", "x", "--room", "*"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    this.#key = JSON.parse(readFileSync(file, "utf8")).keys[0];
    this.options = ["--jwt-keys", file, "--jwt-issuer", WHO, "--jwt-audience", WHO];
  }

  /** A token of the user `sub` that expires in `seconds`; a negative number: it has expired. */
  make({ sub = "somebody", seconds = 3600 } = {}) {
    const { kid, k } = this.#key;
    const exp = Date.now() / 1000 + seconds;
    const header = { alg: "HS256", typ: "JWT", kid };
    const claims = { iss: WHO, aud: WHO, sub, exp, groupwire: { rooms: ["*"] } };
    const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const signature = createHmac("sha256", Buffer.from(k, "base64url")).update(text).digest("base64url");
    return `${text}.${signature}`;
  }
}
