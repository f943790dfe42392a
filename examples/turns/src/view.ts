/** The page: shows a table, and plays by mouse, touch or keyboard. */

import type { Room } from "groupwire";
import { boardOf, COLUMNS, lineOf, other, ROWS, type Side } from "./board";
import { isFree, mover, type Seat } from "./game";
import type { Person, Table } from "./table";

const COLORS = ["red", "yellow"] as const;
const CONNECTION = {
  connecting: "Connecting…",
  connected: "",
  reconnecting: "The connection is lost. Trying again…",
  closed: "The connection is closed. Load the page anew.",
};

const WHEREABOUTS = { here: "", away: ", away", gone: ", has left" };

export class View {
  readonly #room: Room<Person>;
  readonly #table: Table;
  readonly #columns: readonly HTMLButtonElement[];
  #error = "";

  constructor(room: Room<Person>, table: Table) {
    this.#room = room;
    this.#table = table;
    this.#columns = Array.from({ length: COLUMNS }, (_, column) => this.#makeColumn(column));
    part("board").append(...this.#columns);
    part("board").addEventListener("keydown", (event) => this.#onKey(event));
    for (const action of ["again", "resign", "clear", "leave"] as const)
      part(action).addEventListener("click", () => table[action]());
    table.subscribe(() => this.#show());
    this.#show();
  }

  /** Shows an error of the room. */
  fail(message: string): void {
    this.#error = message;
    this.#show();
  }

  #show(): void {
    const { status } = this.#room;
    document.documentElement.dataset.status = status;
    setText(part("connection"), this.#error || CONNECTION[status]);
    setText(part("news"), this.#news());
    this.#showPlayers();
    this.#showBoard();
    this.#showActions();
    const { watchers } = this.#table;
    setText(part("watchers"), watchers.length > 0 ? `Also here: ${watchers.join(", ")}` : "");
  }

  /** The state of the game in a sentence or two; screen readers read it whenever it changes. */
  #news(): string {
    const { game, side } = this.#table;
    const [red, yellow] = game.seats;
    const gone = this.#gone();
    const left = gone ? ` ${gone.name} has left.` : "";
    if (game.winner !== null) return `${this.#lastMove()}${this.#outcome(game.winner)}${left}`;
    if (!red || !yellow) return side === undefined ? "Take a free seat to play." : "Waiting for another player.";
    if (gone) return `${gone.name} has left. The seat is kept for ${gone.name}.`;
    const next = mover(game);
    const move = side === next ? "Your move." : `${this.#name(next)} (${COLORS[next]}) moves.`;
    return `${this.#lastMove()}${move}`;
  }

  #outcome(winner: Side | "nobody"): string {
    if (winner === "nobody") return "The board is full: nobody wins.";
    return winner === this.#table.side ? "You win." : `${this.#name(winner) || "The player who stayed"} wins.`;
  }

  #lastMove(): string {
    const { game } = this.#table;
    const column = game.moves.at(-1);
    if (column === undefined || game.seats.includes(null)) return "";
    const last = game.moves.length % 2 === 1 ? game.first : other(game.first);
    return `${last === this.#table.side ? "You" : this.#name(last)}: column ${column + 1}. `;
  }

  #name(side: Side): string {
    return this.#table.game.seats[side]?.name ?? "";
  }

  /** A player who has left without getting up. */
  #gone(): Seat | undefined {
    return this.#table.game.seats.find((seat) => seat && this.#table.whereabouts(seat) === "gone") ?? undefined;
  }

  #showPlayers(): void {
    const items = ([0, 1] as const).map((side) => this.#makePlayer(side));
    const players = part("players");
    const isSame = items.every((item, at) => players.children[at]?.isEqualNode(item));
    // An element with the focus stays where it is.
    if (!isSame) players.replaceChildren(...items);
  }

  #makePlayer(side: Side): HTMLElement {
    const { game, side: own } = this.#table;
    const seat = game.seats[side];
    const item = element("li", { className: "player" });
    item.dataset.side = String(side);
    const isNext = game.winner === null && !game.seats.includes(null) && mover(game) === side;
    if (isNext) item.setAttribute("aria-current", "true");
    item.append(element("span", { className: "disc", ariaHidden: "true" }));
    if (!seat) {
      const label = own === undefined ? `Play ${COLORS[side]}` : "Free seat";
      const free = element("button", { type: "button", textContent: label, disabled: own !== undefined });
      free.addEventListener("click", () => this.#table.sit(side));
      item.append(free);
      return item;
    }
    const where = this.#table.whereabouts(seat);
    item.append(
      element("b", { textContent: seat.name }),
      element("small", {
        textContent: `${COLORS[side]}${side === own ? ", you" : WHEREABOUTS[where]}`,
      }),
      element("span", { className: "wins", textContent: String(game.wins[side]), ariaLabel: `${game.wins[side]} won` }),
    );
    return item;
  }

  #makeColumn(column: number): HTMLButtonElement {
    const button = element("button", { type: "button", className: "column", tabIndex: column === 3 ? 0 : -1 });
    button.append(...Array.from({ length: ROWS }, () => element("span", { className: "cell" })));
    button.addEventListener("click", () => this.#table.drop(column));
    return button;
  }

  #showBoard(): void {
    const { game, isMyMove } = this.#table;
    const board = boardOf(game.moves, game.first);
    const line = lineOf(game.moves, game.first);
    const last = game.moves.at(-1);
    part("board").classList.toggle("mine", isMyMove);
    this.#columns.forEach((button, column) => {
      const discs = board[column] ?? [];
      const colors = discs.map((side) => COLORS[side]).join(", ");
      button.ariaLabel = `Column ${column + 1}: ${colors || "empty"}`;
      // Not `disabled`, which would take the focus away.
      button.ariaDisabled = String(!isMyMove || !isFree(game, column));
      [...button.children].forEach((cell, at) => {
        const row = ROWS - 1 - at;
        const isInLine = line.some((place) => place.column === column && place.row === row);
        const isLast = column === last && row === discs.length - 1;
        cell.className = ["cell", isInLine && "line", isLast && "last"].filter(Boolean).join(" ");
        (cell as HTMLElement).dataset.side = String(discs[row] ?? "");
      });
    });
  }

  #showActions(): void {
    const { game, side } = this.#table;
    const isPlayer = side !== undefined;
    const opponent = isPlayer ? game.seats[other(side)] : null;
    const shown = {
      again: isPlayer && game.winner !== null && opponent !== null,
      resign: isPlayer && game.winner === null && game.moves.length > 0,
      clear: opponent !== null && this.#table.whereabouts(opponent) === "gone",
      leave: isPlayer,
    };
    for (const [action, isShown] of Object.entries(shown)) part(action).hidden = !isShown;
  }

  #onKey(event: KeyboardEvent): void {
    const now = this.#columns.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const target = this.#columns[step === undefined ? -1 : now + step];
    if (!target) return;
    event.preventDefault();
    for (const button of this.#columns) button.tabIndex = button === target ? 0 : -1;
    target.focus();
  }
}

function part(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

/**
 * A screen reader reads a live region again if its text is set again, so it is set only if it
 * changes.
 */
function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
): HTMLElementTagNameMap[Tag] {
  return Object.assign(document.createElement(tag), properties);
}
