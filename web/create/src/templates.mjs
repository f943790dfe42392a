/**
 * The templates, in the order in which they are offered. Each is a folder in templates/, on top of
 * the folder common.
 */
export const TEMPLATES = [
  { name: "react", title: "React" },
  { name: "vue", title: "Vue" },
  { name: "svelte", title: "Svelte" },
  { name: "plain", title: "TypeScript without a framework" },
  { name: "next", title: "Next.js, with React" },
];
