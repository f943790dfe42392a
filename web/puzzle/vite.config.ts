import { defineConfig } from "vite";
import { config } from "../common/vite";

export default defineConfig(({ mode }) => config(mode));
