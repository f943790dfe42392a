import { defineConfig } from "vite";
import { config } from "../common/vite.ts";

/** The inspector's page, and that of the administration. */
export default defineConfig(({ mode }) => ({
  ...config(mode),
  build: { rolldownOptions: { input: ["index.html", "admin.html"] } },
}));
