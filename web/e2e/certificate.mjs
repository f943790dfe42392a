// A certificate that signed itself, and a browser that accepts it.

import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The files of a new certificate, and the flags by which Chromium accepts it. */
export class SelfSigned {
  #folder = mkdtempSync(join(tmpdir(), "groupwire-tls-"));
  cert = join(this.#folder, "cert.pem");
  key = join(this.#folder, "key.pem");

  constructor(name = "IP:127.0.0.1") {
    const subject = ["-subj", "/CN=Groupwire test", "-addext", `subjectAltName=${name}`];
    const leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
    const keys = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", this.key];
    const made = ["req", "-x509", ...keys, "-out", this.cert, "-days", "10", ...subject, ...leaf];
    execFileSync("openssl", made, { stdio: ["ignore", "ignore", "pipe"] });
  }

  /** The options of the server. */
  get options() {
    return ["--cert", this.cert, "--key", this.key];
  }

  async flags() {
    return acceptedBy(readFileSync(this.cert));
  }

  remove() {
    rmSync(this.#folder, { recursive: true });
  }
}

/** The flags by which Chromium accepts a certificate. The file may have a key before it. */
export function acceptedBy(pem) {
  const begin = pem.indexOf("-----BEGIN CERTIFICATE-----");
  const { publicKey } = new X509Certificate(pem.subarray(begin));
  const info = publicKey.export({ type: "spki", format: "der" });
  const hash = createHash("sha256").update(info).digest("base64");
  // WebTransport accepts only certificates of known authorities otherwise.
  return [`--ignore-certificate-errors-spki-list=${hash}`, "--webtransport-developer-mode"];
}
