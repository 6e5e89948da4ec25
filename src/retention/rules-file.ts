import { createHash } from "node:crypto";
import type { RetentionRules } from "../engine/index.ts";
import { flawOfGlob, globOf } from "../protocol/index.ts";
import { isSeq, type Node, problemsError, YamlSource } from "../yaml/index.ts";

/** What a retention file says. */
export interface RetentionSettings {
  readonly rules: RetentionRules;
  /** How often a server runs it. */
  readonly everyMs: number;
}

/** One rule of the file. */
interface Rule {
  readonly app: (name: string) => boolean;
  /** Absent: every session of the app, also one without calls. */
  readonly tool?: (name: string) => boolean;
  readonly contentMs: number;
  /** How long the journal is kept. Default: forever. */
  readonly journalMs: number;
}

const DAY_MS = 86_400_000;
/** A year is never shorter than this, whichever it is. */
const YEAR_DAYS = 366;
const DEFAULT_EVERY_MS = 3_600_000;
const FOR_EVER = "forever";

/** Reads a retention file. Throws `invalid-option` with every problem and its line and column. */
export function parseRetention(file: string, text: string): RetentionSettings {
  const source = new YamlSource(file, text, { refuseNulls: true });
  const [document, second] = source.documents;
  if (second !== undefined) source.problem(second, "a retention file is one document");
  const members = document && source.map(document, "the file", ["retention", "every"]);
  const list = members?.need("retention");
  const rules = list === undefined ? [] : source.list(list, "retention", (node) => readRule(source, node));
  if (list !== undefined && isSeq(list) && list.items.length === 0)
    source.problem(list, "retention is empty, so nothing would ever be erased");
  const everyMs = members?.duration("every") ?? DEFAULT_EVERY_MS;
  if (source.problems.length > 0) throw problemsError(source.problems);
  return { rules: toRules(rules, text), everyMs };
}

function readRule(source: YamlSource, node: Node): Rule | undefined {
  const members = source.map(node, "a rule", ["app", "tool", "content", "journal"]);
  if (members === undefined) return undefined;
  const app = readGlobs(source, members.get("app"), "app");
  const tool = readGlobs(source, members.get("tool"), "tool");
  const content = members.need("content");
  const contentMs = content && readAge(source, content, "content");
  const journal = members.get("journal");
  const journalMs = journal === undefined ? Number.POSITIVE_INFINITY : readAge(source, journal, "journal");
  if (contentMs === undefined || journalMs === undefined) return undefined;
  if (journal !== undefined && journalMs < contentMs)
    source.problem(journal, "journal is shorter than content, and content is never kept without its journal");
  return { app: app ?? (() => true), ...(tool === undefined ? {} : { tool }), contentMs, journalMs };
}

function readGlobs(
  source: YamlSource,
  node: Node | undefined,
  what: string,
): ((name: string) => boolean) | undefined {
  if (node === undefined) return undefined;
  const read = (entry: Node): string | undefined => {
    const text = source.text(entry, what);
    const flaw = text === undefined ? undefined : flawOfGlob(text);
    return flaw === undefined ? text : source.problem(entry, `${what} ${flaw}`);
  };
  if (isSeq(node) && node.items.length === 0)
    source.problem(node, `${what} is empty, so nothing would match`);
  const patterns = isSeq(node) ? source.list(node, what, read) : [read(node) ?? ""];
  const globs = patterns.map(globOf);
  return (name) => globs.some((matches) => matches(name));
}

/** As other times of files, and `7y` and `forever` too. */
function readAge(source: YamlSource, node: Node, what: string): number | undefined {
  const text = source.text(node, what);
  if (text === FOR_EVER) return Number.POSITIVE_INFINITY;
  const [, years] = /^([1-9]\d{0,2})y$/.exec(text ?? "") ?? [];
  if (years !== undefined) return Number(years) * YEAR_DAYS * DAY_MS;
  return text === undefined ? undefined : source.duration(node, what);
}

function toRules(rules: readonly Rule[], text: string): RetentionRules {
  const ages = rules.map(({ contentMs }) => contentMs).filter(Number.isFinite);
  const journals = rules.map(({ journalMs }) => journalMs).filter(Number.isFinite);
  return {
    version: createHash("sha256").update(text).digest("base64url"),
    shortestContentMs: ages.length === 0 ? undefined : Math.min(...ages),
    contentMs: (app, tools) => longest(rules, app, { tools, ageOf: ({ contentMs }) => contentMs }),
    ...(journals.length === 0
      ? {}
      : {
          journal: {
            shortestMs: Math.min(...journals),
            keepMs: (app, tools) => longest(rules, app, { tools, ageOf: ({ journalMs }) => journalMs }),
          },
        }),
  };
}

/** The longest time of all rules about these tools. Undefined: something is to be kept. */
function longest(
  rules: readonly Rule[],
  app: string,
  { tools, ageOf }: { readonly tools: ReadonlySet<string>; readonly ageOf: (rule: Rule) => number },
): number | undefined {
  const ofApp = rules.filter((rule) => rule.app(app));
  const subjects = tools.size === 0 ? [undefined] : tools;
  let all = 0;
  for (const tool of subjects) {
    const ages = ofApp.filter((rule) => isAbout(rule, tool)).map(ageOf);
    all = Math.max(all, ages.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ages));
  }
  return Number.isFinite(all) ? all : undefined;
}

function isAbout(rule: Rule, tool: string | undefined): boolean {
  return rule.tool === undefined || (tool !== undefined && rule.tool(tool));
}
