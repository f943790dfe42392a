/**
 * `<gw-administration>`: a server's figures over time, its rooms, and what an administrator does.
 * Attributes: `server`, `room`, `token`.
 */

import { STYLES } from "../inspector/styles.js";
import { accessOf, pageAddress, Refused, type Access } from "../shared/access.js";
import { button, h, say } from "../shared/dom.js";
import { missingNote, showMissing } from "../shared/missing.js";
import { TOKEN_WANTED, tokenForm } from "../shared/token.js";
import { download, type Actions } from "./actions.js";
import { BansView } from "./bans.js";
import { Chart } from "./chart.js";
import { ask } from "./confirm.js";
import { Figures, GRAPHS } from "./figures.js";
import { Requests, type RoomLine } from "./requests.js";
import { RoomView } from "./room.js";
import { ADMIN_STYLES } from "./styles.js";
import { Table } from "./table.js";
import { duration, size } from "./units.js";

/** Milliseconds between two requests for figures. */
const POLL_MS = 2000;

/** Most rooms in the list; the search finds the others. */
const MOST_ROOMS = 200;

const VIEWS = { overview: "Overview", rooms: "Rooms", bans: "Bans" } as const;

type View = keyof typeof VIEWS;

/** `<gw-administration>`: a server's figures and rooms, and what an administrator does. */
export class Administration extends HTMLElement {
  static readonly observedAttributes = ["server", "room", "token"];

  private readonly root = this.attachShadow({ mode: "open" });
  private readonly figures = new Figures();
  private readonly requests = new Requests(() => this.access);
  private readonly charts = GRAPHS.map((graph) => ({ graph, chart: new Chart(graph) }));
  private readonly summary = h("p", "summary");
  private readonly status = h("p", "status");
  private readonly token = tokenForm("Open", (token) => this.setAttribute("token", token));
  private readonly overview = h("div", "charts", ...this.charts.map(({ chart }) => chart.element));
  private readonly search = h("input", "search");
  private readonly found = h("p", "lead");
  private readonly missing = missingNote();
  private readonly roomList = h("section", "card rooms");
  private readonly table: Table<RoomLine>;
  private readonly actions: Actions = {
    requests: this.requests,
    ask: (question) => ask(this.root, question),
    attempt: (asked, done) => this.attempt(asked, done),
  };
  private readonly bans = new BansView(this.actions);
  private readonly roomView = new RoomView({
    ...this.actions,
    inspect: (room) => this.inspectorOf(room),
    back: () => this.setAttribute("room", ""),
  });
  private readonly tabs = (Object.keys(VIEWS) as View[]).map((view) => {
    const tab = button("segment-button", VIEWS[view], () => this.open(view));
    tab.dataset.view = view;
    return tab;
  });
  private readonly files = this.fileTools();
  private view: View = "overview";
  private rooms: readonly RoomLine[] = [];
  private polling: ReturnType<typeof setInterval> | undefined;
  /** What the last action did is shown until this time. */
  private saidUntil = 0;

  constructor() {
    super();
    const style = document.createElement("style");
    style.textContent = STYLES + ADMIN_STYLES;
    this.table = new Table<RoomLine>("Rooms", this.columns(), ({ name }) => name);
    this.summary.dataset.testid = "summary";
    this.status.dataset.testid = "status";
    this.status.setAttribute("role", "status");
    this.search.type = "search";
    this.search.placeholder = "Search rooms";
    this.search.ariaLabel = "Search rooms";
    this.search.addEventListener("input", () => this.showRooms());
    this.roomList.append(
      h("div", "head", h("h2", "", "Rooms"), this.search, this.files),
      this.missing,
      this.table.element,
      this.found,
    );
    const drain = button("danger", "Drain…", () => void this.drain());
    drain.dataset.testid = "drain";
    drain.title = "Make the server not ready, and stop it after a time";
    const tabs = h("div", "directions", ...this.tabs);
    tabs.setAttribute("role", "group");
    tabs.ariaLabel = "View";
    this.root.append(
      style,
      h("header", "bar-top", h("h1", "", "Administration"), tabs, this.summary, h("div", "tools", drain)),
      this.status,
      this.token,
      h("main", "pages", this.overview, this.roomList, this.roomView.element, this.bans.element),
    );
    this.explain("");
    this.show("overview");
  }

  /** The room that is shown; empty: none. */
  get room(): string {
    return this.getAttribute("room") ?? "";
  }

  connectedCallback(): void {
    // There is nothing to show before the first answer.
    this.classList.add("locked");
    this.polling = setInterval(() => void this.poll(), POLL_MS);
    this.enter();
    void this.poll();
  }

  disconnectedCallback(): void {
    clearInterval(this.polling);
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || !this.isConnected) return;
    if (name === "room") {
      this.dispatchEvent(new CustomEvent("room", { detail: this.room }));
      this.enter();
    }
    void this.poll();
  }

  private get access(): Access {
    return accessOf(this);
  }

  private enter(): void {
    if (this.room !== "") this.roomView.enter(this.room);
    this.show(this.room === "" ? this.view : "rooms");
  }

  private show(view: View): void {
    this.view = view;
    for (const tab of this.tabs) tab.ariaPressed = String(tab.dataset.view === view);
    this.overview.hidden = view !== "overview";
    this.roomList.hidden = view !== "rooms" || this.room !== "";
    this.roomView.element.hidden = view !== "rooms" || this.room === "";
    this.bans.element.hidden = view !== "bans";
  }

  /** Shows the view that a person has chosen, and leaves the view of a room. */
  private open(view: View): void {
    this.view = view;
    if (this.room !== "") this.setAttribute("room", "");
    else this.show(view);
    void this.poll();
  }

  private async poll(): Promise<void> {
    try {
      const [status, isReady, { rooms, unanswered }] = await Promise.all([
        this.requests.status(),
        this.requests.isReady(),
        this.requests.rooms(),
      ]);
      this.classList.remove("locked");
      const kept = this.figures.isNew(status) ? await this.requests.history() : undefined;
      const now = Date.now();
      if (kept) this.figures.restore(now, status, kept);
      this.figures.take(now, status);
      this.rooms = rooms;
      for (const { graph, chart } of this.charts) {
        chart.element.hidden = graph.applies?.(status) === false;
        chart.show(this.figures, now);
      }
      const state = isReady ? "ready" : "not ready";
      const store = status.store ? ` · ${size(status.store.live_bytes)} stored, ${status.store.state}` : "";
      say(this.summary, `${state} · up ${duration(status.uptime_seconds)} · version ${status.version}${store}`);
      this.showRooms();
      showMissing(this.missing, unanswered);
      // Only stored rooms can be exported to a file and imported from one.
      this.files.hidden = status.store === null;
      if (this.view === "bans") await this.bans.poll();
      if (this.room !== "") await this.roomView.poll(rooms.find(({ name }) => name === this.room));
      if (now >= this.saidUntil) this.explain("");
    } catch (error) {
      this.trouble(error);
    }
  }

  private showRooms(): void {
    const wanted = this.search.value.trim().toLowerCase();
    const found = this.rooms.filter(({ name }) => name.toLowerCase().includes(wanted));
    const none = wanted === "" ? "This server has no rooms yet." : "No room has this in its name.";
    this.table.show(found.slice(0, MOST_ROOMS), none);
    say(this.found, found.length > MOST_ROOMS ? `The first ${MOST_ROOMS} of ${found.length} rooms.` : "");
  }

  private columns() {
    return [
      { title: "Room", cell: ({ name }: RoomLine) => button("link", name, () => this.setAttribute("room", name)) },
      { title: "State", cell: ({ is_open }: RoomLine) => (is_open ? "open" : "closed") },
      { title: "Participants", isNumber: true, cell: ({ participants }: RoomLine) => String(participants) },
      {
        title: "Stored",
        isNumber: true,
        cell: ({ stored_bytes }: RoomLine) => (stored_bytes === null ? "–" : size(stored_bytes)),
      },
    ];
  }

  private fileTools(): HTMLElement {
    const save = button("quiet", "Export all", () => void this.export());
    const chosen = h("input", "hidden");
    chosen.type = "file";
    chosen.ariaLabel = "File with rooms";
    chosen.dataset.testid = "import";
    chosen.addEventListener("change", () => {
      const [file] = chosen.files ?? [];
      if (file) void this.import(file);
      chosen.value = "";
    });
    const load = button("quiet", "Import…", () => chosen.click());
    return h("span", "row-actions", save, load, chosen);
  }

  private async export(): Promise<void> {
    const file = await this.attempt(this.requests.exported());
    if (file) download(file, "rooms.groupwire");
  }

  private async import(file: File): Promise<void> {
    try {
      this.say(imported(await this.requests.import(file, false)));
    } catch (error) {
      if (!(error instanceof Refused && error.status === 409)) return this.failed(error);
      const text =
        "This server has rooms of the same names. What they hold now is lost; their participants come back to what the file holds.";
      const question = { title: "Replace rooms that exist?", text, action: "Replace", name: "replace" };
      if (!(await ask(this.root, question))) return;
      const rooms = await this.attempt(this.requests.import(file, true));
      if (rooms) this.say(imported(rooms));
    }
  }

  private async drain(): Promise<void> {
    const title = "Drain and stop this server?";
    const text =
      "It is not ready from now on, so that balancers send it nobody, and stops after the time that --drain-wait says. Clients are told to come back.";
    if (!(await ask(this.root, { title, text, action: "Drain", name: "drain" }))) return;
    await this.attempt(this.requests.drain(), "The server is draining.");
  }

  /** Awaits an action, and shows its outcome. */
  private async attempt<T>(asked: Promise<T>, done?: string): Promise<T | undefined> {
    try {
      const outcome = await asked;
      if (done !== undefined) this.say(done);
      return outcome;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  private say(done: string): void {
    this.explain(done);
    this.saidUntil = Date.now() + 6000;
    void this.poll();
  }

  private failed(error: unknown): void {
    this.trouble(error);
    this.saidUntil = Date.now() + 10_000;
  }

  private trouble(error: unknown): void {
    this.token.hidden = !(error instanceof Refused && error.status === 401);
    if (!this.token.hidden) this.classList.add("locked");
    const why = error instanceof Refused ? error.message : "The server cannot be reached. Trying again.";
    this.status.hidden = false;
    say(this.status, this.token.hidden ? why : TOKEN_WANTED);
  }

  private explain(text: string): void {
    say(this.status, text);
    this.status.hidden = text === "";
    this.token.hidden = true;
  }

  /** The address of the inspector's page for a room, with the token behind `#`. */
  private inspectorOf(room: string): string {
    return pageAddress(`${this.access.server}inspector/?room=${encodeURIComponent(room)}`, this.access);
  }
}

function imported(rooms: readonly string[]): string {
  return rooms.length === 1 ? `The room “${rooms[0]}” is imported.` : `${rooms.length} rooms are imported.`;
}
