// Finds comments that a stranger will hardly understand, in the Rust, TypeScript and mjs files of
// this project:
//
//   dialect   words of our own where the field has words: DIALECT below
//   riddle    a comment that begins with a pronoun, What, Who, Of or the like, and whose first
//             sentence names nothing of the code (`name`, CamelCase, snake_case, JSON) or of the
//             field (NOUNS below)
//   long      a line of a comment above 100 columns
//
// Only comments on lines of their own are read. LIMITS says how many of each kind there may be.
// A limit may only fall: the check also fails if fewer are found, until the limit is lowered.
//
// Run it from anywhere: node scripts/check-comments.mjs [--wrap] [PATH...]
// With paths, relative to the project, it only lists the findings below these. --wrap wraps the
// paragraphs of comments there that have long lines.

import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));

const LIMITS = { dialect: 0, riddle: 0, long: 0 };

const WIDTH = 100;

const DIALECT = [
  /\boctets?\b(?!-stream)/i,
  /\bso many\b(?! \w+ that)/i,
  /\bwhat (is|there is) (beneath|below)\b/i,
  /\bwhat (became|becomes|came|comes|has become) of\b/i,
  /(^|[,;:.] )of those\b/i,
  /\bwho is (up|there|first|on|it)\b/i,
  /\bnone of (its|his|their|our) business\b/i,
  /\b(how|where|what) it stands\b/i,
];

const START = new RegExp(
  "^(It|He|She|They|That|This one|These|Those|What|Who|Whose|Whom|Of|Whoever|Somebody|Nobody|One" +
    "|Others?|Another|Its|Their|Such|So|Whatever|Everything|All|Both|None|Each)\\b",
);

const CODE = /`|[a-z][A-Z]|[a-z]_[a-z]|\b[A-Z]{2,}/;

const NOUNS = new Set(
  `
  acknowledgement address alias allocation animation api application archive argument array
  assertion attack attribute awareness bandwidth baseline batch benchmark binary bit bitmap block
  body bottleneck boundary browser bucket buffer button byte cache callback camera candidate canvas
  capability capacity certificate channel character checksum chunk cipher client clock clone code
  codec coder collision colour column command commit compression compressor condition confidence
  configuration congestion connection constant constructor container contender content context
  contract core corpus counter cpu crash crate cubic cursor database datagram deadline decimal
  decoder decompressor default deflate delay deletion dependency dictionary difference digit
  directory disk distance distribution document draft drag drawing duration edit element encoder
  encoding encryption endpoint entropy entry environment epoch error estimate event example
  exception exponent export expression factor failure feature field figure file filter flag flight
  float folder font format fraction frame framework frequency function fuzzer gap generator gesture
  goodput grammar grid group handler handshake hash header heading heap hexadecimal histogram
  history host hour html http icon id identifier identity image import index inequality input
  instance instruction integer interface interpolation interval iterator jitter journal json kernel
  key keyboard kilobyte label latency layer layout length level library limit link list listener
  literal load lock log logarithm loop loss machine mantissa map margin marker mask match maximum
  mean median member memory message method metric millisecond minimum minute mode model module mouse
  mutation name namespace nanosecond network node notification number object observer offset
  operation option order origin outcome outlier output overhead package packet page pair parameter
  parent parity parser participant password path pattern payload peer percentile period permission
  person pixel plot pointer policy polynomial pool port position prediction prefix presence priority
  probability probe procedure process processor profile program promise property protocol provider
  proxy publisher quality quantile query queue quota race random range rank rate ratio reader
  recipient record recording reducer redundancy reference region registry release repeat repetition
  reply report representation request resend response result retransmission retry return revision
  ring role room root round route router row rule run runtime sample scenario schema scheme screen
  script seed segment selection sender sentence separator sequence series server session set setting
  setup shape shutdown signature simulation simulator size slot snapshot socket source space span
  speed spline stack stage stamp standard state statistic status stone storage store stream string
  stroke struct structure stylesheet subprocess subscriber suffix sum symbol system tab table tag
  target task template test text thread threshold throughput tick time timeout timer timestamp tls
  token tool trace transaction transfer transform transformation transmission transport tree trial
  tuple type unit update upload url user value variable variance variant varint vector velocity
  version day edge hole letter shape fault view visitor weight widget width window word worker workload writer yjs`
    .trim()
    .split(/\s+/),
);

/** All that is unclear in the comments of a file: [{ kind, line, text }]. */
export function unclear(text) {
  const found = [];
  for (const comment of comments(text.split("\n"))) {
    const { line, words } = comment;
    const [first] = words
      .join(" ")
      .trim()
      .match(/^.*?[.:;](?=\s|$)|^.*$/);
    if (isRiddle(first)) found.push({ kind: "riddle", line, text: first });
    words.forEach((part, at) => {
      if (DIALECT.some((phrase) => phrase.test(part))) {
        found.push({ kind: "dialect", line: line + at, text: part.trim() });
      }
    });
    for (const at of longLines(comment)) found.push({ kind: "long", line: line + at, text: words[at].trim() });
  }
  return found.sort((a, b) => a.line - b.line);
}

function isRiddle(sentence) {
  return START.test(sentence) && !CODE.test(sentence) && !sentence.split(/[^A-Za-z]+/).some(isNoun);
}

function isNoun(word) {
  const lower = word.toLowerCase();
  const stems = [lower, lower.replace(/s$/, ""), lower.replace(/es$/, ""), lower.replace(/ies$/, "y")];
  return stems.some((stem) => NOUNS.has(stem));
}

// The indentation, the marker and the words of a line of a comment.
const COMMENT = /^(\s*)(\/\/[/!]?|\/\*\*?|\*(?!\/)) ?(.*?)\s*$/;

// The comments on lines of their own: { line, indent, marker, words }, counted from 1, with the
// words of each line.
function comments(lines) {
  const found = [];
  let open;
  lines.forEach((whole, at) => {
    const [, indent, marker, text] = whole.match(COMMENT) ?? [];
    const goesOn = open && (open.marker.startsWith("/*") ? marker === "*" : marker === open.marker);
    const begins = !goesOn && marker !== undefined && marker !== "*";
    if (begins) found.push((open = { line: at + 1, indent, marker, words: [] }));
    if (goesOn || begins) open.words.push(text.replace(/\s*\*\/$/, ""));
    const ends = open?.marker.startsWith("/*") ? whole.trimEnd().endsWith("*/") : !goesOn && !begins;
    if (ends) open = undefined;
  });
  return found;
}

/** The file with all paragraphs wrapped that have long lines. */
export function wrapped(text) {
  const lines = text.split("\n");
  for (const { line, indent, marker, words } of comments(lines).reverse()) {
    if (longLines({ indent, marker, words }).length === 0) continue;
    const isBlock = marker.startsWith("/*");
    const prefix = prefixOf(indent, marker);
    // The first line of a block may have words, and its last line may be the marker alone.
    const isEndAlone = isBlock && lines[line - 1 + words.length]?.trim() === "*/";
    const width = WIDTH - prefix.length - 1;
    const body = paragraphs(words).flatMap(({ parts, isFixed }) =>
      isFixed || parts.every((part) => part.length <= width) ? parts : fill(parts, width),
    );
    if (isBlock && words[0] === "") body.shift();
    const all = body.map((part) => `${prefix} ${part}`.trimEnd());
    if (isBlock) (all.splice(0, 0, indent + marker), all.push(`${indent} */`));
    lines.splice(line - 1, words.length + (isEndAlone ? 1 : 0), ...all);
  }
  return lines.join("\n");
}

const prefixOf = (indent, marker) => indent + (marker.startsWith("/*") ? " *" : marker);

// The numbers of the lines of a comment, from 0, that are too long and can be wrapped.
function longLines({ indent, marker, words }) {
  // A block of one line has its marker before its words and another one behind them.
  const extra = marker.startsWith("/*") && words.length === 1 ? 4 : 0;
  const width = WIDTH - prefixOf(indent, marker).length - 1 - extra;
  const long = [];
  let line = 0;
  for (const { parts, isFixed } of paragraphs(words)) {
    for (const part of parts) {
      if (part.length > width && !isFixed && /\s/.test(part.trim())) long.push(line);
      line++;
    }
  }
  return long;
}

const ITEM = /^(\s*)([-*] |\d+\. |@\w+ )/;

// The paragraphs of a comment. A list item is a paragraph; so is a tag of TSDoc. Empty lines, code,
// tables, headings and lines that are indented for another reason are fixed.
function paragraphs(words) {
  const found = [];
  let isCode = false;
  for (const part of words) {
    const last = found.at(-1);
    const isFence = part.trim().startsWith("```");
    const isIndented = /^\s{2}/.test(part) && !(last && !last.isFixed && ITEM.test(last.parts[0]));
    const isFixed = isCode || isFence || part === "" || /^[|#]/.test(part) || (isIndented && !ITEM.test(part));
    if (last && !last.isFixed && !isFixed && !ITEM.test(part)) last.parts.push(part);
    else found.push({ parts: [part], isFixed });
    if (isFence) isCode = !isCode;
  }
  return found;
}

// The words of a paragraph in lines of at most `width` characters, indented like its first line
// and, in an item, like its text.
function fill(parts, width) {
  const [, first, item] = parts[0].match(ITEM) ?? ["", parts[0].match(/^\s*/)[0], ""];
  const indent = first + " ".repeat(item.startsWith("@") ? 2 : item.length);
  const lines = [];
  for (const word of parts.join(" ").trim().split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines.push(`${lines.pop()} ${word}`);
    else lines.push((lines.length === 0 ? first : indent) + word);
  }
  return lines;
}

function files(paths) {
  const options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...paths];
  const found = execFileSync("git", options, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  const isSource = (path) => /\.(rs|ts|tsx|mjs)$/.test(path);
  const isFile = (path) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile();
  return [...new Set(found.split("\0"))].filter((path) => isSource(path) && isFile(path));
}

/** What is wrong with the numbers that were found, as lines. */
export function compare(counts, limits) {
  return Object.entries(limits).flatMap(([kind, limit]) => {
    const count = counts[kind] ?? 0;
    if (count > limit) return [`${kind}: ${count} where ${limit} are allowed`];
    return count < limit ? [`${kind}: only ${count}: lower the limit from ${limit} in scripts/check-comments.mjs`] : [];
  });
}

function main() {
  const { values, positionals } = parseArgs({ options: { wrap: { type: "boolean" } }, allowPositionals: true });
  const counts = {};
  const list = [];
  const paths = files(positionals);
  if (paths.length === 0) throw new Error("Git lists no files");
  for (const path of paths) {
    let text = readFileSync(join(root, path), "utf8");
    if (values.wrap) {
      const old = text;
      text = wrapped(old);
      if (text !== old) writeFileSync(join(root, path), text);
    }
    for (const { kind, line, text: part } of unclear(text)) {
      counts[kind] = (counts[kind] ?? 0) + 1;
      list.push(`${path}:${line}: ${kind}: ${part.slice(0, 120)}`);
    }
  }
  const wrong = positionals.length > 0 ? [] : compare(counts, LIMITS);
  if (wrong.length > 0 || positionals.length > 0) for (const place of list) console.log(place);
  const found = Object.keys(LIMITS).map((kind) => `${counts[kind] ?? 0} ${kind}`);
  console.log(`comments: ${found.join(", ")} in ${paths.length} files`);
  for (const line of wrong) console.error(`comments: ${line}`);
  if (wrong.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(`comments: ${error.message}`);
    process.exitCode = 1;
  }
}
