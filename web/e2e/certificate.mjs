// A certificate that signed itself, and a browser that accepts it.

import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The files of a new certificate for 127.0.0.1, and the flags by which Chromium accepts it. */
export class SelfSigned {
  #folder = mkdtempSync(join(tmpdir(), "groupwire-tls-"));
  cert = join(this.#folder, "cert.pem");
  key = join(this.#folder, "key.pem");

  constructor() {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    const keys = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", this.key];
    const made = ["req", "-x509", ...keys, "-out", this.cert, "-days", "10", ...subject];
    execFileSync("openssl", made, { stdio: ["ignore", "ignore", "pipe"] });
  }

  get flags() {
    const { publicKey } = new X509Certificate(readFileSync(this.cert));
    const info = publicKey.export({ type: "spki", format: "der" });
    const hash = createHash("sha256").update(info).digest("base64");
    // WebTransport accepts only certificates of known authorities otherwise.
    return [`--ignore-certificate-errors-spki-list=${hash}`, "--webtransport-developer-mode"];
  }

  remove() {
    rmSync(this.#folder, { recursive: true });
  }
}
