import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  // The package `groupwire` of this repository is outside of this folder.
  server: { fs: { allow: ["../.."] } },
  // Excalidraw is one large program.
  // Its fonts, and what else it loads when it is needed.
  publicDir: "node_modules/@excalidraw/excalidraw/dist/prod",
  build: { chunkSizeWarningLimit: 8000 },
  define: { "process.env.IS_PREACT": JSON.stringify("false") },
});
