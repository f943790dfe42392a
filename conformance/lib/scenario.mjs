// Plays a scenario: its steps one after the other, with the participants that they name.

import { setTimeout as sleep } from "node:timers/promises";
import { Driver, DriverError, PATIENCE_MS } from "./driver.mjs";
import { EXPECTATIONS } from "./expect.mjs";
import { Path } from "./server.mjs";

/** How often a participant is asked again, in milliseconds. */
const LOOK_MS = 10;

export class Play {
  #room;
  #server;
  #drivers;
  #people = new Map();

  /** `drivers` has a driver's program for the subject, and one for the others. */
  constructor(room, server, drivers) {
    this.#room = room;
    this.#server = server;
    this.#drivers = drivers;
  }

  /** Throws an error that names the step if one is not as it should be. */
  async run({ steps }) {
    try {
      for (const [at, step] of steps.entries()) {
        try {
          await this.#step(step);
        } catch (error) {
          throw new Error(`step ${at + 1}, ${JSON.stringify(step).slice(0, 300)}: ${error.message}`, { cause: error });
        }
      }
    } finally {
      for (const { driver, path } of this.#people.values()) {
        driver.stop();
        path.close();
      }
    }
  }

  async #step(step) {
    if (step.do === "kill the server") return this.#server.kill();
    if (step.do === "start the server") return this.#server.start();
    if (step.do === "wait") return sleep(step.seconds * 1000);
    const names = [step.who].flat();
    const people = await Promise.all(names.map((name) => this.#person(name)));
    if (step.expect) {
      for (const person of people) await this.#expect(step, person, people);
    } else {
      await Promise.all(people.map((person) => this.#do(step, person)));
    }
  }

  async #person(name) {
    let person = this.#people.get(name);
    if (!person) {
      const driver = new Driver(name === "subject" ? this.#drivers.subject : this.#drivers.others);
      person = { name, driver, path: new Path(this.#server), id: undefined, events: [], sent: new Map() };
      this.#people.set(name, person);
      await person.path.open();
    }
    return person;
  }

  async #do(step, person) {
    const { driver, path } = person;
    if (step.do === "cut") return path.cut();
    if (step.do === "mend") return path.mend();
    if (step.do === "restart") {
      // The program ends as if it were killed, and another one begins anew.
      driver.stop();
      path.close();
      this.#people.delete(person.name);
      return;
    }
    for (let n = 1; n <= (step.times ?? 1); n += 1) await this.#command(step, person, n);
  }

  async #command(step, person, n) {
    const command = this.#commandOf(step, person, n);
    let answer;
    try {
      answer = await person.driver.run(command);
    } catch (error) {
      if (!(error instanceof DriverError) || error.code !== step.fails) throw error;
      return;
    }
    if (step.fails && n === (step.times ?? 1)) throw new Error(`it did not fail with ${step.fails}`);
    if (step.outcome && answer.outcome !== step.outcome) throw new Error(`the outcome is ${answer.outcome}`);
    if (step.do === "join") person.id = answer.id;
    if (step.do !== "send") return;
    if (answer.sent === "not-now") throw new Error("too many messages wait");
    person.sent.set(step.channel, [...(person.sent.get(step.channel) ?? []), command.text]);
  }

  /** The driver's command for a step. */
  #commandOf({ who, times, fails, outcome, ...step }, person, n) {
    const filled = (value) => {
      if (typeof value === "string") return value.replaceAll("{n}", n).replaceAll("{who}", person.name);
      return value.repeat.repeat(value.times);
    };
    const command = { ...step };
    for (const name of ["text", "channel", "room", "key"]) {
      if (step[name] !== undefined) command[name] = filled(step[name]);
    }
    for (const name of ["presence", "value"]) {
      // JSON travels as text, so that commands have no parts: drivers in C have to read them.
      if (step[name] !== undefined) command[name] = JSON.stringify(step[name].repeat ? filled(step[name]) : step[name]);
    }
    if (step.to !== undefined) command.to = this.#id(step.to);
    if (typeof step.token === "object") command.token = this.#server.tokens.make(step.token);
    if (step.do === "join") Object.assign(command, { url: person.path.url, room: command.room ?? this.#room });
    return command;
  }

  async #expect(step, person, people) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      for (const one of people) await this.#look(one);
      const seen = { events: person.events, nameOf: (id) => this.#nameOf(id) };
      if (["people", "state"].includes(step.expect)) seen.state = await person.driver.run({ do: "state" });
      if (step.expect === "data") seen.data = await person.driver.run({ do: "data" });
      const world = {
        others: people.filter((one) => one !== person).map(({ name, events }) => ({ who: name, events })),
        sent: (channel) => this.#sent(channel),
        id: (name) => this.#id(name),
      };
      const differs = EXPECTATIONS[step.expect](step, seen, world);
      if (!differs) return;
      if (Date.now() > end) throw new Error(`${person.name}: ${JSON.stringify(differs).slice(0, 4000)}`);
      await sleep(LOOK_MS);
    }
  }

  /** Takes the news of a participant. */
  async #look(person) {
    const { events } = await person.driver.run({ do: "events" });
    person.events.push(...events);
  }

  #sent(channel) {
    return [...this.#people.values()]
      .filter(({ sent }) => sent.has(channel))
      .map(({ name, sent }) => ({ who: name, texts: sent.get(channel) }));
  }

  #id(name) {
    if (typeof name === "number") return name;
    const id = this.#people.get(name)?.id;
    if (id === undefined) throw new Error(`${name} has not joined`);
    return id;
  }

  #nameOf(id) {
    return [...this.#people.values()].find((person) => person.id === id)?.name;
  }
}
