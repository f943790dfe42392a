// A small host of MCP: it starts a server and calls its tools by JSON-RPC, a line for each message.
// A real host uses a library.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Starts an MCP server. `call` calls a tool and returns its result, or throws its error. */
export async function host(command, options) {
  const child = spawn(command, options, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let lastId = 0;

  const end = (error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  child.on("error", end);
  child.on("exit", (code) => end(new Error(`${command} ended with ${code}`)));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  });

  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = (lastId += 1);
      waiting.set(id, { resolve, reject });
      send({ id, method, params });
    });

  await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "tidy", version: "0.1.0" },
  });
  send({ method: "notifications/initialized" });
  return {
    async call(name, args) {
      const { structuredContent, isError } = await request("tools/call", { name, arguments: args });
      if (isError) throw new Error(`${name}: ${structuredContent?.message}`);
      return structuredContent;
    },
    close: () => child.stdin.end(),
  };
}
