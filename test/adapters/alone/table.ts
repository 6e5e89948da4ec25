import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command.ts";
import type { Trial } from "./measure.ts";

/** How often the tool ran. */
export type Runs = { readonly [trial in Trial]: number };

/** A framework in the table, with its own approval and with our adapter. */
export interface Row {
  readonly name: string;
  readonly alone: Runs;
  readonly gated: Runs;
}

/** A part of a page that the run writes. */
export type Section = keyof typeof PAGES;

const ADAPTERS = join(ROOT, "docs", "adapters.md");
const GUIDE = join(ROOT, "docs", "guides", "adapters.md");
const PAGES = { table: ADAPTERS, contract: ADAPTERS, adapters: GUIDE };
const HEAD = ["adapter", "", "sent twice", "three processes at once", "`kill -9` inside the tool", "forged"];

/** What each row must say: as the contract suite asserts. */
export const GATED: Runs = { twice: 1, processes: 1, killed: 1, forged: 0 };

export function readSection(section: Section): string {
  return marked(section).exec(readFileSync(PAGES[section], "utf8"))?.groups?.["text"] ?? "";
}

export function writeSection(section: Section, text: string): void {
  const page = PAGES[section];
  const before = readFileSync(page, "utf8");
  writeFileSync(page, before.replace(marked(section), `<!-- ${section} -->\n${text}<!-- /${section} -->`));
}

function marked(section: Section): RegExp {
  return new RegExp(`<!-- ${section} -->\\n(?<text>[\\s\\S]*?)<!-- /${section} -->`);
}

export function tableOf(rows: readonly Row[]): string {
  const rule = HEAD.map((_head, place) => (place < 2 ? "---" : "---:"));
  return [lineOf(HEAD), lineOf(rule), ...rows.map(linesOf)].join("");
}

/** The two lines of a framework. */
export function linesOf({ name, alone, gated }: Row): string {
  const first = lineOf([`\`countersign/${name}\``, "alone", ...cellsOf(alone)]);
  return `${first}${lineOf(["", "**with Countersign**", ...cellsOf(gated)])}`;
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

/** The rows of a table, as they are on the page. */
export function rowsIn(table: string): readonly Row[] {
  const cells = table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  return cells.flatMap(([, name = "", , ...alone], place) => {
    const gated = cells[place + 1]?.slice(3) ?? [];
    if (!name.startsWith("`")) return [];
    return [{ name: name.replace(/^`countersign\/|`$/g, ""), alone: runsIn(alone), gated: runsIn(gated) }];
  });
}

function runsIn([twice, processes, killed, forged]: readonly string[]): Runs {
  return {
    twice: Number(twice),
    processes: Number(processes),
    killed: Number(killed),
    forged: Number(forged),
  };
}

/** The same on one line each, for the guide. */
export function summaryOf(rows: readonly Row[]): string {
  const head = ["adapter", "sent twice, alone", "with Countersign", "`kill -9`, alone", "with Countersign"];
  const lines = rows.map(({ name, alone, gated }) =>
    lineOf([
      `\`countersign/${name}\``,
      ...[alone.twice, gated.twice, alone.killed, gated.killed].map(String),
    ]),
  );
  return [lineOf(head), lineOf(head.map((_head, place) => (place === 0 ? "---" : "---:"))), ...lines].join(
    "",
  );
}

function cellsOf({ twice, processes, killed, forged }: Runs): readonly string[] {
  return [twice, processes, killed, forged].map(String);
}
