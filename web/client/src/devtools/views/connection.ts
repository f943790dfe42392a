/** The tab about the connection: the transport and why, how fast, since when, and what happened. */

import type { TransportName } from "../../api.js";
import { h, Rows, say, type Row } from "../dom.js";
import { LABELS } from "../../reasons.js";
import { NAMES } from "../../transport/platform.js";
import type { Watch } from "../watch.js";
import { bytes, clock, ms, span } from "../words.js";
import { Facts } from "./facts.js";
import { Log } from "./log.js";
import type { View } from "./view.js";

const SURVIVES = {
  memory: "nothing: the room ends with its server",
  local: "a crash of the server or its machine",
  cluster: "also the loss of the server's disk",
};

export class ConnectionView implements View {
  readonly title = "Connection";
  readonly #facts = new Facts();
  readonly #transports = h("ul", "transports");
  readonly #log = new Log();
  readonly #rows = new Rows<TransportName>(
    this.#transports,
    (name) => name,
    (name) => this.#row(name),
  );
  readonly element = h(
    "div",
    "columns",
    h("section", "", this.#facts.element),
    h("section", "", h("h2", "", "Transports"), this.#transports, h("h2", "", "What happened"), this.#log.element),
  );

  constructor(readonly watch: Watch) {}

  show(): void {
    const { room, since, began } = this.watch;
    const { stats, transport } = room;
    const { sent, received, plain } = stats;
    this.#facts.tell("Status", room.problem ? `${room.status}: ${room.problem.message}` : room.status);
    this.#facts.tell("Transport", transport ? LABELS[transport.name] : "none");
    this.#facts.tell("Why", transport?.why ?? "");
    this.#facts.tell("Round trip", ms(stats.roundTrip));
    const isSince = since === undefined ? `since ${clock(began)} at the latest` : `since ${clock(since)}`;
    const forHow = `${isSince} (${span(Date.now() - (since ?? began))})`;
    this.#facts.tell("Connected", room.status === "connected" ? forHow : "not now");
    this.#facts.tell("Reconnections", `${stats.reconnects}`);
    this.#facts.tell("Participant", room.self ? `${room.self.id}` : "none yet");
    const { durability } = room;
    this.#facts.tell("What is confirmed survives", durability ? SURVIVES[durability] : "not known yet");
    this.#facts.tell("Sent", traffic(sent));
    this.#facts.tell("Received", traffic(received));
    const payload = sent.bytesPayload + received.bytesPayload;
    const before = sent.bytesBefore + received.bytesBefore;
    this.#facts.tell(
      "Messages became",
      payload > 0 ? `${(before / payload).toFixed(1)} times smaller` : "not sent yet",
    );
    this.#facts.tell("Compression", plain === undefined ? "on" : `off: ${plain}`);
    this.#rows.show(NAMES);
    this.#log.show(this.watch.log.newestFirst().filter(({ kind }) => kind === "connection" || kind === "problem"));
  }

  #row(name: TransportName): Row<TransportName> {
    const verdict = h("span", "quiet");
    const element = h("li", "", h("b", "", LABELS[name]), " ", verdict);
    return {
      element,
      update: () => {
        const isUsed = this.watch.room.transport?.name === name;
        element.classList.toggle("used", isUsed);
        say(verdict, this.#verdict(name));
      },
    };
  }

  /** Why a transport is in use, or why it is not. */
  #verdict(name: TransportName): string {
    const { transport } = this.watch.room;
    const [choice] = this.watch.room.inside[0].inside;
    const { names } = choice;
    if (!names.includes(name)) return "not here: the browser lacks it, or the application does not allow it";
    if (!transport) return "may be used";
    if (transport.name === name) return "in use";
    if (names.indexOf(name) > names.indexOf(transport.name)) return "in reserve: a better one works";
    // The sentence about the transport in use has the reasons of all better ones.
    const reason = transport.why.split(/[,;] /).find((part) => part.startsWith(LABELS[name]));
    return reason ? reason.slice(LABELS[name].length + 1) : "is tried again from time to time";
  }
}

function traffic({ packets, messages, bytesBefore, bytesAfter, bytesPayload }: Watch["room"]["stats"]["sent"]): string {
  const inside = `${messages} messages of ${bytes(bytesBefore)}, ${bytes(bytesPayload)} as payload`;
  return `${packets} packets of ${bytes(bytesAfter)}: ${inside}`;
}
