// How Vite puts together what tests start as processes: the command line, and every `*.program.ts`.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

interface Manifest {
  readonly exports: { readonly [subpath: string]: string | { readonly default: string } };
  readonly devDependencies: { readonly [name: string]: string };
  readonly peerDependencies: { readonly [name: string]: string };
}

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as Manifest;
const exported = Object.values(manifest.exports).flatMap((target) =>
  typeof target === "string" ? [] : [target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")],
);
const sources = ["src/cli/main.ts", ...exported, ...globSync("test/**/*.program.ts", { cwd: ROOT })];

/**
 * What is loaded together is one file: a process pays for each that it opens. A file takes along all that its modules
 * import, so each of these imports only from those before it.
 */
const TOGETHER: { readonly [name: string]: RegExp } = {
  base: /src\/(protocol\/|cli\/(main|command|commands\/index|exit-codes|help|output|parse-command-line|suggest|text-width|version)\.ts)/,
  ledger:
    /src\/(engine\/(?!testing)|stores\/([^/]+\.ts|sql\/|sqlite\/)|create-engine\.ts)|node_modules\/@cfworker/,
  deciding: /src\/cli\/[^/]+\.ts/,
  auth: /src\/http\/(auth\/(index|logins|tokens|secrets|user-id|safe-bind|cookie)|scopes)\.ts/,
  yaml: /src\/yaml\/|node_modules\/yaml\//,
  policy: /src\/policy\/|node_modules\/(@marcbachmann|re2js)\//,
  runtime: /src\/(runtime\/|index\.ts|runtime\.ts)/,
  http: /src\/http\/|node_modules\/(@hono|hono|@asteasolutions|openapi3-ts|@opentelemetry)\//,
  channels: /src\/channels\/(?!email)/,
  serving: /src\/cli\/serving\/|node_modules\/(pino|sonic-boom|thread-stream)/,
};

export default {
  root: ROOT,
  plugins: [
    {
      name: "files-are-found-where-the-source-lies",
      enforce: "post",
      transform: {
        filter: { code: "import.meta.url", id: { exclude: /node_modules/ } },
        handler: (code: string, id: string) => ({
          code: code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)),
          map: null,
        }),
      },
    },
  ],
  ssr: {
    noExternal: true,
    external: [...Object.keys(manifest.peerDependencies), ...Object.keys(manifest.devDependencies)],
  },
  build: {
    ssr: true,
    minify: false,
    target: "node24",
    rolldownOptions: {
      input: Object.fromEntries(
        sources.map((source) => [source.replace(/\.ts$/, ""), `${ROOT}${source}`] as const),
      ),
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "chunks/[name]-[hash].js",
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: Object.entries(TOGETHER).map(([name, test], index) => ({
            name,
            test,
            priority: 100 - index,
          })),
        },
      },
    },
  },
};
