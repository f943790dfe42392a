// Writes container images from folders, one for each architecture: image.mjs FOLDER VERSION
// REPOSITORY ARCHITECTURE... The root of each is FOLDER/.unpacked/ARCHITECTURE-image. All of an
// image is a function of its files and of SOURCE_DATE_EPOCH. The formats:
// https://github.com/opencontainers/image-spec and, for `docker load`, the manifest.json that
// `docker save` writes.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

/** The names that images have for architectures. */
const PLATFORMS = {
  x86_64: { architecture: "amd64", os: "linux" },
  aarch64: { architecture: "arm64", os: "linux", variant: "v8" },
};

const USER = 10001;
/** What is in which layer, and the owner. The program, which every version changes, is the last. */
const LAYERS = [
  { paths: ["etc", "tmp"], owner: 0 },
  { paths: ["var/lib/groupwire", "run/groupwire"], owner: USER },
  { paths: ["usr/local/bin/groupwire"], owner: 0 },
];

const ADMIN = "unix:/run/groupwire/admin";

const SECOND = 1_000_000_000;

/** How a container of the image runs. docs/operations/containers.md describes it. */
export const CONFIG = {
  User: `${USER}:${USER}`,
  WorkingDir: "/var/lib/groupwire",
  Entrypoint: ["/usr/local/bin/groupwire"],
  Cmd: ["serve"],
  Env: [
    "PATH=/usr/local/bin",
    "GROUPWIRE_LISTEN=0.0.0.0:8080",
    "GROUPWIRE_DATA=/var/lib/groupwire",
    `GROUPWIRE_ADMIN_LISTEN=${ADMIN}`,
    `GROUPWIRE_ADMIN=${ADMIN}`,
  ],
  ExposedPorts: { "8080/tcp": {}, "8080/udp": {} },
  Volumes: { "/var/lib/groupwire": {} },
  StopSignal: "SIGTERM",
  // Not a part of OCI's format: Docker and Podman read it, and Kubernetes has probes of its own.
  Healthcheck: {
    Test: ["CMD", "/usr/local/bin/groupwire", "health"],
    Interval: 30 * SECOND,
    Timeout: 5 * SECOND,
    StartPeriod: 60 * SECOND,
    Retries: 3,
  },
};

const digestOf = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const json = (value) => Buffer.from(JSON.stringify(value));

/** A folder of blobs, which are named by their SHA-256. */
class Layout {
  constructor(folder) {
    this.folder = folder;
    mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
    writeFileSync(join(folder, "oci-layout"), json({ imageLayoutVersion: "1.0.0" }));
  }

  /** Stores a blob, and returns what other blobs name it by. */
  add(mediaType, bytes) {
    const digest = digestOf(bytes);
    writeFileSync(join(this.folder, "blobs", digest.replace(":", "/")), bytes);
    return { mediaType, digest, size: bytes.length };
  }

  write(name, value) {
    writeFileSync(join(this.folder, name), json(value));
  }
}

/** An uncompressed layer, with times and owners that no machine decides. */
function layerOf(root, { paths, owner }, time) {
  return tar([`--mtime=@${time}`, `--owner=${owner}`, `--group=${owner}`, "--directory", root, ...paths]);
}

function tar(options) {
  const format = ["--create", "--sort=name", "--format=ustar", "--numeric-owner"];
  return execFileSync("tar", [...format, ...options], { maxBuffer: 1 << 30 });
}

/** Adds an image to a layout. Returns the descriptors of its manifest, configuration and layers. */
export function addImage(layout, { layers, platform, labels, time }) {
  const created = new Date(time * 1000).toISOString().replace(".000Z", "Z");
  const config = layout.add(
    "application/vnd.oci.image.config.v1+json",
    json({
      created,
      ...platform,
      config: { ...CONFIG, Labels: labels },
      rootfs: { type: "layers", diff_ids: layers.map(digestOf) },
      history: layers.map(() => ({ created, created_by: "make release" })),
    }),
  );
  const blobs = layers.map((layer) =>
    layout.add("application/vnd.oci.image.layer.v1.tar+gzip", gzipSync(layer, { level: 9 })),
  );
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = layout.add(mediaType, json({ schemaVersion: 2, mediaType, config, layers: blobs }));
  return { manifest: { ...manifest, platform }, config, blobs };
}

function main([folder, version, repository, ...architectures]) {
  const time = Number(process.env.SOURCE_DATE_EPOCH);
  const labels = {
    "org.opencontainers.image.title": "groupwire",
    "org.opencontainers.image.description": "Server for rooms of real-time collaboration",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.source": repository,
    "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
  };
  const work = join(folder, ".unpacked/image");
  rmSync(work, { recursive: true, force: true });
  const all = new Layout(join(work, "all"));
  const manifests = architectures.map((architecture) => {
    const root = join(folder, `.unpacked/${architecture}-image`);
    const layers = LAYERS.map((layer) => layerOf(root, layer, time));
    const image = { layers, platform: PLATFORMS[architecture], labels, time };
    const { manifest } = addImage(all, image);
    loadable(folder, work, architecture, version, image);
    return manifest;
  });
  const mediaType = "application/vnd.oci.image.index.v1+json";
  const index = all.add(mediaType, json({ schemaVersion: 2, mediaType, manifests }));
  const annotations = { "org.opencontainers.image.ref.name": version };
  all.write("index.json", { schemaVersion: 2, mediaType, manifests: [{ ...index, annotations }] });
  pack(join(work, "all"), join(folder, `groupwire-${version}-image.tar`), time);
  console.log(`image: the index for ${architectures.join(" and ")} is ${index.digest}`);
}

/** Writes an archive with one image, which both `docker load` and readers of OCI layouts take. */
function loadable(folder, work, architecture, version, image) {
  const one = join(work, architecture);
  const layout = new Layout(one);
  const { manifest, config, blobs } = addImage(layout, image);
  const path = ({ digest }) => `blobs/${digest.replace(":", "/")}`;
  const tag = `groupwire:${version}`;
  layout.write("manifest.json", [{ Config: path(config), RepoTags: [tag], Layers: blobs.map(path) }]);
  const annotations = {
    "io.containerd.image.name": `docker.io/library/${tag}`,
    "org.opencontainers.image.ref.name": version,
  };
  layout.write("index.json", { schemaVersion: 2, manifests: [{ ...manifest, annotations }] });
  pack(one, join(folder, `groupwire-${version}-image-${image.platform.architecture}.tar`), image.time);
}

function pack(from, to, time) {
  writeFileSync(
    to,
    tar([`--mtime=@${time}`, "--owner=0", "--group=0", "--mode=u=rwX,go=rX", "--directory", from, "."]),
  );
  console.log(`image: wrote ${basename(to)}, ${statSync(to).size} bytes`);
}

main(process.argv.slice(2));
