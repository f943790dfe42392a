// VitePress's own theme with the moving picture of the first page, and live demos where a page has
// `<gw-demo>` or `<gw-playground>`.

import { onMounted, watch, nextTick, h } from "vue";
import { useRoute } from "vitepress";
import DefaultTheme from "vitepress/theme";
import Recording from "./Recording.vue";
import "./style.css";

/** Loads the demos' script on the first page that needs it. */
async function loadDemos() {
  await nextTick();
  if (!document.querySelector("gw-demo, gw-playground") || document.querySelector("script[data-demos]")) return;
  const script = Object.assign(document.createElement("script"), { type: "module", src: "/demos/demos.js" });
  script.dataset.demos = "";
  document.head.append(script);
}

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "home-hero-image": () => h(Recording) }),
  setup() {
    const route = useRoute();
    onMounted(loadDemos);
    watch(() => route.path, loadDemos);
  },
};
