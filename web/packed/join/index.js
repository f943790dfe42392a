// What every program does: joins the room that `query` names, answers the first message on each of three channels, and
// reports to `say` after each change what it has seen.

/** The settings of the channels. Each needs another WebAssembly module: the core, most codecs, brotli. */
const SETTINGS = ["template", "zstd", "brotli"];

/** `groupwire` is the package as the program has imported it. */
export function join({ connect, transaction }, query, say) {
  const seen = { received: [], answered: [], errors: [] };
  const room = connect(query.get("server"), query.get("room"));
  room.on("error", ({ message }) => {
    seen.errors.push(message);
    say(seen);
  });
  for (const compress of SETTINGS) {
    const channel = room.channel(compress, transaction({ compress }));
    channel.on("message", ({ own, data }) => {
      // Other programs in the room answer, too.
      if (own || !data.startsWith("hello")) return;
      seen.received.push(data);
      say(seen);
      answer();
    });

    /** Sends messages until they are compressed as the channel asks, because codecs are loaded meanwhile. */
    const answer = () => {
      const codec = room.stats.channels.get(compress)?.sent.codec;
      if (compress !== "template" && codec !== compress) {
        channel.send("The program waits for a codec. ".repeat(40));
        return setTimeout(answer, 50);
      }
      channel.send(`answer on ${compress}`);
      seen.answered.push(compress);
      say(seen);
    };
  }
  return room;
}
