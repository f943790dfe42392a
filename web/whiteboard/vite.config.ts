import { defineConfig } from "vite";

// `--mode double` joins boards by an in-memory room instead of a server: for work on looks, never shipped.
export default defineConfig(({ mode }) => ({
  base: "./",
  resolve: mode === "double" ? { alias: { groupwire: "/test/double.ts" } } : {},
}));
