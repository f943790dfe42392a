// What a scenario expects of a participant. Each function returns undefined if it is so, and
// otherwise what is different: then it is asked again, as long as it may still become so.

/** True if `value` has all that `expected` has. Objects may have more, lists may not. */
export function has(value, expected) {
  if (Array.isArray(expected))
    return Array.isArray(value) && value.length === expected.length && expected.every((one, at) => has(value[at], one));
  if (typeof expected !== "object" || expected === null) return value === expected;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(expected).every(([name, one]) => has(value[name], one));
}

export const EXPECTATIONS = {
  /** Exactly these messages of a channel, in this order. */
  messages: (step, seen) => list(step, seen, "message"),

  /** Exactly these messages to this participant alone. */
  directs: (step, seen) => list(step, seen, "direct"),

  /** All that was sent on a channel, once, each sender's in its order, and as the others see it. */
  order(step, seen, { others, sent }) {
    const of = (events) => texts(events, step.channel);
    const [got, all] = [of(seen.events), sent(step.channel)];
    if (!has([...got].sort(), all.flatMap(({ texts }) => texts).sort())) return { got, sent: all };
    for (const { who, texts } of all)
      if (
        !has(
          got.filter((text) => texts.includes(text)),
          texts,
        )
      )
        return { got, "not in the order of": who };
    for (const { who, events } of others) if (!has(of(events), got)) return { got, "but not so": who };
  },

  /** The newest value of a sender, and none that is older after a newer one. */
  newest(step, seen, { id }) {
    const got = seen.events
      .filter(
        ({ event, channel, sender }) => event === "message" && channel === step.channel && sender === id(step.from),
      )
      .filter(({ key }) => key === step.key)
      .map(({ text }) => text);
    const numbers = got.map((text) => Number(/\d+$/.exec(text)?.[0]));
    const isSorted = numbers.every((number, at) => at === 0 || numbers[at - 1] < number);
    if (got.at(-1) !== step.text || !isSorted) return { got };
  },

  /** An event, and how often it came, if the step says that. */
  event(step, seen) {
    const got = seen.events.filter((event) => has(event, step.like));
    if (step.times === undefined ? got.length === 0 : got.length !== step.times) return { events: seen.events };
  },

  /** The other participants. */
  people(step, seen, { id }) {
    const expected = step.are.map(({ who, presence, ...rest }) => {
      return { ...rest, id: id(who), ...(presence === undefined ? {} : { presence }) };
    });
    const got = seen.state.people.map(({ presence, ...one }) => ({ ...one, presence: parsed(presence) }));
    got.sort((one, other) => one.id - other.id);
    expected.sort((one, other) => one.id - other.id);
    if (!has(got, expected)) return { got, expected };
  },

  /** The participant's own state: `status` and `pending`. */
  state(step, seen) {
    if (!has(seen.state, step.is)) return { got: seen.state };
  },

  /**
   * The shared data. Participants in it have the names of the scenario; without a holder it is
   * `nobody`.
   */
  data(step, seen) {
    const { holder, turns, ...data } = seen.data;
    const nameOf = (id) => (id === 0 ? "nobody" : (seen.nameOf(id) ?? id));
    const got = { ...data, holder: nameOf(holder), turns: turns.map(nameOf) };
    if (!has(got, step.is)) return { got };
  },
};

function list(step, seen, type) {
  const got = seen.events.filter(({ event, channel }) => event === type && channel === step.channel);
  // Some clients show a sender its own messages to others, too.
  const shown = type === "direct" ? got.filter(({ own }) => !own) : got;
  const expected = step.are.map((one) => (typeof one === "string" ? { text: one } : one));
  const named = shown.map((one) => ({ ...one, from: seen.nameOf(one.sender) }));
  if (!has(named, expected)) return { got: named };
}

function texts(events, channel) {
  return events.filter((one) => one.event === "message" && one.channel === channel).map(({ text }) => text);
}

function parsed(text) {
  return text === "" ? undefined : JSON.parse(text);
}
