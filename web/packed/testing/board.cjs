// An application and its test, which each test runner runs: participants write a list together, over a bad network.

/** The application: a list that all participants append to. */
class List {
  items = [];
  #channel;

  constructor(room, { transaction }) {
    this.#channel = room.channel("list", transaction());
    this.#channel.on("message", (message) => this.items.push(message.json().item));
    room.on("gap", ({ reason }) => reason === "incarnation" && (this.items = []));
    room.on("error", () => {});
  }

  add(item) {
    this.#channel.send({ item });
  }
}

/** The test. `kit` is the module `groupwire/testing`. Returns how many items each list has, and the log. */
exports.writeTogether = async function writeTogether(kit, seed) {
  const net = kit.simulate({ seed, loss: 0.1, jitter: 40, durability: "local" });
  const rooms = net.join(3);
  const lists = rooms.map((room) => new List(room, kit));
  lists.forEach((list, at) => [1, 2, 3].forEach((item) => list.add(`${at}.${item}`)));
  await net.run(150);
  net.partition(rooms[1], 2000);
  net.restartServer();
  lists[1].add("last");
  await net.settle();
  const texts = new Set(lists.map(({ items }) => items.join()));
  if (texts.size !== 1) throw new Error(`the lists differ: ${[...texts].join(" | ")}`);
  return { counts: lists.map(({ items }) => items.length), log: net.log() };
};
