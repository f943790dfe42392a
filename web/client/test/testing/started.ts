// Simulations that end after the test that started them.

import { afterEach } from "vitest";
import { simulate, type Simulation, type SimulationOptions } from "../../src/testing.js";

const started: Simulation[] = [];
afterEach(() => started.splice(0).forEach((net) => net.end()));

export function start(options: SimulationOptions = {}): Simulation {
  const net = simulate(options);
  started.push(net);
  return net;
}
