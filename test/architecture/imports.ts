import { posix } from "node:path";
import { CLOCKS, INNER, LAYERS, type Layer, MEMBERED, PACKAGES, SIDE_DOORS } from "./layers.ts";
import { type Import, importsOf, isIdentifier, type Node, nodesOf, type SourceFile } from "./syntax.ts";

/** Where a file stands in the layers. */
export interface Place {
  /** The key of its row in the table: a folder of `src`, one of its single files, or `web`. */
  readonly layer: string;
  /** `stores/sqlite`, where the folder is made of members and the file belongs to one. */
  readonly member?: string;
  /** `engine/calls`, where the folder is made of folders and the file is in one. */
  readonly inner?: string;
  /** The front door of its folder or member. */
  readonly door: boolean;
}

/** An import from one layer into another, as found. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Tests may reach further than the code beside them; the table does not bind them. */
export function isTest(path: string): boolean {
  return /\.test(-d)?\.tsx?$/.test(path);
}

/** Finds the place of a file, whether or not the table knows its folder. */
export function placeOf(path: string): Place {
  const [top, folder = "", ...rest] = path.split("/");
  if (top === "web") {
    return { layer: "web", door: false };
  }
  if (rest.length === 0) {
    return { layer: path, door: true };
  }
  const shared = MEMBERED[folder]?.shared;
  const [sub = ""] = rest;
  if (shared !== undefined && rest.length > 1 && !shared.includes(sub)) {
    return { layer: folder, member: `${folder}/${sub}`, door: rest.length === 2 && rest[1] === "index.ts" };
  }
  if (INNER[folder] !== undefined && rest.length > 1) {
    return { layer: folder, inner: `${folder}/${sub}`, door: false };
  }
  const door = (rest.length === 1 && sub === "index.ts") || SIDE_DOORS.includes(path);
  return { layer: folder, door };
}

/** Everything in `files` that breaks the layers, a sentence each; empty when all is well. Tests are left out. */
export function violations(files: readonly SourceFile[]): string[] {
  const paths = new Set(files.map((file) => file.path));
  return files
    .filter((file) => !isTest(file.path))
    .flatMap((file) => judgeFile(file, paths).map((fault) => `${file.path}: ${fault}`));
}

/** Every import that crosses from one layer into another, also the forbidden ones. */
export function edges(files: readonly SourceFile[]): Edge[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap((file) =>
      importsIn(file).flatMap(({ specifier }) =>
        specifier?.startsWith(".") === true
          ? [{ from: placeOf(file.path).layer, to: placeOf(resolve(file.path, specifier)).layer }]
          : [],
      ),
    )
    .filter((edge) => edge.from !== edge.to);
}

const read = new WeakMap<SourceFile, readonly Import[]>();

/** The imports of a file, which is parsed once. */
function importsIn(file: SourceFile, nodes?: readonly Node[]): readonly Import[] {
  const imports = read.get(file) ?? importsOf(nodes ?? nodesOf(file));
  read.set(file, imports);
  return imports;
}

function judgeFile(file: SourceFile, paths: ReadonlySet<string>): string[] {
  const from = placeOf(file.path);
  const layer = LAYERS[from.layer];
  if (layer === undefined) {
    return [`${from.layer} has no row in the table of layers`];
  }
  if (from.inner !== undefined && innerRank(from.inner) < 0) {
    return [`${from.inner} has no place among the folders of ${from.layer}`];
  }
  const nodes = nodesOf(file);
  const imported = importsIn(file, nodes).map((each) => judgeImport(file.path, layer, each, paths));
  return [...imported.filter((fault) => fault !== undefined), ...impurities(file.path, from.layer, nodes)];
}

function judgeImport(
  path: string,
  layer: Layer,
  each: Import,
  paths: ReadonlySet<string>,
): string | undefined {
  const from = placeOf(path);
  const { specifier } = each;
  if (specifier === undefined) {
    return layer.computedImports === true ? undefined : "imports a module whose name is computed";
  }
  if (specifier.startsWith("node:")) {
    return layer.node === "any" || Object.hasOwn(layer.node, specifier)
      ? undefined
      : `${from.layer} may not import ${specifier}`;
  }
  if (!specifier.startsWith(".")) {
    return judgePackage(from, layer, each, specifier);
  }
  const target = resolve(path, specifier);
  if (from.layer === "web" && target.endsWith(".css")) return undefined;
  if (!paths.has(target)) {
    return `imports ${specifier}, which is no source file`;
  }
  const to = placeOf(target);
  if (from.layer === to.layer && INNER[from.layer] !== undefined) {
    return judgeInner(path, from, to, { each, target });
  }
  return from.layer === to.layer
    ? judgeInside(from, to, each, target)
    : judgeAcross(from, layer, each, target);
}

function judgePackage(from: Place, layer: Layer, each: Import, specifier: string): string | undefined {
  if (from.layer === "web") {
    const own = specifier === "countersign" || specifier.startsWith("countersign/");
    return own ? judgeReach(from, layer, each, [specifier]) : undefined;
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const owner = PACKAGES[name];
  if (owner === undefined) {
    return `imports the package ${name}, which the table of packages does not list`;
  }
  return owner === from.layer || owner === from.member
    ? undefined
    : `imports the package ${name}, which belongs to ${owner}`;
}

/** Inside one folder: the defining file, not the door; and no member knows another. */
function judgeInside(from: Place, to: Place, each: Import, target: string): string | undefined {
  if (from.layer === "web") {
    return undefined;
  }
  if (from.member === to.member) {
    return to.door ? `imports its own front door ${target}; import the defining file` : undefined;
  }
  if (to.member === undefined) {
    return to.door ? `imports its own front door ${target}; import the defining file` : undefined;
  }
  if (from.member !== undefined) {
    return `${from.member} may not import ${to.member}`;
  }
  if (!to.door) {
    return `reaches past the front door of ${to.member} to ${target}`;
  }
  return each.lazy || each.typeOnly ? undefined : `must import ${to.member} lazily, by import()`;
}

/** Between the folders of one folder: by the front door, values only from lower ones. Contracts are read by tests alone. */
function judgeInner(
  path: string,
  from: Place,
  to: Place,
  { each, target }: { readonly each: Import; readonly target: string },
): string | undefined {
  const own = `imports its own front door ${target}; import the defining file`;
  if (to.inner === undefined) return to.door ? own : undefined;
  const isDoor = target === `src/${to.inner}/index.ts`;
  if (from.inner === to.inner) return isDoor ? own : undefined;
  if (isContract(path) || isContract(target)) return undefined;
  if (!isDoor) return `reaches past the front door of ${to.inner} to ${target}`;
  const upwards = from.inner !== undefined && innerRank(to.inner) > innerRank(from.inner);
  return upwards && !each.typeOnly ? `${from.inner} may import only types from ${to.inner}` : undefined;
}

function innerRank(inner: string): number {
  const [folder = "", name = ""] = inner.split("/");
  return INNER[folder]?.indexOf(name) ?? -1;
}

function isContract(path: string): boolean {
  return path.endsWith(".contract.ts") || /\/(?:contract|testing)\//.test(path);
}

/** From one folder into another: an allowed one, and by its front door. */
function judgeAcross(from: Place, layer: Layer, each: Import, target: string): string | undefined {
  const to = placeOf(target);
  const reach = judgeReach(from, layer, each, to.member === undefined ? [to.layer] : [to.layer, to.member]);
  const contract = from.layer === "src/testing.ts" && target.endsWith(".contract.ts");
  if (contract) {
    return undefined;
  }
  if (reach !== undefined) {
    return reach;
  }
  return to.door ? undefined : `reaches past the front door of ${to.member ?? to.layer} to ${target}`;
}

function judgeReach(from: Place, layer: Layer, each: Import, names: readonly string[]): string | undefined {
  const name = names.at(-1);
  // A whole folder opens its members too, but not to the package's own entries: those list members by name.
  const openings = from.layer.startsWith("src/") ? names.slice(-1) : names;
  const isIn = (list: readonly string[] = []): boolean => openings.some((opening) => list.includes(opening));
  if (isIn(layer.imports)) {
    return undefined;
  }
  if (isIn(layer.lazily)) {
    return each.lazy || each.typeOnly ? undefined : `must import ${name} lazily, by import()`;
  }
  if (isIn(layer.types)) {
    return each.typeOnly ? undefined : `may import only types from ${name}`;
  }
  return `${from.layer} may not import ${name}`;
}

const TIMERS = ["setTimeout", "setInterval", "setImmediate", "performance"];
const NODE_GLOBALS = ["process", "Buffer", "global", "require", "crypto"];

/** Time and chance in the layers that get both from outside; in protocol also what only Node.js has. */
function impurities(path: string, layer: string, nodes: readonly Node[]): string[] {
  if ((layer !== "protocol" && layer !== "engine") || CLOCKS.includes(path)) {
    return [];
  }
  const banned = layer === "protocol" ? [...TIMERS, ...NODE_GLOBALS] : TIMERS;
  const labels = memberNames(nodes);
  const found = nodes.flatMap((node): string[] => {
    const { type, object, property } = node;
    if (type === "Identifier" && banned.includes(node["name"] as string) && !labels.has(node)) {
      return [node["name"] as string];
    }
    if (type === "MemberExpression" && isIdentifier(object, "Date") && isIdentifier(property, "now")) {
      return ["Date.now"];
    }
    if (type === "MemberExpression" && isIdentifier(object, "Math") && isIdentifier(property, "random")) {
      return ["Math.random"];
    }
    return readsTheClock(node) ? ["new Date()"] : [];
  });
  return found.map((what) => `uses ${what}; time, chance and the platform come in from outside`);
}

/** Identifiers that only name a member, as in `clock.setTimeout`; a member of `globalThis` is the thing itself. */
function memberNames(nodes: readonly Node[]): ReadonlySet<unknown> {
  return new Set(
    nodes
      .filter((node) => node["computed"] === false && !isIdentifier(node["object"], "globalThis"))
      .map((node) => node["property"] ?? node["key"]),
  );
}

function readsTheClock({ type, callee, arguments: values }: Node): boolean {
  const made = type === "NewExpression" && (values as unknown[]).length === 0;
  return (made || type === "CallExpression") && isIdentifier(callee, "Date");
}

function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}
