import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  // The package `groupwire` of this repository is outside of this folder.
  server: { fs: { allow: ["../.."] } },
  // tldraw is one large program.
  build: { chunkSizeWarningLimit: 8000 },
});
