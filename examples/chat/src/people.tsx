/** The names of the participants who are here, and a field for the own name. */

import { useEffect, useRef, useState, type ReactNode } from "react";
import { MAX_NAME } from "./log";
import { useOthers, usePresence, useRoomStatus } from "./room";

export function People({ onRename }: { readonly onRename: (name: string) => void }): ReactNode {
  const others = useOthers(
    (others) => others.map(({ id, away, presence }) => ({ id, away, name: nameOf(presence) })),
    same,
  );
  const [self, setSelf] = usePresence();
  const rename = (name: string): void => {
    if (!self || !name.trim() || name === self.name) return;
    setSelf({ ...self, name: name.trim() });
    onRename(name.trim());
  };
  return (
    <header>
      <h1>Chat</h1>
      <ul aria-label="People">
        {others.map(({ id, away, name }) => (
          <li key={id} className={away ? "away" : ""}>
            {name}
            {away && <small> away</small>}
          </li>
        ))}
      </ul>
      <label>
        Your name
        <input
          defaultValue={self?.name}
          maxLength={MAX_NAME}
          autoComplete="nickname"
          onBlur={({ target }) => rename(target.value)}
          onKeyDown={({ key, currentTarget }) => key === "Enter" && currentTarget.blur()}
        />
      </label>
      <ComingAndGoing people={others} />
    </header>
  );
}

interface Other {
  readonly id: number;
  readonly away: boolean;
  readonly name: string;
}

/** Says who has come and who has left since the page was opened. */
function ComingAndGoing({ people }: { readonly people: readonly Other[] }): ReactNode {
  const [news, setNews] = useState("");
  const isReady = useRoomStatus(({ isReady }) => isReady);
  const before = useRef<readonly Other[]>(undefined);
  useEffect(() => {
    // Until then the room reports participants that were there before. They have not "joined".
    if (!isReady) return;
    const [came, left] = [without(people, before.current ?? people), without(before.current ?? [], people)];
    const sentences = [sentence(came, "joined"), sentence(left, "left")].filter(Boolean);
    before.current = people;
    if (sentences.length > 0) setNews(sentences.join(" "));
  }, [people, isReady]);
  return (
    <p role="status" className="news">
      {news}
    </p>
  );
}

function without(people: readonly Other[], others: readonly Other[]): string[] {
  return people.filter(({ id }) => !others.some((other) => other.id === id)).map(({ name }) => name);
}

function sentence(names: readonly string[], verb: string): string {
  return names.length > 0 ? `${names.join(", ")} ${verb}.` : "";
}

function nameOf(presence: { readonly name: string } | undefined): string {
  return presence?.name ?? "Somebody";
}

function same(a: readonly Other[], b: readonly Other[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
