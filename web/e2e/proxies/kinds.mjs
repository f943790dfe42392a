// The reverse proxies of docs/deploy/proxies.md. Each runs with its configuration from
// packaging/proxies, in which only ports, paths of certificates and names of folders are replaced.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../wait.mjs";

const CONFIGURATIONS = fileURLToPath(new URL("../../../packaging/proxies/", import.meta.url));

/** The name in the configurations. */
export const HOST = "rooms.example.org";

/** The transports that a proxy passes on. */
export const TRANSPORTS = ["websocket", "multipart", "iframe", "longpoll", "poll"];

/** The timeouts of the lowered variant, a tenth of what the proxies have by default, or less. */
const LOWERED_S = 6;

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGTERM")));

/**
 * A running proxy. `Kind` below describes what the kinds have:
 *
 * - `title`: its name, and `program`: the command.
 * - `files`: its configuration files in packaging/proxies.
 * - `connections`: how many it holds at a time, more than it does by default.
 * - `additions`: lines that are often added to such a file: { file, after, line }. `without`, if
 *   there, is a text to leave out at the same time, and its title.
 * - `prepare(proxy)`: writes what it runs with into `proxy.folder`, from `proxy.text(file)`.
 * - `check`, `run`: the arguments that check the configuration, and that start it.
 * - `reload(proxy)`: makes it read a configuration that has changed, and waits until it has.
 */
export class Proxy {
  folder = mkdtempSync(join(tmpdir(), "groupwire-proxy-"));
  said = "";

  /**
   * `place` has the ports of the proxy, of the server and of the proxy's administration, and the
   * certificate. `removed` is a line to leave out: { file, number }; `added` is one of the kind's
   * additions. `isLowered` shortens timeouts.
   */
  constructor(kind, place, { removed, added, isLowered = false } = {}) {
    Object.assign(this, { kind, place, removed, added, isLowered });
    kind.prepare(this);
  }

  /** A configuration file with the line to leave out or to add, and with these texts replaced. */
  text(file, replacements) {
    const committed = readFileSync(CONFIGURATIONS + file, "utf8");
    const lines = committed.split("\n");
    if (this.removed?.file === file) lines.splice(this.removed.number, 1);
    if (this.added?.file === file) {
      const { after, line } = this.added;
      lines.splice(lines.findIndex((line) => line.trim() === after) + 1, 0, line);
    }
    let text = lines.join("\n");
    for (const [from, to] of Object.entries(replacements)) {
      if (!committed.includes(from)) throw new Error(`${file} has no "${from}"`);
      text = text.replaceAll(from, () => to);
    }
    const { without } = this.added ?? {};
    return without ? text.replace(without.text, "") : text;
  }

  write(file, text) {
    writeFileSync(join(this.folder, file), text);
  }

  /** True if the proxy accepts its configuration; a configuration with warnings is refused. */
  isAccepted() {
    if (!this.kind.check) return true;
    const { status, stdout, stderr } = spawnSync(this.kind.program, this.kind.check(this), this.#options());
    this.said += `${stdout}${stderr}`;
    return status === 0 && !/\[warn/i.test(this.said);
  }

  async start(timeout) {
    // As a service of systemd, which may open 1,024 files until it asks for more.
    const limited = ["-c", 'ulimit -S -n 1024; exec "$0" "$@"', this.kind.program, ...this.kind.run(this)];
    this.child = spawn("sh", limited, this.#options());
    children.add(this.child);
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on("data", (data) => (this.said += data));
    this.ended = once(this.child, "exit");
    const listens = async () => {
      if (this.child.exitCode !== null) throw new Error(`${this.kind.title} ended: ${this.said}`);
      return accepts(this.place.port);
    };
    await until(`${this.kind.title} listens`, listens, timeout);
    return this;
  }

  reload() {
    return this.kind.reload(this);
  }

  async stop() {
    if (this.child?.exitCode === null) {
      // Ends masters with their workers, without waiting for connections.
      this.child.kill(this.kind.stop ?? "SIGTERM");
      await this.ended;
    }
    children.delete(this.child);
    rmSync(this.folder, { recursive: true });
  }

  /** Runs the proxy's command, and fails if that fails. */
  command(...options) {
    execFileSync(this.kind.program, options, { ...this.#options(), stdio: ["ignore", "ignore", "pipe"] });
  }

  #options() {
    const env = { ...process.env, HOME: this.folder, XDG_DATA_HOME: this.folder, XDG_CONFIG_HOME: this.folder };
    return { env, encoding: "utf8", cwd: this.folder };
  }
}

const nginx = {
  title: "nginx",
  connections: 1100,
  program: "nginx",
  files: ["nginx.conf"],
  additions: [
    // Over HTTP/2 this nginx passes on at once even what it buffers.
    {
      file: "nginx.conf",
      after: "location / {",
      line: "proxy_ignore_headers X-Accel-Buffering;",
      without: { text: " http2", title: "without HTTP/2" },
    },
    { file: "nginx.conf", after: "location / {", line: "client_max_body_size 10k;" },
    { file: "nginx.conf", after: "location / {", line: "gzip on; gzip_types *;" },
  ],
  version: () => /nginx\/(\S+)/.exec(spawnSync("nginx", ["-v"], { encoding: "utf8" }).stderr)[1],
  prepare(proxy) {
    const { port, upstream, cert, key } = proxy.place;
    // The folders that Debian's nginx has for these belong to its own user.
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((of) => `${of}_temp_path ${of};`);
    const timeouts = ["proxy_read", "proxy_send", "send", "client_body", "client_header", "keepalive"];
    const lowered = proxy.isLowered ? timeouts.map((of) => `${of}_timeout ${LOWERED_S}s;`) : [];
    const user = process.getuid() === 0 ? `user ${userInfo().username};` : "";
    const text = proxy.text("nginx.conf", {
      "events {": `${user}\npid ${proxy.folder}/pid;\nerror_log stderr;\nevents {`,
      "http {": ["http {", "access_log off;", ...temporary, ...lowered].join("\n"),
      ...(proxy.isLowered ? { "timeout 10s;": "timeout 1s;" } : {}),
      "listen 443 ssl http2;": `listen 127.0.0.1:${port} ssl http2;`,
      "127.0.0.1:8080": `127.0.0.1:${upstream}`,
      [`/etc/ssl/${HOST}/fullchain.pem`]: cert,
      [`/etc/ssl/${HOST}/key.pem`]: key,
    });
    proxy.write("groupwire.conf", text);
    proxy.write("nginx.conf", text);
  },
  check: ({ folder }) => ["-t", "-p", folder, "-c", `${folder}/nginx.conf`],
  run: ({ folder }) => ["-p", folder, "-c", `${folder}/nginx.conf`, "-g", "daemon off;"],
  async reload({ child }) {
    const before = childrenOf(child);
    child.kill("SIGHUP");
    await until("nginx has a new worker", () => childrenOf(child).some((pid) => !before.includes(pid)));
  },
};

const haproxy = {
  title: "HAProxy",
  connections: 1100,
  program: "haproxy",
  files: ["haproxy.cfg"],
  additions: [{ file: "haproxy.cfg", after: "backend groupwire", line: "compression algo gzip" }],
  version: () => /version (\d[\d.]*)/.exec(spawnSync("haproxy", ["-v"], { encoding: "utf8" }).stdout)[1],
  prepare(proxy) {
    const { port, upstream, cert, key } = proxy.place;
    const lowered = { "hard-stop-after 10s": "hard-stop-after 1s", " 60s": ` ${LOWERED_S}s` };
    const text = proxy.text("haproxy.cfg", {
      ":443": `127.0.0.1:${port}`,
      "127.0.0.1:8080": `127.0.0.1:${upstream}`,
      [`/etc/ssl/${HOST}/all.pem`]: `${proxy.folder}/all.pem`,
      ...(proxy.isLowered ? lowered : {}),
    });
    proxy.write("haproxy.cfg", text);
    proxy.write("all.pem", readFileSync(cert, "utf8") + readFileSync(key, "utf8"));
  },
  check: ({ folder }) => ["-c", "-dW", "-f", `${folder}/haproxy.cfg`],
  run: ({ folder }) => ["-W", "-f", `${folder}/haproxy.cfg`],
  async reload({ child }) {
    const before = childrenOf(child);
    child.kill("SIGUSR2");
    await until("HAProxy has a new worker", () => childrenOf(child).some((pid) => !before.includes(pid)));
  },
};

const caddy = {
  title: "Caddy",
  connections: 1100,
  program: "caddy",
  files: ["Caddyfile"],
  additions: [{ file: "Caddyfile", after: `${HOST} {`, line: "encode gzip" }],
  version: () => spawnSync("caddy", ["version"], { encoding: "utf8" }).stdout.split(" ")[0].replace(/^v/, "").trim(),
  prepare(proxy) {
    const { port, upstream, admin, cert, key } = proxy.place;
    const timeouts = ["read_body", "read_header", "idle"].map((of) => `${of} ${LOWERED_S}s`);
    const text = proxy.text("Caddyfile", {
      // The certificate comes from the test, and not from Let's Encrypt.
      [`${HOST} {`]: `${HOST} {\nbind 127.0.0.1\ntls ${cert} ${key}`,
      "127.0.0.1:8080": `127.0.0.1:${upstream}`,
    });
    const servers = proxy.isLowered ? `servers {\ntimeouts {\n${timeouts.join("\n")}\n}\n}` : "";
    const own = `admin localhost:${admin}\nauto_https disable_redirects\nhttps_port ${port}\n${servers}`;
    proxy.write("Caddyfile", `{\n${own}\n}\n${text}`);
  },
  check: ({ folder }) => ["validate", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"],
  run: ({ folder }) => ["run", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"],
  async reload(proxy) {
    const file = `${proxy.folder}/Caddyfile`;
    proxy.command("reload", "--force", "--config", file, "--address", `localhost:${proxy.place.admin}`);
  },
};

const traefik = {
  title: "Traefik",
  connections: 1100,
  program: "traefik",
  files: ["traefik.yml", "traefik-rooms.yml"],
  additions: [],
  version: () => /Version:\s+v?(\S+)/.exec(spawnSync("traefik", ["version"], { encoding: "utf8" }).stdout)[1],
  prepare(proxy) {
    const { port, upstream, cert, key } = proxy.place;
    const rooms = join(proxy.folder, "rooms");
    mkdirSync(rooms);
    const timeouts = `transport: { respondingTimeouts: { readTimeout: ${LOWERED_S}s, idleTimeout: ${LOWERED_S}s } }`;
    const main = proxy.text("traefik.yml", {
      'address: ":443"': `address: "127.0.0.1:${port}"${proxy.isLowered ? `\n    ${timeouts}` : ""}`,
      "/etc/traefik/rooms": rooms,
    });
    proxy.write("traefik.yml", `${main}\nglobal: { checkNewVersion: false, sendAnonymousUsage: false }\n`);
    const text = proxy.text("traefik-rooms.yml", {
      "127.0.0.1:8080": `127.0.0.1:${upstream}`,
      [`/etc/ssl/${HOST}/fullchain.pem`]: cert,
      [`/etc/ssl/${HOST}/key.pem`]: key,
    });
    proxy.write("rooms/groupwire.yml", text);
  },
  run: ({ folder }) => [`--configFile=${folder}/traefik.yml`],
  async reload(proxy) {
    // A configuration that means the same is not taken for a new one.
    const other = "other: { rule: Host(`other.example.org`), service: groupwire, tls: {} }";
    const file = join(proxy.folder, "rooms/groupwire.yml");
    proxy.write("rooms/groupwire.yml", readFileSync(file, "utf8").replace("routers:", `routers:\n    ${other}`));
    await until("Traefik has read the file again", () => answers(proxy.place, "other.example.org"));
  },
};

const apache = {
  title: "Apache",
  connections: 500,
  program: "apache2",
  files: ["apache.conf"],
  additions: [{ file: "apache.conf", after: "ProxyPreserveHost On", line: "SetOutputFilter DEFLATE" }],
  version: () => /Apache\/(\S+)/.exec(spawnSync("apache2", ["-v"], { encoding: "utf8" }).stdout)[1],
  prepare(proxy) {
    const { port, upstream, cert, key } = proxy.place;
    const text = proxy.text("apache.conf", {
      "*:443": `127.0.0.1:${port}`,
      "127.0.0.1:8080": `127.0.0.1:${upstream}`,
      [`/etc/ssl/${HOST}/fullchain.pem`]: cert,
      [`/etc/ssl/${HOST}/key.pem`]: key,
    });
    // As Debian's after `a2enmod ssl http2 proxy_http`, but for paths and logs.
    const modules = ["mpm_event", "authz_core", "reqtimeout", "socache_shmcb", "ssl", "http2", "proxy"];
    modules.push("proxy_http", "filter", "deflate");
    const loads = modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
    const main = [
      `ServerRoot ${proxy.folder}`,
      `PidFile ${proxy.folder}/pid`,
      `DefaultRuntimeDir ${proxy.folder}`,
      `ErrorLog ${proxy.folder}/log`,
      "ServerName localhost",
      `Listen 127.0.0.1:${port}`,
      ...loads,
      "MaxRequestWorkers 150",
      ...(proxy.isLowered ? [`Timeout ${LOWERED_S}`, `KeepAliveTimeout ${LOWERED_S}`] : []),
      text,
    ];
    proxy.write("apache.conf", main.join("\n"));
  },
  check: ({ folder }) => ["-t", "-f", `${folder}/apache.conf`],
  run: ({ folder }) => ["-DFOREGROUND", "-f", `${folder}/apache.conf`],
  async reload({ child }) {
    const before = childrenOf(child);
    child.kill("SIGUSR1");
    await until("Apache has a new worker", () => childrenOf(child).some((pid) => !before.includes(pid)));
  },
};

export const KINDS = [nginx, haproxy, caddy, traefik, apache];

/**
 * The lines of a configuration that can be left out one by one: all but comments, and lines that
 * begin or end a block. Each is { file, number, line }.
 */
export function removableLines(kind) {
  return kind.files.flatMap((file) => {
    const lines = readFileSync(CONFIGURATIONS + file, "utf8").split("\n");
    const listed = lines.map((line, number) => ({ file, number, line: line.trim() }));
    const isBlock = ({ line }) => /[{:]$|^[}<]|^(global|defaults|frontend|backend)\b/.test(line);
    return listed.filter((it) => it.line && !it.line.startsWith("#") && !isBlock(it));
  });
}

/** The text of a kind's configuration files. */
export function configuration({ files }) {
  return files.map((file) => readFileSync(CONFIGURATIONS + file, "utf8")).join("\n");
}

function childrenOf({ pid }) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      resolve(true);
      socket.destroy();
    });
  });
}

/** True if the proxy passes requests for this host on to the server. */
async function answers({ port }, host) {
  const options = [
    "--silent",
    "--insecure",
    "--resolve",
    `${host}:${port}:127.0.0.1`,
    `https://${host}:${port}/healthz`,
  ];
  return spawnSync("curl", options, { encoding: "utf8" }).stdout.startsWith("ok");
}
