import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { VARIABLE } from "./skipped.mjs";

const { parseAllDocuments } = createRequire(new URL("../web/package.json", import.meta.url))("yaml");
const CHART = fileURLToPath(new URL("../packaging/helm/groupwire", import.meta.url));
const ENGINE = { address: "nats://nats-0.nats-headless:4222,nats://nats-1.nats-headless:4222" };
/** Values that switch everything on that the chart has. */
const ALL = {
  engine: {
    ...ENGINE,
    monitoring: ["http://nats-0:8222", "http://nats-1:8222"],
    acceptsLazySync: true,
    credentials: { existingSecret: "engine" },
    tls: { existingSecret: "engine-tls", cert: "tls.crt", key: "tls.key" },
  },
  cluster: { secret: { existingSecret: "shared", key: "secret.txt" } },
  config: { tick: 20, "no-yjs": true, "max-data": 102400, origin: ["https://app.example"], "record-dir": "<a&b>" },
  secretFiles: { existingSecret: "keys" },
  port: 443,
  tls: { existingSecret: "certificate" },
  webtransport: true,
  service: { type: "LoadBalancer", externalTrafficPolicy: "Local", annotations: { a: "b" } },
  ingress: { enabled: true, host: "rooms.example.com", className: "nginx", tlsSecret: "ingress-tls" },
  admin: { enabled: true, existingSecret: "admin" },
  serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
  antiAffinity: "hard",
  persistence: { storageClass: "fast" },
  podLabels: { team: "rooms" },
  extraEnv: [{ name: "A", value: "b" }],
};

const helm = spawnSync(fileURLToPath(new URL("helm.sh", import.meta.url)), {
  stdio: ["ignore", "pipe", "inherit"],
})
  .stdout.toString()
  .trim();
if (!helm && process.env[VARIABLE]) appendFileSync(process.env[VARIABLE], "the Helm chart: needs go\n");
const options = { skip: !helm && "needs Go or helm" };

/** Runs helm with the values on standard input. */
function run(command, values, ...options) {
  const { status, stdout, stderr } = spawnSync(helm, [...command, CHART, "--values", "-", ...options], {
    input: JSON.stringify(values),
    encoding: "utf8",
  });
  return { isFine: status === 0, text: stdout + stderr };
}

/** The objects that the chart makes, by kind and name. */
function rendered(values, ...options) {
  const { isFine, text } = run(["template", "gw"], values, "--namespace", "rooms", ...options);
  assert.ok(isFine, text);
  const documents = parseAllDocuments(text);
  assert.deepEqual(
    documents.flatMap(({ errors }) => errors),
    [],
  );
  return new Map(documents.map((document) => document.toJS()).map((it) => [`${it.kind} ${it.metadata.name}`, it]));
}

const server = (objects) => objects.get("StatefulSet gw-groupwire").spec;
const container = (objects) => server(objects).template.spec.containers[0];
const environment = (objects) => new Map(container(objects).env.map(({ name, ...it }) => [name, it.value ?? it]));

test("helm finds nothing to mend, whatever is switched on", options, () => {
  for (const values of [{ engine: ENGINE }, ALL]) {
    const { isFine, text } = run(["lint"], values, "--strict");
    assert.ok(isFine && !text.includes("[WARNING]"), text);
  }
});

test("servers are named as their pods, and found by the headless service", options, () => {
  const objects = rendered({ engine: ENGINE });
  const env = environment(objects);
  assert.deepEqual(env.get("GROUPWIRE_NODE"), { valueFrom: { fieldRef: { fieldPath: "metadata.name" } } });
  const advertised = "$(GROUPWIRE_NODE).gw-groupwire-headless.$(NAMESPACE).svc.cluster.local:7946";
  assert.equal(env.get("GROUPWIRE_ADVERTISE"), advertised);
  // Kubernetes replaces only variables that stand before.
  const names = [...env.keys()];
  assert.ok(names.indexOf("GROUPWIRE_NODE") < names.indexOf("GROUPWIRE_ADVERTISE"));
  assert.ok(names.indexOf("NAMESPACE") < names.indexOf("GROUPWIRE_ADVERTISE"));
  assert.equal(env.get("GROUPWIRE_ENGINE"), ENGINE.address);
  assert.equal(server(objects).serviceName, "gw-groupwire-headless");
  const headless = objects.get("Service gw-groupwire-headless").spec;
  assert.equal(headless.clusterIP, "None");
  assert.equal(headless.publishNotReadyAddresses, true);
  const labels = server(objects).template.metadata.labels;
  for (const { spec } of [objects.get("Service gw-groupwire"), { spec: headless }]) {
    for (const [label, value] of Object.entries(spec.selector)) assert.equal(labels[label], value);
  }
  assert.ok(!env.has("GROUPWIRE_CLIENT_ADDRESS"));
  const alone = environment(rendered({ engine: ENGINE, clientAddress: "https://$(GROUPWIRE_NODE).example.com" }));
  assert.equal(alone.get("GROUPWIRE_CLIENT_ADDRESS"), "https://$(GROUPWIRE_NODE).example.com");
  assert.ok([...alone.keys()].indexOf("GROUPWIRE_NODE") < [...alone.keys()].indexOf("GROUPWIRE_CLIENT_ADDRESS"));
  const elsewhere = rendered({ engine: ENGINE, fullnameOverride: "rooms", clusterDomain: "k8s.example" });
  const there = elsewhere.get("StatefulSet rooms").spec.template.spec.containers[0].env;
  const address = there.find(({ name }) => name === "GROUPWIRE_ADVERTISE").value;
  assert.equal(address, "$(GROUPWIRE_NODE).rooms-headless.$(NAMESPACE).svc.k8s.example:7946");
});

test("servers are upgraded, drained and asked for their health one by one", options, () => {
  const objects = rendered({ engine: ENGINE });
  const budget = objects.get("PodDisruptionBudget gw-groupwire").spec;
  assert.equal(budget.maxUnavailable, 1);
  assert.deepEqual(budget.selector.matchLabels, server(objects).selector.matchLabels);
  const { readinessProbe, livenessProbe, startupProbe } = container(objects);
  assert.deepEqual(readinessProbe.httpGet, { path: "/readyz", port: "http", scheme: "HTTP" });
  for (const probe of [livenessProbe, startupProbe]) assert.equal(probe.httpGet.path, "/healthz");
  // Waiting for balancers, handing over, and telling some thousands of clients when to come back.
  const { terminationGracePeriodSeconds } = server(objects).template.spec;
  assert.ok(terminationGracePeriodSeconds >= Number(environment(objects).get("GROUPWIRE_DRAIN_WAIT")) + 10 + 23);
  assert.ok(server(objects).minReadySeconds > 0);
});

test("servers run without rights, and write only into volumes", options, () => {
  for (const values of [{ engine: ENGINE }, ALL]) {
    const { securityContext, containers, initContainers = [], volumes } = server(rendered(values)).template.spec;
    assert.equal(securityContext.runAsNonRoot, true);
    for (const { securityContext, volumeMounts } of [...containers, ...initContainers]) {
      assert.deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      const known = ["data", ...volumes.map(({ name }) => name)];
      for (const { name } of volumeMounts) assert.ok(known.includes(name), name);
    }
  }
});

test("the secret is made once, or is one that exists", options, () => {
  const made = rendered({ engine: ENGINE }).get("Secret gw-groupwire-cluster");
  assert.equal(made.metadata.annotations["helm.sh/resource-policy"], "keep");
  assert.ok(Buffer.from(made.data.secret, "base64").length >= 32);
  const objects = rendered(ALL);
  assert.ok(![...objects.keys()].some((name) => name.startsWith("Secret")));
  assert.equal(environment(objects).get("GROUPWIRE_CLUSTER_SECRET"), "/etc/groupwire/cluster/secret.txt");
  const { volumes } = server(objects).template.spec;
  assert.equal(volumes.find(({ name }) => name === "cluster").secret.secretName, "shared");
});

test("options become a file, and each secret a mounted one", options, () => {
  const objects = rendered(ALL);
  const lines = objects.get("ConfigMap gw-groupwire").data["groupwire.toml"].trim().split("\n");
  assert.deepEqual(lines.slice(1), [
    "max-data = 102400",
    "no-yjs = true",
    'origin = ["https://app.example"]',
    'record-dir = "<a&b>"',
    "tick = 20",
  ]);
  const env = environment(objects);
  const expected = {
    GROUPWIRE_ENGINE_MONITORING: "http://nats-0:8222,http://nats-1:8222",
    GROUPWIRE_ENGINE_ACCEPTS_LAZY_SYNC: "true",
    GROUPWIRE_ENGINE_CREDENTIALS: "/etc/groupwire/engine/credentials",
    GROUPWIRE_ENGINE_ROOT: "/etc/groupwire/engine-tls/ca.crt",
    GROUPWIRE_ENGINE_KEY: "/etc/groupwire/engine-tls/tls.key",
    GROUPWIRE_CERT: "/etc/groupwire/tls/tls.crt",
    GROUPWIRE_NO_WEBTRANSPORT: "false",
    GROUPWIRE_LISTEN: "0.0.0.0:443",
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(env.get(name), value, name);
  assert.equal(container(objects).readinessProbe.httpGet.scheme, "HTTPS");
  const ports = objects.get("Service gw-groupwire").spec.ports.map(({ port, protocol }) => [port, protocol]);
  assert.deepEqual(ports, [
    [443, "TCP"],
    [443, "UDP"],
  ]);
  // A change of the options starts the servers again.
  const checksum = (objects) => server(objects).template.metadata.annotations["checksum/config"];
  assert.notEqual(checksum(objects), checksum(rendered({ ...ALL, config: {} })));
});

test("Prometheus finds the administration of each server", options, () => {
  const objects = rendered(ALL);
  const { selector, endpoints } = objects.get("ServiceMonitor gw-groupwire").spec;
  const { metadata, spec } = objects.get("Service gw-groupwire-headless");
  for (const [label, value] of Object.entries(selector.matchLabels)) assert.equal(metadata.labels[label], value);
  assert.ok(spec.ports.some(({ name }) => name === endpoints[0].port));
  assert.notEqual(objects.get("Service gw-groupwire").metadata.labels["app.kubernetes.io/component"], "servers");
  const [init] = server(objects).template.spec.initContainers;
  assert.equal(init.command.at(-1), environment(objects).get("GROUPWIRE_ADMIN_TOKEN_FILE"));
});

test("the schema refuses what cannot work", options, () => {
  const wrong = {
    "no engine": {},
    "an engine of another kind": { engine: { address: "redis://redis:6379" } },
    "a misspelt value": { engine: ENGINE, replica: 3 },
    "replicas in words": { engine: ENGINE, replicas: "three" },
    "an option that the chart sets": { engine: ENGINE, config: { node: "a" } },
    "an option that is no option's name": { engine: ENGINE, config: { max_people: 3 } },
    "an option with a table": { engine: ENGINE, config: { origin: { a: 1 } } },
    "one address for all pods": { engine: ENGINE, clientAddress: "https://rooms.example.com" },
    "a name with spaces": { engine: ENGINE, cluster: { name: "my rooms" } },
    "WebTransport without a certificate": { engine: ENGINE, webtransport: true, service: { type: "LoadBalancer" } },
    "WebTransport through an ingress": { engine: ENGINE, webtransport: true, tls: { existingSecret: "a" } },
    "administration without a token": { engine: ENGINE, admin: { enabled: true } },
    "metrics without administration": { engine: ENGINE, serviceMonitor: { enabled: true } },
    "an ingress without a host": { engine: ENGINE, ingress: { enabled: true } },
    "a budget of nobody": { engine: ENGINE, podDisruptionBudget: { maxUnavailable: 0 } },
  };
  for (const [what, values] of Object.entries(wrong)) {
    const { isFine, text } = run(["template", "gw"], values);
    assert.ok(!isFine, `${what} is taken`);
    assert.match(text, /schema/, what);
  }
});
