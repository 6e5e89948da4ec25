/** What the files of one folder, or one file, may import. */
export interface Layer {
  /** Folders of `src` whose front door may be imported. */
  readonly imports: readonly string[];
  /** Folders whose front door may be imported only by `import()` or `import type`. */
  readonly lazily?: readonly string[];
  /** Folders whose front door may be imported only by `import type`. */
  readonly types?: readonly string[];
  /** Built-in modules, each with the reason; `any` where nothing speaks against them. */
  readonly node: "any" | { readonly [module: string]: string };
  /** May load modules that are named only at run time. */
  readonly computedImports?: true;
}

/**
 * Who may import whom. Keys are folders of `src`, single files of it, or `web`. A folder that is not listed
 * may not exist.
 */
export const LAYERS: { readonly [name: string]: Layer } = {
  protocol: { imports: [], node: {} },
  engine: {
    imports: ["protocol"],
    node: {
      "node:crypto": "digests, HMACs and unguessable ids; synchronous, which Web Crypto is not",
      "node:async_hooks": "AsyncLocalStorage: which call is running, for a context used after its end",
      "node:vm": "breaks off the check of a stranger's schema that would not end",
    },
  },
  stores: { imports: ["protocol", "engine"], node: "any" },
  runtime: { imports: ["protocol", "engine"], node: "any" },
  models: { imports: ["protocol", "engine", "runtime"], node: "any" },
  mcp: { imports: ["protocol", "engine", "runtime"], node: "any" },
  a2a: { imports: ["protocol", "engine", "runtime"], node: "any" },
  files: { imports: [], node: "any" },
  webhooks: { imports: ["protocol", "engine"], node: "any" },
  channels: { imports: ["protocol", "engine", "files", "webhooks"], node: "any" },
  adapters: { imports: ["protocol", "engine"], node: "any" },
  http: { imports: ["protocol", "engine", "runtime"], node: "any" },
  client: { imports: [], types: ["protocol", "engine"], node: {} },
  yaml: { imports: ["protocol"], node: {} },
  policy: {
    imports: ["protocol", "yaml"],
    types: ["engine"],
    node: { "node:crypto": "the digest of a policy" },
  },
  retention: { imports: ["protocol", "engine", "yaml", "files"], node: "any" },
  receipts: { imports: ["protocol", "engine", "yaml", "files", "webhooks", "retention"], node: "any" },
  simulation: { imports: ["protocol", "engine", "yaml"], node: {} },
  manifest: {
    imports: ["protocol", "engine", "runtime", "models", "mcp", "yaml"],
    node: "any",
    computedImports: true,
  },
  cli: {
    imports: [
      "protocol",
      "engine",
      "stores",
      "runtime",
      "models",
      "mcp",
      "a2a",
      "channels",
      "webhooks",
      "http",
      "client",
      "manifest",
      "policy",
      "retention",
      "receipts",
      "simulation",
      "yaml",
      "src/create-engine.ts",
      "src/index.ts",
    ],
    node: "any",
    computedImports: true,
  },
  "src/create-engine.ts": {
    imports: ["engine", "stores"],
    node: { "node:os": "the host's name, by which a person finds the process that holds a claim" },
  },
  "src/index.ts": {
    imports: ["protocol", "engine", "runtime", "stores", "src/create-engine.ts"],
    lazily: ["stores/sqlite", "stores/postgres", "models/gemini"],
    node: {},
  },
  "src/engine.ts": { imports: ["engine"], node: {} },
  "src/runtime.ts": { imports: [], types: ["runtime"], node: {} },
  "src/testing.ts": { imports: ["protocol", "engine", "runtime", "channels", "models/scripted"], node: {} },
  // `displayText` is the protocol's: hostile text is shown the same way everywhere.
  web: { imports: ["countersign/client", "countersign/protocol"], types: ["protocol"], node: {} },
};

/**
 * Folders made of members that know nothing of each other, each with its own front door, so that nobody loads the
 * packages of a member they do not use. The files beside the members, and the subfolders named here, are
 * what the members share.
 */
export const MEMBERED: { readonly [folder: string]: { readonly shared: readonly string[] } } = {
  stores: { shared: ["sql"] },
  models: { shared: [] },
  channels: { shared: [] },
  adapters: { shared: [] },
};

/**
 * Folders made of folders, lowest first. Each has a front door. A folder may import values from those before it, and
 * types from all of them; the files beside the folders bind them together, and everybody may import those.
 */
export const INNER: { readonly [folder: string]: readonly string[] } = {
  engine: [
    "common",
    "people",
    "lifecycle",
    "journal",
    "ledger",
    "deliveries",
    "store",
    "delegations",
    "holds",
    "frames",
    "grants",
    "questions",
    "calls",
    "decisions",
    "sessions",
    "tenants",
    "gate",
    "callers",
    "audit",
    "archives",
    "retention",
    "receipts",
    "statistics",
    "process",
    "testing",
  ],
  runtime: ["tools", "agents", "models", "history", "calls", "streaming", "loop", "messages"],
  mcp: ["rpc", "servers", "tools", "gateway", "clients"],
  a2a: ["messages", "tasks", "server", "remote"],
};

/** Front doors beside a folder's own, for what not everyone who uses the folder can load. */
export const SIDE_DOORS: readonly string[] = ["src/http/auth/index.ts", "src/http/node/index.ts"];

/** The one folder, or member, that may import a third-party package. Not for `web`, which has its own. */
export const PACKAGES: { readonly [name: string]: string } = {
  "@a2a-js/sdk": "a2a",
  "@cfworker/json-schema": "engine",
  "@google/genai": "models/gemini",
  "@hono/zod-openapi": "http",
  "@langchain/core": "adapters/langchain",
  "@langchain/langgraph": "adapters/langchain",
  "@marcbachmann/cel-js": "policy",
  "@modelcontextprotocol/client": "mcp",
  "@opentelemetry/api": "http",
  "@openai/agents": "adapters/openai-agents",
  ai: "adapters/ai-sdk",
  hono: "http",
  jose: "http",
  nodemailer: "channels/email",
  oauth4webapi: "http",
  pg: "stores/postgres",
  pino: "cli",
  re2js: "policy",
  "string-width": "cli",
  yaml: "yaml",
  zod: "http",
};

/** The only files of the pure layers that may know the time: the clock, and the one that tests move by hand. */
export const CLOCKS: readonly string[] = ["src/engine/common/clock.ts", "src/engine/common/manual-clock.ts"];
