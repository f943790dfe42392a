/**
 * Fetches commands from the lab, runs them and answers with their results, until there are no more.
 */

import { bare } from "./bare";
import { Member } from "./member";
import { Performer } from "./perform";
import { play } from "./play";
import type { Command, Numbered, Reply } from "./protocol";

type Answer = Numbered<Reply>;

const query = new URLSearchParams(location.search);
const page = Number(query.get("page") ?? "0");

// Each participant stands for a browser of its own, so participants must not share the locks of
// tabs (docs/transports.md, T20).
Object.defineProperty(navigator, "locks", { value: undefined });

// Pages of different hosts run in different processes.
for (const other of query.getAll("open")) open(other, "_blank", "noopener,popup");

let members: Member[] = [];
let performer: Performer | undefined;
let answer: Answer | null = null;
for (;;) {
  const command = await next(answer);
  if (!command) break;
  const reply = await run(command).catch((error: unknown) => ({ did: "fail", why: String(error) }) as const);
  answer = { number: command.number, ...reply };
}
close();

async function next(answer: Answer | null): Promise<Numbered<Command> | undefined> {
  const response = await fetch(`next/${page}`, { method: "POST", body: JSON.stringify(answer) });
  if (response.status === 200) return (await response.json()) as Numbered<Command>;
  // If the page told no reason, the experiment would wait for the answer until its time limit.
  if (response.status !== 204 && answer && answer.did !== "fail") {
    return next({ number: answer.number, did: "fail", why: `the answer was refused with status ${response.status}` });
  }
  return undefined;
}

async function run(command: Command): Promise<Reply> {
  switch (command.do) {
    case "join": {
      const { servers, room, transport } = command;
      const joined = await Promise.all(servers.map((server) => Member.join(server, room, transport)));
      members.push(...joined);
      const others = joined.map((member) => member.transport).filter((name) => name !== transport);
      return { did: "join", ms: joined.map(({ ms }) => ms), transport: others[0] ?? transport };
    }
    case "send":
      return { did: "send", messages: await member(command.member).send(command) };
    case "expect":
      member(command.member).expect(command);
      return { did: "expect" };
    case "receive":
      return { did: "receive", ...(await member(command.member).receive(command)) };
    case "play":
      return { did: "play", ...(await play(command.members.map(member), command)) };
    case "bare":
      return { did: "receive", ...(await bare(command)) };
    case "attend":
      performer = await Performer.attend(command);
      return { did: "attend" };
    case "act":
      if (!performer) throw new Error("nobody attends");
      return { did: "act", ...(await performer.act(command)) };
    case "leave":
      performer?.leave();
      performer = undefined;
      members.forEach(({ room }) => room.leave());
      members = [];
      return { did: "leave" };
  }
}

function member(number: number): Member {
  const found = members[number];
  if (!found) throw new Error(`there is no participant ${number}`);
  return found;
}
