/** Where messages are written. */

import { useEffect, useState, type FormEvent, type KeyboardEvent, type ReactNode } from "react";
import { MAX_TEXT } from "./log";
import { useOperation, useWaiting } from "./outbox";
import { usePresence } from "./room";
import { useTyping, useTypists } from "./typing";

export function Composer(): ReactNode {
  const [text, setText] = useState("");
  const [self] = usePresence();
  const perform = useOperation();
  const type = useTyping();
  useGuard();

  const write = (text: string): void => {
    setText(text);
    type(text);
  };
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    if (!self || !text.trim()) return;
    const id = crypto.randomUUID();
    const draft = { id, person: self.id, name: self.name, text: text.trim(), at: Date.now() };
    perform(({ log }) => log.dispatch(draft), id);
    write("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Enter does not send while an input method composes a character.
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) send(event);
  };
  return (
    <form onSubmit={send}>
      <Typists />
      <textarea
        aria-label="Message"
        placeholder="Write a message. Enter sends it."
        rows={2}
        maxLength={MAX_TEXT}
        value={text}
        onChange={({ target }) => write(target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" disabled={!text.trim()}>
        Send
      </button>
    </form>
  );
}

function Typists(): ReactNode {
  const names = useTypists();
  const verb = names.length === 1 ? "is" : "are";
  return (
    <p className="typing" role="status">
      {names.length > 0 && `${names.join(", ")} ${verb} typing…`}
    </p>
  );
}

/** The browser asks before a page is closed that has messages which are not sent. */
function useGuard(): void {
  const isWaiting = useWaiting().some((id) => id !== undefined);
  useEffect(() => {
    if (!isWaiting) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isWaiting]);
}
