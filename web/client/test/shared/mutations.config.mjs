// Breaks the law of shared data on purpose, by the fault that SHARED_FAULT names: scripts/shared-mutations.mjs.

export const FAULTS = {
  "the room's order is ignored": {
    file: "replica.ts",
    from: "    this.#rollBack();\n    const effect = this.#apply([sender, text]);",
    to: "    const effect = this.#apply([sender, text]);",
  },
  "operations that come again count again": {
    file: "replica.ts",
    from: "const isNew = !this.has(author, number);",
    to: "const isNew = true;",
    also: {
      from: '!("actions" in operation.content) || this.has(operation.author, operation.number))',
      to: '!("actions" in operation.content))',
    },
  },
  "an undo is not guarded": {
    file: "tables.ts",
    from: "if (JSON.stringify(signature(this.cell(name, key))) !== JSON.stringify(second)) return;",
    to: "",
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

const { file, from, to, also } = FAULTS[process.env.SHARED_FAULT] ?? {};

const faulty = {
  name: "faulty",
  enforce: "pre",
  transform(code, id) {
    if (!file || !id.endsWith(`/src/shared/${file}`)) return undefined;
    return [{ from, to }, ...(also ? [also] : [])].reduce((text, change) => {
      if (text.split(change.from).length !== 2)
        throw new Error(`the text is not in ${file} exactly once: ${change.from}`);
      return text.replace(change.from, () => change.to);
    }, code);
  },
};

export default { plugins: [faulty] };
