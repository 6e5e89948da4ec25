// A small MCP server over stdio: reads, writes and deletes files of one scratch folder, and nothing outside of it.
// FILES_FOLDER names the folder. Default: a folder of this user under the system's temporary folder.
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { createInterface } from "node:readline";

const { uid } = userInfo();
const FOLDER = process.env.FILES_FOLDER ?? join(tmpdir(), `countersign-files-${uid}`);
mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
// Other users can write to the temporary folder too, and could have created this folder first.
if (lstatSync(FOLDER).uid !== uid && uid !== -1) throw new Error(`${FOLDER} belongs to somebody else`);
const ROOT = realpathSync(FOLDER);

const path = { type: "string", description: "A path inside the scratch folder." };
const TOOLS = [
  {
    name: "read_file",
    description: "Reads a text file.",
    inputSchema: { type: "object", properties: { path }, required: ["path"] },
    annotations: { readOnlyHint: true },
    run: (args) => readFileSync(inside(args.path), "utf8"),
  },
  {
    name: "write_file",
    description: "Writes a text file, over whatever it held.",
    inputSchema: {
      type: "object",
      properties: { path, content: { type: "string" } },
      required: ["path", "content"],
    },
    annotations: { destructiveHint: true },
    run: (args) => {
      writeFileSync(inside(args.path), args.content);
      return `wrote ${args.content.length} characters to ${args.path}`;
    },
  },
  {
    name: "delete_file",
    description: "Deletes a file.",
    inputSchema: { type: "object", properties: { path }, required: ["path"] },
    annotations: { destructiveHint: true },
    run: (args) => {
      rmSync(inside(args.path));
      return `deleted ${args.path}`;
    },
  },
];

function inside(name) {
  const file = resolve(ROOT, name);
  const isInside =
    file.startsWith(ROOT + sep) && `${realpathSync(dirname(file))}${sep}`.startsWith(ROOT + sep);
  if (isInside && !lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file;
  throw new Error(`${name} is outside the scratch folder`);
}

function call({ name, arguments: args }) {
  const tool = TOOLS.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return tool.run(args);
}

const METHODS = new Map(
  Object.entries({
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "filesystem-server", version: "1.0.0" },
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: TOOLS.map(({ run: _run, ...tool }) => tool) }),
    "tools/call": (params) => {
      try {
        return { content: [{ type: "text", text: call(params) }] };
      } catch (error) {
        return { isError: true, content: [{ type: "text", text: error.message }] };
      }
    },
  }),
);

// A Map, because an object would also have inherited members such as toString.
function answerTo(method, params) {
  const handle = METHODS.get(method);
  if (handle === undefined) return { error: { code: -32601, message: `no method ${method}` } };
  return { result: handle(params) };
}

function read(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = read(line) ?? {};
  if (id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answerTo(method, params) })}\n`);
});
