// Three servers that share their rooms over a NATS server, behind a balancer, all with one
// certificate.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, Balancer } from "./balancer.mjs";
import { SelfSigned } from "./certificate.mjs";
import { isInstalled, Program } from "./engines/program.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { freePorts } from "../../scripts/ports.mjs";

/** The addresses of the servers, besides which other tests use 127.0.0.1 and 127.0.0.2. */
const HOSTS = ["127.0.0.3", "127.0.0.4", "127.0.0.5"];

export class Cluster {
  /** The program that clusters need, if the machine lacks it. */
  static missing = isInstalled("nats-server") ? undefined : "nats-server";

  certificate = new SelfSigned();
  balancer;
  #nats;
  #folder;
  /** The servers that run, by their addresses. */
  #servers = new Map();

  /** `isDirect`: clients may reach each server alone. */
  static async start(isDirect = false) {
    const cluster = new Cluster();
    cluster.#folder = await mkdtemp(join(tmpdir(), "groupwire-cluster-"));
    const [clients, monitoring] = await cluster.#startNats();
    const secret = join(cluster.#folder, "secret");
    await writeFile(secret, "a secret of the tests of clusters");
    cluster.balancer = await Balancer.start();
    const [port] = await freePorts(1);
    const starting = HOSTS.map(async (host) => {
      const address = `${host}:${cluster.balancer.port}`;
      const direct = [`--client-address=https://${address}`, `--origin=${cluster.url}`];
      const options = [
        ...(isDirect ? direct : []),
        `--engine=nats://127.0.0.1:${clients}`,
        `--engine-monitoring=http://127.0.0.1:${monitoring}`,
        `--node=${host}`,
        `--cluster-listen=${host}:${port}`,
        `--cluster-secret=${secret}`,
        `--data=${join(cluster.#folder, host)}`,
        ...cluster.certificate.options,
      ];
      cluster.#servers.set(host, await Server.startOn(address, ...options));
    });
    await Promise.all(starting);
    return cluster;
  }

  /** The address for browsers. */
  get url() {
    return this.balancer.url;
  }

  /** The addresses of the servers that run. */
  get hosts() {
    return [...this.#servers.keys()];
  }

  /** The address of the server that has the only room. */
  owner() {
    return until("a server that has the room", async () => {
      const hosts = this.hosts;
      const figures = await Promise.all(hosts.map((host) => this.status(host)));
      return hosts[figures.findIndex(({ rooms }) => rooms === 1)];
    });
  }

  /** The figures of one server. */
  async status(host) {
    return JSON.parse((await ask(host, this.balancer.port, "/status")).text);
  }

  /** Kills a server without a chance to say goodbye. */
  async kill(host) {
    await this.#servers.get(host).kill();
    this.#servers.delete(host);
  }

  async close() {
    this.balancer?.close();
    await Promise.all([...this.#servers.values()].map((server) => server.kill()));
    await this.#nats?.end("SIGKILL");
    this.certificate.remove();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Returns the ports of clients and of monitoring. */
  async #startNats() {
    const [clients, monitoring] = await freePorts(2);
    const config = join(this.#folder, "nats.conf");
    const store = join(this.#folder, "nats");
    await writeFile(
      config,
      `server_name: nats
listen: "127.0.0.1:${clients}"
http: "127.0.0.1:${monitoring}"
jetstream { store_dir: "${store}", sync_interval: always }
`,
    );
    this.#nats = new Program("nats-server", ["-c", config]);
    await this.#nats.printed(/Server is ready/);
    return [clients, monitoring];
  }
}

/** A line of the window with this number in one round, at a place of its own on the board. */
export function line(at, round) {
  const [x, y] = [200 + 60 * at, 150 + 130 * round];
  return [
    [x, y],
    [x + 30, y + 40],
    [x, y + 80],
  ];
}
