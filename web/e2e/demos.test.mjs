// The demonstrations and the playground in a real browser: what they show, what they load, and how
// they look.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, test } from "node:test";
import { DemoPage, serve } from "./demos.mjs";
import { faultsOf } from "./looks.mjs";
import { until } from "./wait.mjs";
import { closeAll, launch } from "./window.mjs";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
const options = { timeout: 300_000 };

/** What a page may load before the first demonstration moves. */
const MOST_BYTES = 390_000;

let browser, server;
const pages = [];

before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
afterEach(() => closeAll(pages));
after(async () => {
  await browser?.close();
  server?.close();
});

async function open(html, settings) {
  const opened = await DemoPage.open(browser, server.address, html, settings);
  pages.push(opened);
  return opened;
}

const demo = (kind, settings) => open(`<gw-demo kind="${kind}"></gw-demo>`, settings);
const connected = async (here, ...names) => {
  for (const name of names) await here.person(name).getByText("connected", { exact: true }).waitFor();
};
/** Where the pointers of the others are in a window. */
const others = (here, name) =>
  here
    .person(name)
    .locator(".cursor:not(.own):not([hidden])")
    .evaluateAll((all) => all.map(({ style }) => `${style.left} ${style.top}`));
/** What the page says of these channels' contracts, all at one moment. */
const contracts = (here, ...channels) =>
  here.page.locator(".contracts").evaluate(
    (all, channels) =>
      channels.map((channel) => {
        const one = all.querySelector(`[data-channel="${channel}"]`);
        return { state: one?.getAttribute("data-state"), text: one?.textContent ?? "" };
      }),
    channels,
  );

test("pointers move before the page has loaded 390 KB", options, async (t) => {
  // On a busy machine the second part could come before this test looks.
  let goOn;
  const looked = new Promise((resolve) => (goOn = resolve));
  const hold = (page) => page.route(/second/, (route) => looked.then(() => route.continue()));
  const here = await demo("pointers", { before: hold });
  await until("a pointer in the other window", async () => (await others(here, "Ada")).length === 1);
  const [first] = await others(here, "Ada");
  await until("it moves", async () => (await others(here, "Ada"))[0] !== first);
  const { received, requested } = here;
  t.diagnostic(`${received} bytes in ${requested.length} requests`);
  assert.ok(received < MOST_BYTES, `${received} bytes`);
  assert.ok(!requested.some((path) => path.includes("playground")));

  goOn();
  await until("the second part", () => here.requested.some((path) => path.includes("second")));
  await until("datagrams", () => here.page.locator(".last", { hasText: "a datagram" }).count());
});

test("lost packets: a contract is still kept, and a stricter one is missed", options, async () => {
  const here = await demo("pointers");
  await connected(here, "Ada", "Bo");
  const json = here.page.locator(".json");
  await until("bytes", async () => /^\d+\.\d bytes$/.test(await json.textContent()));
  await until("smaller ones", async () => /times smaller/.test(await here.page.locator(".wire").textContent()));
  const last = here.page.locator(".last");
  const before = await last.textContent();
  await until("other packets", async () => (await last.textContent()) !== before);
  await until("both are kept", async () =>
    (await contracts(here, "pointer", "shot")).every(({ state }) => state === "met"),
  );

  await here.page.getByLabel("Lost packets").fill("30");
  assert.equal(await here.page.locator("output", { hasText: "30 %" }).count(), 1);
  await until("lost packets", () => here.page.locator(".strip .lost").count());
  await until("one is kept, the other one is not", async () => {
    const [pointer, shot] = await contracts(here, "pointer", "shot");
    return (
      pointer.state === "met" &&
      /kept.*In the last ten seconds: \d+ of \d+ lost or late/.test(pointer.text) &&
      ["missed", "cannot-meet"].includes(shot.state) &&
      /(Missed|Cannot be met): .*lost or late where 0\.2 % may be/.test(shot.text)
    );
  });
  await here.page.screenshot({ path: `${SCREENSHOTS}demos-pointers-loss.png` });
});

test("the reader takes a pointer over, and chooses the number of windows", options, async () => {
  const here = await demo("pointers");
  await connected(here, "Ada", "Bo");
  await here.page.getByRole("button", { name: "Stop the people" }).click();
  const plane = here.person("Bo").getByRole("application");
  const { x, y, width, height } = await plane.boundingBox();
  await here.page.mouse.move(x + width * 0.25, y + height * 0.5);
  await here.page.mouse.move(x + width * 0.75, y + height * 0.5, { steps: 8 });
  await until("it is there", async () => (await others(here, "Ada"))[0] === "75% 50%");
  await here.person("Ada").getByRole("application").press("ArrowDown");
  await here.person("Ada").getByText("You move Ada's pointer.").waitFor();

  await here.page.getByRole("radio", { name: "20" }).check();
  await until("twenty windows", async () => (await here.page.getByRole("article").count()) === 20);
  await here.page.getByRole("button", { name: "Let the people move" }).click();
  await until("nineteen pointers", async () => (await others(here, "Tess")).length === 19);
  await here.page.screenshot({ path: `${SCREENSHOTS}demos-pointers-20.png` });
});

test("nobody moves for a reader who wants little movement", options, async () => {
  const here = await demo("pointers", { reducedMotion: "reduce" });
  await connected(here, "Ada", "Bo");
  assert.deepEqual(await others(here, "Ada"), []);
  await here.page.getByRole("button", { name: "Let the people move" }).click();
  await until("a pointer", async () => (await others(here, "Ada")).length === 1);
});

test("a list: both windows change it, and undo takes back only one's own", options, async () => {
  const here = await demo("list");
  const items = (name) => here.person(name).getByRole("listitem").allTextContents();
  const both = (...wanted) =>
    until(`both have ${wanted}`, async () =>
      [await items("Ada"), await items("Bo")].every(
        (found) => found.join() === wanted.map((text) => `${text}×`).join(),
      ),
    );
  await both("Buy tea", "Bake a cake");
  const add = async (name, text) => {
    await here.page.getByLabel(`New task of ${name}`).fill(text);
    await here.person(name).getByRole("button", { name: "Add" }).click();
  };
  await add("Bo", "From Bo");
  await both("Buy tea", "Bake a cake", "From Bo");
  await add("Ada", "From Ada");
  await both("Buy tea", "Bake a cake", "From Bo", "From Ada");
  await here.person("Bo").getByRole("button", { name: "Undo" }).click();
  await both("Buy tea", "Bake a cake", "From Ada");
  assert.ok(await here.person("Bo").getByRole("button", { name: "Undo" }).isDisabled());
  await here.person("Bo").getByRole("button", { name: "Redo" }).click();
  await both("Buy tea", "Bake a cake", "From Bo", "From Ada");
  await here.person("Ada").getByRole("button", { name: "Remove Buy tea" }).click();
  await both("Bake a cake", "From Bo", "From Ada");
  assert.equal((await contracts(here, "shared"))[0].state, "met");
});

test("locks: one edits, then the other one", options, async () => {
  const here = await demo("locks");
  await connected(here, "Ada", "Bo");
  const button = (name, text) => here.person(name).getByRole("button", { name: text });
  await button("Ada", "Edit title").click();
  await here.person("Bo").getByText("Ada edits this.").waitFor();
  assert.ok(await button("Bo", "Edit title").isDisabled());
  await here.person("Ada").getByLabel("Title").fill("Plan for Sunday");
  await until(
    "Bo sees it",
    async () => (await here.person("Bo").getByLabel("Title").inputValue()) === "Plan for Sunday",
  );
  await button("Ada", "Finish editing title").click();
  await button("Bo", "Edit title").click();
  await here.person("Ada").getByText("Bo edits this.").waitFor();
  assert.ok(await here.person("Bo").getByLabel("Title").isEditable());
});

test("text: what two people type at once is there for both", options, async () => {
  const here = await demo("text");
  const area = (name) => here.person(name).getByRole("textbox");
  const value = (name) => area(name).inputValue();
  await until(
    "the beginning",
    async () => /Type here/.test(await value("Bo")) && (await value("Ada")) === (await value("Bo")),
  );
  await area("Ada").press("Control+Home");
  await area("Bo").press("Control+End");
  // By turns, a few letters each, so that what the other one types comes in between.
  for (const [ada, bo] of [
    ["From ", "From"],
    ["Ada.", " "],
    [" ", "Bo."],
  ]) {
    await area("Ada").pressSequentially(ada);
    await area("Bo").pressSequentially(bo);
  }
  await until("both are the same", async () => {
    const [ada, bo] = [await value("Ada"), await value("Bo")];
    return ada === bo && ada.startsWith("From Ada. Type here") && ada.endsWith("From Bo.");
  });
  await here.person("Ada").getByText("Bo is in line 3.").waitFor();
});

test("a restart of the server loses nothing", options, async () => {
  const here = await demo("restart");
  await connected(here, "Ada", "Bo");
  const vote = (name) => here.person(name).getByRole("button", { name: "Vote" }).click();
  const votes = (name) => here.page.getByLabel(`Votes in ${name}'s window`).textContent();
  await vote("Ada");
  await until("Bo sees it", async () => (await votes("Bo")) === "1");
  await here.page.getByRole("button", { name: "Kill the server" }).click();
  await here.person("Ada").getByText("reconnecting").waitFor();
  await vote("Ada");
  await vote("Bo");
  await vote("Bo");
  assert.deepEqual([await votes("Ada"), await votes("Bo")], ["2", "3"]);
  await here.person("Bo").getByText("2 of your votes wait for it.").waitFor();
  await here.page.getByRole("button", { name: "Start the server again" }).click();
  await until("all votes count", async () => (await votes("Ada")) === "4" && (await votes("Bo")) === "4");
  const who = (await here.person("Ada").getByRole("listitem").allTextContents()).sort();
  assert.deepEqual(who, ["Ada 1", "Ada 2", "Bo 1", "Bo 2"]);
});

test("the playground runs what the reader writes, and names faults", options, async () => {
  const here = await open("<gw-playground></gw-playground>");
  const field = (name) => here.person(name).getByLabel("Message");
  await field("Ada").fill("hello");
  await here.person("Ada").getByRole("button", { name: "Send" }).click();
  await here.person("Bo").getByText("hello").waitFor();

  const write = async (code) => {
    await here.page.getByRole("textbox", { name: "Code that runs in both windows" }).click();
    await here.page.keyboard.press("Control+a");
    await here.page.keyboard.insertText(code);
    await here.page.keyboard.press("Control+Enter");
  };
  await write(`import { connect, transaction } from "groupwire";
const votes = connect("https://example.org", "votes").channel("votes", transaction());
let count = 0;
votes.on("message", () => (root.innerHTML = "<p>votes: " + (count += 1) + "</p>"));
votes.send("yes");`);
  for (const name of ["Ada", "Bo"]) await here.person(name).getByText("votes: 2").waitFor();

  const problem = here.page.getByRole("alert");
  const told = async (wanted) => until(`it says ${wanted}`, async () => wanted.test(await problem.textContent()));
  await write("const a = 1;\nconst = 2;");
  await told(/^Line 2: this is not JavaScript, from `= 2;` on\.$/);
  await write("const a = 1;\n\nmissing();");
  await told(/^In Ada's window, line 3: missing is not defined\.$/);
  await write(`import { connect, transaction } from "groupwire";
const room = connect("https://example.org", "late");
room.on("status", () => {
  throw new Error("from a listener");
});`);
  await told(/^In Ada's window, line 4: from a listener\.$/);
  // The page reports it, too, as every uncaught error.
  assert.ok(here.errors.splice(0).every((error) => error.includes("from a listener")));

  await here.page.getByLabel("Example").selectOption("shared-data");
  await here.person("Ada").getByLabel("New task").fill("tea");
  await here.person("Ada").getByRole("button", { name: "Add" }).click();
  await here.person("Bo").getByText("tea").waitFor();
  assert.equal(await problem.count(), 0);
});

for (const kind of ["pointers", "list", "locks", "text", "restart", "playground"]) {
  test(`${kind}: light, dark and on a phone`, options, async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const settings = { reducedMotion: "reduce" };
    const here = await (kind === "playground"
      ? open("<gw-playground></gw-playground>", settings)
      : demo(kind, settings));
    if (kind === "playground") await here.person("Bo").getByRole("button", { name: "Send" }).waitFor();
    else await connected(here, "Ada", "Bo");
    const shot = (name) => here.page.screenshot({ path: `${SCREENSHOTS}demos-${kind}-${name}.png`, fullPage: true });
    assert.deepEqual(await faultsOf(here.page, shot), []);
  });
}

test("the page with everything loads each demonstration when it comes into view", options, async () => {
  const here = await DemoPage.open(browser, server.address, "");
  pages.push(here);
  await here.page.goto(server.address);
  await connected(here, "Ada");
  assert.ok(!here.requested.some((path) => path.includes("playground")));
  await here.page.locator("gw-playground").scrollIntoViewIfNeeded();
  await here.page.getByRole("button", { name: "Run" }).waitFor();
});

test("a dark page of VitePress makes a demonstration dark", options, async () => {
  const here = await demo("locks", { colorScheme: "light" });
  await connected(here, "Ada", "Bo");
  const color = () => here.page.locator(".demo").evaluate((element) => getComputedStyle(element).backgroundColor);
  const light = await color();
  await here.page.evaluate(() => {
    document.querySelector("style").remove();
    document.documentElement.classList.add("dark");
  });
  await until("another colour", async () => (await color()) !== light);
  await here.page.evaluate(() => document.documentElement.classList.remove("dark"));
  await until("light again", async () => (await color()) === light);
});
