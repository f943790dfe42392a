import { defineConfig } from "vite";

/**
 * Builds demos.js, which registers the elements, with the parts that it loads later, and the page
 * with all of them. Any page can use demos.js, so its name has no hash.
 */
export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    // The editor of the playground alone has 700 KB.
    chunkSizeWarningLimit: 800,
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      input: { demos: "src/index.ts", page: "index.html" },
      preserveEntrySignatures: "allow-extension",
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "parts/[name]-[hash].js",
        assetFileNames: "parts/[name]-[hash][extname]",
        // What the first demonstration needs is one file: fewer requests one after the other, and
        // fewer bytes, than with a file for each part that another element needs, too.
        codeSplitting: {
          groups: [
            {
              name: "demo",
              test: /client\/dist\/(?!shared|schema)|demos\/src\/(?!index|lazy|playground|kinds\/[lrt])/,
            },
          ],
        },
      },
    },
  },
});
