/** The examples: those of the guide, from files that a test runs, too. */

const files = import.meta.glob<string>("../../examples/*.js", { query: "?raw", import: "default", eager: true });

/** In the order of the guide. */
const ORDER = ["first-room", "presence", "shared-data", "motion"];

export interface Example {
  readonly name: string;
  readonly title: string;
  readonly code: string;
}

export const EXAMPLES: readonly Example[] = Object.entries(files)
  .map(([path, code]) => {
    const name = path.replace(/^.*\/|\.js$/g, "");
    // The first line is a comment with the title.
    return { name, title: /^\/\/ (.*?)(?: \(.*)?$/m.exec(code)?.[1] ?? name, code };
  })
  .sort((one, other) => ORDER.indexOf(one.name) - ORDER.indexOf(other.name));
