import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { command } from "../../scripts/command.ts";
import { COMMANDS } from "../../src/cli/commands/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = globSync(["*.md", "{bench,examples}/*.md", "docs/**/*.md"], { cwd: ROOT }).toSorted();

function read(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

/** Where the page's links lead, without those to other places on the web. */
function linksOf(page: string): readonly string[] {
  const prose = read(page).replaceAll(/```[\s\S]*?```/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(file: string): readonly string[] {
  const prose = readFileSync(file, "utf8").replaceAll(/```[\s\S]*?```/g, "");
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

test.each(PAGES)("every link of %s resolves, with its anchor", (page) => {
  for (const target of linksOf(page)) {
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
    expect(existsSync(file), `${page}: ${target}`).toBe(true);
    if (anchor !== undefined && file.endsWith(".md")) expect(anchorsOf(file), target).toContain(anchor);
  }
});

test("the snippets are what the examples say", () => {
  const { status, stdout, stderr } = command("node", ["scripts/sync-snippets.ts", "--check"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^[1-9]\d* snippets in \d+ pages\n$/);
});

test("the page of commands lists every command, and no other", () => {
  const listed = [...read("docs/guides/commands.md").matchAll(/^\| `countersign ([a-z -]+)` +\|/gm)];
  expect(listed.map(([, name = ""]) => name).toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
});

describe("README", () => {
  const text = read("README.md");

  test("is shorter than 120 lines, ARCHITECTURE than 300", () => {
    expect(text.split("\n").length).toBeLessThan(120);
    expect(read("docs/ARCHITECTURE.md").split("\n").length).toBeLessThan(300);
  });

  test("shows a test for every guarantee", () => {
    const rows = [...text.matchAll(/^\| (G\d) +\|.*\| (?<shown>[^|]*) \|$/gm)];
    expect(rows.map(([, id]) => id)).toEqual(["G1", "G2", "G3", "G4", "G5", "G6", "G7"]);
    for (const { groups } of rows) {
      const tests = [...(groups?.["shown"] ?? "").matchAll(/\]\(([^)]+)\)/g)].map(
        ([, target = ""]) => target,
      );
      expect(tests.length).toBeGreaterThan(0);
      for (const file of tests) expect(read(file), file).toMatch(/\btest(\.\w+)?\(/);
    }
  });

  test("shows what its first lines print", () => {
    const [, shown = ""] = /<!-- prints: examples\/quickstart\.ts -->\n```\n([^]*?)```/.exec(text) ?? [];
    const { status, stdout, stderr } = command("node", ["examples/quickstart.ts"]);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: shown, stderr: "" });
  });

  test("has the numbers that were measured", () => {
    const rows = [...text.matchAll(/^\| \**([\w ]+?)\** +\| \**(\d)\** +\| \**(\d)\** +\|/gm)];
    expect(rows.map(([, name]) => name)).toEqual(Object.keys(MEASURED));
    for (const [, name = "", twice, killed] of rows)
      expect({ name, twice, killed }).toEqual({ name, ...measured(MEASURED[name] ?? "") });
  });
});

/** The row of the benchmarks, or of the adapters, from which the README has a framework's numbers. */
const MEASURED: Readonly<Record<string, string>> = {
  Countersign: "ours, sqlite",
  "Google ADK": "adk, sqlite",
  "AI SDK": "aisdk, sqlite",
  LangChain: "langchain, sqlite",
  LangGraph: "langgraph, sqlite",
  Mastra: "mastra, sqlite",
  "OpenAI Agents SDK": "openai, sqlite",
  "Claude Agent SDK": "`countersign/claude-agent-sdk`",
};

function measured(row: string): { readonly twice: string | undefined; readonly killed: string | undefined } {
  const lines = [
    ...(read("docs/benchmarks.md").split("## Safety")[1]?.split("\n") ?? []),
    ...read("docs/adapters.md").split("\n"),
  ];
  const cells =
    lines
      .find((line) => line.startsWith(`| ${row} |`))
      ?.split("|")
      .map((cell) => cell.trim()) ?? [];
  return row.startsWith("`") ? { twice: cells[3], killed: cells[5] } : { twice: cells[2], killed: cells[7] };
}

test("the page of examples names every example and every folder, once, and no other", () => {
  const listed = linksOf("examples/README.md").filter((target) => !target.startsWith("../"));
  const there = readdirSync(join(ROOT, "examples")).filter((name) => name !== "README.md");
  expect(listed.toSorted()).toEqual(there.toSorted());
});

test("the index of the documentation leads to every guide and every other page", () => {
  const pages = globSync("docs/{*,guides/*,adding/*}.md", { cwd: ROOT }).map((page) =>
    page.replace("docs/", ""),
  );
  expect(pages.filter((page) => page !== "README.md" && !linksOf("docs/README.md").includes(page))).toEqual(
    [],
  );
});

test("every difference is shown by a test that is there", () => {
  const rows = read("docs/differences.md")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (there|---)/.test(line));
  expect(rows.length).toBeGreaterThan(25);
  for (const row of rows) {
    const { file = "", title = "" } =
      /\| \[[\w -]+\]\((?<file>[^)]+)\): "(?<title>[^|]+)" +\|$/.exec(row)?.groups ?? {};
    // The deviations are the replay test's own table.
    expect({ row, isTest: /(?:\.test|-deviations)\.ts$/.test(file) }).toEqual({ row, isTest: true });
    expect(read(join("docs", file)), row).toContain(title);
  }
});

test("what the pages say to import from the package is exported", () => {
  const exported = read("src/index.ts");
  const imports = PAGES.flatMap((page) => [
    ...read(page).matchAll(/^\+?import \{(?<names>[^}]+)\} from "countersign";$/gm),
  ]);
  expect(imports.length).toBeGreaterThan(2);
  const names = imports.flatMap(({ groups }) => (groups?.["names"] ?? "").split(","));
  for (const name of names) expect(exported).toMatch(new RegExp(`\\b${name.replace("type ", "").trim()}\\b`));
});
