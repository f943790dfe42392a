import { defineConfig } from "vite";

// The package `groupwire` of this repository is outside of this folder.
export default defineConfig({ base: "./", server: { fs: { allow: ["../.."] } } });
