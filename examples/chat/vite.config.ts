import { defineConfig } from "vite";

// The packages of this repository are outside of this folder.
export default defineConfig({ base: "./", server: { fs: { allow: ["../.."] } } });
