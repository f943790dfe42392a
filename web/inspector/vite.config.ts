import { defineConfig } from "vite";
import { config } from "../common/vite.ts";

export default defineConfig(({ mode }) => config(mode));
