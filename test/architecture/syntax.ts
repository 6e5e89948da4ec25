import { parseSync } from "oxc-parser";

/** A file under judgement: its path from the root of the repository, with `/`, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One import, re-export, `import()`, `require()` or `import("…")` type. */
export interface Import {
  /** Undefined where the specifier is computed. */
  readonly specifier: string | undefined;
  /** Erased by the compiler: loads nothing. */
  readonly typeOnly: boolean;
  /** Loaded only when the code around it runs. */
  readonly lazy: boolean;
}

/** A node of the syntax tree, as ESTree writes it. */
export interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Parses TypeScript or JavaScript and yields every node; throws on a file that does not parse. */
export function nodesOf({ path, text }: SourceFile): Node[] {
  const { program, errors } = parseSync(path, text);
  const first = errors[0];
  if (first !== undefined) {
    throw new SyntaxError(`${path}: ${first.message}`);
  }
  const nodes: Node[] = [];
  collect(program, nodes);
  return nodes;
}

/** Every import of a file, in whatever form. */
export function importsOf(nodes: readonly Node[]): Import[] {
  return nodes.flatMap((node): Import[] => {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
        return isNode(node["source"])
          ? [{ specifier: literal(node["source"]), typeOnly: isTypeOnly(node), lazy: false }]
          : [];
      case "ImportExpression":
        return [{ specifier: literal(node["source"]), typeOnly: false, lazy: true }];
      case "TSImportType":
        return [{ specifier: literal(node["source"]), typeOnly: true, lazy: true }];
      case "CallExpression":
        return isIdentifier(node["callee"], "require")
          ? [{ specifier: literal((node["arguments"] as unknown[])[0]), typeOnly: false, lazy: true }]
          : [];
      default:
        return [];
    }
  });
}

/**
 * The names that a module exports, types included, sorted. `export *` is not followed but returned as
 * `* from "…"`, so that a pinned list shows it.
 */
export function exportedNames(file: SourceFile): string[] {
  return parseSync(file.path, file.text)
    .module.staticExports.flatMap((statement) => statement.entries)
    .map((entry) => entry.exportName.name ?? exportWithoutName(entry))
    .toSorted();
}

/** Is this the identifier `name`? */
export function isIdentifier(node: unknown, name: string): boolean {
  return isNode(node) && node.type === "Identifier" && node["name"] === name;
}

/** The value of a string literal, or of a template without holes. */
function literal(node: unknown): string | undefined {
  if (!isNode(node)) {
    return undefined;
  }
  if (node.type === "TemplateLiteral" && (node["expressions"] as unknown[]).length === 0) {
    return (node["quasis"] as { value: { cooked: string } }[])[0]?.value.cooked;
  }
  return node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
}

function exportWithoutName(entry: { moduleRequest: { value: string } | null }): string {
  return entry.moduleRequest === null ? "default" : `* from "${entry.moduleRequest.value}"`;
}

// With `verbatimModuleSyntax`, `import { type X } from "y"` still loads y; only `import type` does not.
function isTypeOnly(node: Node): boolean {
  return node["importKind"] === "type" || node["exportKind"] === "type";
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function collect(value: unknown, into: Node[]): void {
  if (Array.isArray(value)) {
    for (const each of value) {
      collect(each, into);
    }
  } else if (isNode(value)) {
    into.push(value);
    for (const each of Object.values(value)) {
      collect(each, into);
    }
  }
}
