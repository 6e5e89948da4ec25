// Writes the API reference to docs/api/ from the declarations that the compiler emits; with --check it compares instead.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import { ERROR_CODES } from "../src/protocol/error-code.ts";
import { command, ROOT } from "./command.ts";

const TARGET = join(ROOT, "docs/api");
const NOTE = "<!-- Written by scripts/api.ts from the source; do not edit. -->\n\n";

/** A public name: what the source says about it, and its declaration. */
interface Entry {
  readonly name: string;
  readonly about: string;
  readonly code: string;
}

interface Declared {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly source?: { readonly value: string } | null;
  readonly specifiers?: readonly {
    readonly local: { readonly name: string };
    readonly exported: { readonly name: string };
  }[];
  readonly declaration?: {
    readonly id?: { readonly name: string };
    readonly declarations?: readonly { readonly id: { readonly name: string } }[];
  } | null;
}

const parsed = new Map<string, Parsed>();

process.exitCode = main(process.argv.includes("--check"));

function main(checkOnly: boolean): number {
  const pages = makePages();
  if (!checkOnly) {
    rmSync(TARGET, { recursive: true, force: true });
    mkdirSync(TARGET, { recursive: true });
    for (const [name, text] of pages) writeFileSync(join(TARGET, name), text);
    return 0;
  }
  const stale = [...pages].filter(([name, text]) => readPage(name) !== text).map(([name]) => name);
  const extra = listPages().filter((name) => !pages.has(name));
  for (const name of [...stale, ...extra])
    process.stderr.write(`docs/api/${name} is stale: run \`npm run api\`.\n`);
  return stale.length + extra.length === 0 ? 0 : 1;
}

function makePages(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-api-"));
  try {
    // Declarations come from each file alone (isolatedDeclarations); `lint` and the build check the types.
    const options = [
      "--noCheck",
      "--emitDeclarationOnly",
      "--sourceMap",
      "false",
      "--inlineSources",
      "false",
    ];
    const args = ["-p", "tsconfig.build.json", ...options, "--outDir", folder];
    const { status, stdout } = command("tsc", args);
    if (status !== 0) throw new Error(`The declarations do not compile:\n${stdout}`);
    return describe(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function describe(folder: string): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: { readonly [subpath: string]: string | { readonly types: string } };
  };
  const pages = new Map<string, string>();
  const known = new Map<string, string>();
  const index: string[] = [];
  for (const [subpath, target] of Object.entries(exports)) {
    if (typeof target === "string") continue;
    const module = subpath === "." ? "countersign" : `countersign/${subpath.slice(2)}`;
    const page = `${module.replaceAll("/", "-")}.md`;
    const entries = readEntries(join(folder, target.types.replace(/^\.\/dist\//, "")));
    const sections = entries.map((entry) => toSection(entry, page, known));
    pages.set(page, `${NOTE}# ${module}\n\n${sections.join("\n")}`);
    index.push(`- [${module}](${page}): ${entries.length} names\n`);
  }
  pages.set("errors.md", describeErrors());
  const listed = `${index.join("")}- [Error codes](errors.md)\n`;
  pages.set("README.md", `${NOTE}# API reference\n\nOne page for each module of the package.\n\n${listed}`);
  return pages;
}

/** A name that another page has already, with the same declaration, is only linked. */
function toSection({ name, about, code }: Entry, page: string, known: Map<string, string>): string {
  const first = known.get(`${name}\n${code}`);
  if (first !== undefined) return `## ${name}\n\nAs in [${first}](${first}#${name.toLowerCase()}).\n`;
  known.set(`${name}\n${code}`, page);
  return `## ${name}\n\n${about === "" ? "" : `${about}\n\n`}\`\`\`ts\n${code}\n\`\`\`\n`;
}

function describeErrors(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |\n`);
  const intro = "Every refusal and every thrown `CountersignError` has one of these codes.";
  return `${NOTE}# Error codes\n\n${intro}\n\n| code | means |\n| --- | --- |\n${rows.join("")}`;
}

/** The names that a declaration file exports, by name. */
function readEntries(path: string): readonly Entry[] {
  const names = new Set(
    parse(path).statements.flatMap((one) => [...reexportsOf(one).keys(), ...namesOf(one)]),
  );
  return [...names].toSorted().map((name) => findEntry(path, name));
}

/** Follows a name to where it is declared. */
function findEntry(path: string, name: string): Entry {
  const { text, statements, comments } = parse(path);
  const declared = statements.filter((statement) => namesOf(statement).includes(name));
  const [first] = declared;
  if (first !== undefined) {
    // Overloads are several declarations of one name.
    const codes = declared.map(({ start, end }) =>
      text.slice(start, end).replace(/^export (declare )?| *#private;\n/g, ""),
    );
    return { name, about: commentBefore(text, comments, first.start), code: codes.join("\n") };
  }
  const from = statements.find((statement) => reexportsOf(statement).has(name));
  if (from?.source === null || from?.source === undefined)
    throw new Error(`${path} does not export ${name}.`);
  const source = join(dirname(path), from.source.value).replace(/\.[jt]s$/, ".d.ts");
  return { ...findEntry(source, reexportsOf(from).get(name) ?? name), name };
}

/** What a statement exports from elsewhere, and how it is called there. */
function reexportsOf({ type, source, specifiers = [] }: Declared): ReadonlyMap<string, string> {
  if (type !== "ExportNamedDeclaration" || source === null || source === undefined) return new Map();
  return new Map(specifiers.map(({ local, exported }) => [exported.name, local.name]));
}

function namesOf({ type, declaration }: Declared): readonly string[] {
  if (type !== "ExportNamedDeclaration" || declaration === null || declaration === undefined) return [];
  if (declaration.declarations !== undefined) return declaration.declarations.map(({ id }) => id.name);
  return declaration.id === undefined ? [] : [declaration.id.name];
}

interface Parsed {
  readonly text: string;
  readonly statements: readonly Declared[];
  readonly comments: readonly { readonly start: number; readonly end: number; readonly value: string }[];
}

function parse(path: string): Parsed {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, "utf8");
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new SyntaxError(`${path}: ${errors[0].message}`);
  const file = { text, statements: program.body as unknown as readonly Declared[], comments };
  parsed.set(path, file);
  return file;
}

/** The text of the doc comment right before a declaration, as Markdown. */
function commentBefore(text: string, comments: Parsed["comments"], start: number): string {
  const comment = comments.findLast(({ end }) => end <= start);
  if (comment === undefined || !comment.value.startsWith("*")) return "";
  if (text.slice(comment.end, start).trim() !== "") return "";
  return comment.value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd())
    .join("\n")
    .trim()
    .replaceAll(/\{@link ([^}]+)\}/g, "`$1`");
}

function listPages(): readonly string[] {
  try {
    return readdirSync(TARGET);
  } catch {
    return [];
  }
}

function readPage(name: string): string | undefined {
  try {
    return readFileSync(join(TARGET, name), "utf8");
  } catch {
    return undefined;
  }
}
