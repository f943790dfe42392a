// Breaks the law of shared data on purpose, by the fault that SHARED_FAULT names:
// scripts/shared-mutations.mjs.

export const FAULTS = {
  "the room's order is ignored": {
    file: "replica.ts",
    from: "    this.#rollBack();\n    const effect = this.#apply([sender, text]);",
    to: "    const effect = this.#apply([sender, text]);",
  },
  "operations that come again count again": {
    file: "replica.ts",
    from: "    this.#marks.set(author, number);",
    to: "",
  },
  "an undo is not guarded": {
    file: "tables.ts",
    from: "if (!isKept(second) || JSON.stringify(signature(this.cell(name, key))) !== JSON.stringify(second)) return;",
    to: "",
  },
  "a counter takes any number": {
    file: "tables.ts",
    from: "if (!Number.isSafeInteger(difference) || !Number.isSafeInteger(sum)) return;",
    to: "if (!Number.isFinite(difference)) return;",
  },
  "late joiners get other values than those that JSON lacks": {
    file: "operation.ts",
    from: '(typeof value === "number" && !Number.isFinite(value))',
    to: "false",
  },
  "places that others made up are taken as they are": {
    file: "between.ts",
    from: 'return valid.slice(0, end) || "V";',
    to: "return key;",
  },
  "somebody else's operation counts as the own one with its number": {
    file: "replica.ts",
    from: "if (isOwn && first?.text === text && first.effect) {",
    to: "if (isOwn && first?.number === operation.number && first.effect) {",
  },
  "operations whose numbers somebody else has used are not sent again": {
    file: "shared.ts",
    from: "for (const text of this.#replica.renumbered()) this.#send(text);",
    to: "",
  },
  "an author's numbers may jump": {
    file: "replica.ts",
    from: "return step > 0 && step <= MAX_STEP;",
    to: "return step > 0;",
  },
  "departures are not in the log": {
    file: "shared.ts",
    from: "transaction({ ...operations, departures: true })",
    to: "transaction(operations)",
  },
  "nobody brings a lost state back": {
    file: "shared.ts",
    from: "for (const text of this.#replica.restore()) this.#send(text);",
    to: "",
  },
};

const { file, from, to } = FAULTS[process.env.SHARED_FAULT] ?? {};

const faulty = {
  name: "faulty",
  enforce: "pre",
  transform(code, id) {
    if (!file || !id.endsWith(`/src/shared/${file}`)) return undefined;
    if (code.split(from).length !== 2) throw new Error(`the text is not in ${file} exactly once: ${from}`);
    return code.replace(from, () => to);
  },
};

export default { plugins: [faulty] };
