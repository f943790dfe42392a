/** The messages: pages of older ones, what is sent and saved, and who has seen what. */

import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { KEPT, readersOf, soundLog, type Message } from "./log";
import { useOperation, useWaiting } from "./outbox";
import { usePresence, useRoomStatus, useShared } from "./room";

/** The messages of a page. */
const PAGE = 30;
/** The end is on the screen if not more than this is below it: the height of a line. */
const NEAR_PX = 40;

export function Messages(): ReactNode {
  const { count, messages } = useShared(({ log }) => soundLog(log.value));
  const marks = useShared(({ marks }) => marks.value);
  const [shown, setShown] = useState(PAGE);
  const [self] = usePresence();
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useAtEnd(list, messages, marks);
  useMark(messages, isAtEnd);
  const own = self?.id ?? "";
  const page = messages.slice(-shown);
  const readers = readersOf(page, marks, own);

  const showOlder = (): void => {
    const { current } = list;
    const fromEnd = (current?.scrollHeight ?? 0) - (current?.scrollTop ?? 0);
    flushSync(() => setShown(shown + PAGE));
    // What was on the screen stays where it is.
    if (current) current.scrollTop = current.scrollHeight - fromEnd;
  };
  return (
    <section aria-label="Messages">
      <ol ref={list} role="log" tabIndex={0}>
        <li className="older">
          {page.length < messages.length ? (
            <button type="button" onClick={showOlder}>
              Show older messages
            </button>
          ) : count > KEPT ? (
            `Older messages are not kept: these are the last ${KEPT}.`
          ) : (
            "This is the beginning."
          )}
        </li>
        {page.map((message) => (
          <Entry
            key={message.id}
            message={message}
            isOwn={message.person === own}
            readers={readers.get(message.number)}
          />
        ))}
      </ol>
      {!isAtEnd && (
        <button type="button" className="newest" onClick={() => scrollToEnd(list.current)}>
          Newest messages
        </button>
      )}
    </section>
  );
}

interface EntryProps {
  readonly message: Message;
  readonly isOwn: boolean;
  readonly readers: readonly string[] | undefined;
}

function Entry({ message: { id, name, text, at }, isOwn, readers }: EntryProps): ReactNode {
  return (
    <li className={isOwn ? "own message" : "message"}>
      <p className="from">
        <b>{isOwn ? "You" : name}</b> <time dateTime={isoOf(at)}>{timeOf(at)}</time>
        {isOwn && <Delivery id={id} />}
      </p>
      <p className="text">{text}</p>
      {readers && <p className="seen">Seen by {readers.join(", ")}</p>}
    </li>
  );
}

/** The state of an own message: waiting, sent or saved. */
function Delivery({ id }: { readonly id: string }): ReactNode {
  const isWaiting = useWaiting().includes(id);
  const { status, durability } = useRoomStatus();
  if (!isWaiting) return <small> {durability === "memory" ? "Sent" : "Saved"}</small>;
  return <small className="waiting"> {status === "connected" ? "Sending…" : "Waiting for the network"}</small>;
}

/**
 * Sends how far this person has read, while the end of the list is on the screen: up to the last
 * ordered message.
 */
function useMark(messages: readonly Message[], isAtEnd: boolean): void {
  const [self] = usePresence();
  const perform = useOperation();
  const waiting = useWaiting();
  const isVisible = useVisible();
  const last = messages.findLast(({ id, person }) => person !== self?.id && !waiting.includes(id))?.number ?? 0;
  useEffect(() => {
    if (!self || !isVisible || !isAtEnd || last === 0) return;
    // Waits, so that many messages that arrive together make one mark.
    const timer = setTimeout(() => {
      perform(({ marks, log }) => {
        if ((marks.get(self.id)?.number ?? 0) >= last) return;
        marks.set(self.id, { name: self.name, number: last });
        const oldest = soundLog(log.value).messages[0]?.number ?? 0;
        for (const [person, { number }] of marks.value) if (number < oldest) marks.delete(person);
      });
    }, 500);
    return () => clearTimeout(timer);
  }, [self, isVisible, isAtEnd, last, perform]);
}

function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const changed = (): void => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  }, []);
  return isVisible;
}

/**
 * Keeps a list at its end when what it shows changes, unless the user has scrolled away from it.
 * Returns whether it is there.
 */
function useAtEnd(list: { readonly current: HTMLElement | null }, ...shown: readonly unknown[]): boolean {
  const [isAtEnd, setAtEnd] = useState(true);
  useEffect(() => {
    const element = list.current;
    const scrolled = (): void => {
      if (element) setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX);
    };
    element?.addEventListener("scroll", scrolled);
    return () => element?.removeEventListener("scroll", scrolled);
  }, [list]);
  useLayoutEffect(() => {
    if (isAtEnd) scrollToEnd(list.current);
  }, [list, isAtEnd, ...shown]);
  return isAtEnd;
}

function scrollToEnd(list: HTMLElement | null): void {
  if (list) list.scrollTop = list.scrollHeight;
}

function isoOf(at: number): string | undefined {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function timeOf(at: number): string {
  return isoOf(at) ? new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : "";
}
