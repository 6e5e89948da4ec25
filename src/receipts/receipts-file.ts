import { isSeq, type Members, type Node, problemsError, YamlSource } from "../yaml/index.ts";

/** Where receipts go. */
export type TargetSettings = { readonly name: string } & (
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "http"; readonly url: URL }
  | { readonly kind: "git"; readonly folder: string; readonly push?: string }
);

/** What a receipts file says. */
export interface ReceiptSettings {
  readonly targets: readonly TargetSettings[];
  /** How often a server publishes. */
  readonly everyMs: number;
}

const DEFAULT_EVERY_MS = 3_600_000;
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** A name that the working copy knows, not an address: that could have a password in it, or be an option of git. */
const REMOTE = /^[A-Za-z0-9][\w.-]{0,99}$/;
const PLACES = ["file", "url", "git"] as const;
const HERE = ["127.0.0.1", "[::1]", "localhost"];

/** Reads a receipts file. Throws `invalid-option` with every problem and its line and column. */
export function parseReceipts(file: string, text: string): ReceiptSettings {
  const source = new YamlSource(file, text, { refuseNulls: true });
  const [document, second] = source.documents;
  if (second !== undefined) source.problem(second, "a receipts file is one document");
  const members = document && source.map(document, "the file", ["receipts", "every"]);
  const list = members?.need("receipts");
  const targets = list === undefined ? [] : readTargets(source, list);
  const everyMs = members?.duration("every") ?? DEFAULT_EVERY_MS;
  if (source.problems.length > 0) throw problemsError(source.problems);
  return { targets, everyMs };
}

function readTargets(source: YamlSource, list: Node): readonly TargetSettings[] {
  const targets = source.list(list, "receipts", (node) => readTarget(source, node));
  if (isSeq(list) && list.items.length === 0)
    source.problem(list, "receipts is empty, so nothing would ever be published");
  const names = targets.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    source.problem(list, `two targets are named ${twice}; each has a series of its own`);
  return targets;
}

function readTarget(source: YamlSource, node: Node): TargetSettings | undefined {
  const members = source.map(node, "a target", ["name", ...PLACES, "push"]);
  if (members === undefined) return undefined;
  const name = members.needText("name");
  if (name !== undefined && !NAME.test(name))
    source.problem(node, "a target's name must have 1 to 40 lower-case letters, digits and dashes");
  const given = PLACES.filter((place) => members.get(place) !== undefined);
  const [place] = given;
  if (place === undefined || given.length > 1)
    return source.problem(node, `a target needs one of ${PLACES.join(", ")}`);
  const push = members.get("push");
  if (push !== undefined && place !== "git") source.problem(push, "push is only for a target with git");
  const where = readPlace(source, members, place);
  return name === undefined || where === undefined ? undefined : { name, ...where };
}

type Where = TargetSettings extends infer Target
  ? Target extends unknown
    ? Omit<Target, "name">
    : never
  : never;

function readPlace(source: YamlSource, members: Members, place: (typeof PLACES)[number]): Where | undefined {
  const text = members.text(place);
  if (text === undefined) return undefined;
  if (place === "file") return { kind: "file", path: text };
  if (place === "git") return readGit(source, members, text);
  const url = URL.parse(text);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && HERE.includes(url.hostname));
  // The address may be a secret, so it is not repeated.
  if (url === null || !isSafe || url.username !== "" || url.password !== "")
    return source.problem(members.node, "a target's url must be an https URL without a user name");
  return { kind: "http", url };
}

function readGit(source: YamlSource, members: Members, folder: string): Where | undefined {
  const push = members.text("push");
  if (push !== undefined && !REMOTE.test(push))
    return source.problem(members.node, "push must be the name of a remote, for example origin");
  return { kind: "git", folder, ...(push === undefined ? {} : { push }) };
}
