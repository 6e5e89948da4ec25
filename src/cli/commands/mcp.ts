import { serve as listen } from "../../http/node/index.ts";
import { McpEndpoint, McpGateway, StdioClient } from "../../mcp/index.ts";
import { abandonWork } from "../abandon-work.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { announceGateway } from "../mcp/announce-gateway.ts";
import { type GatewaySettings, MCP_FLAGS, readGatewaySettings } from "../mcp/gateway-options.ts";
import { inert, Output } from "../output.ts";
import { followedPolicy } from "../policy/followed-policy.ts";
import { POLICY_FLAG } from "../policy/open-policy.ts";
import { listenForStop, type Stopping } from "../signals.ts";
import { localPrincipal, openEngine } from "../wiring.ts";

// The largest answer of a server: the results are for a client, not only for a model.
const LARGEST_RESULT = 16 * 1024 * 1024;

export const mcp: Command = {
  usage: "[--require TOOLS] [--name NAME] [--http PORT] [--db URL] (--url URL | -- COMMAND ARGS…)",
  about:
    "For any MCP client: use this instead of the server's own command. Calls to the tools in --require, or to " +
    "all tools if it is not given, become confirmations in the ledger and wait for a person. The rest of the " +
    "protocol passes through; messages that the gateway does not understand are refused. A client that times out and calls again with the same arguments gets the same confirmation, " +
    "and the approved call runs at most once. Approve with `countersign approve`, or in the inbox of " +
    "`countersign serve` on the same ledger. The server inherits this process's environment, except COUNTERSIGN_ " +
    "variables. Standard output carries only the protocol.",
  words: { names: ["COMMAND"], optional: true, many: true },
  flags: { ...MCP_FLAGS, ...POLICY_FLAG, ...LEDGER_FLAG },
  examples: [
    {
      line: "mcp --require write_file,move_file -- npx -y my-server ~/notes",
      says: "over standard input and output, as desktop clients start servers",
    },
    {
      line: "mcp --http 8123 -- node my-server.mjs",
      says: "for clients that connect to http://127.0.0.1:8123/mcp",
    },
    { line: "mcp --url https://example.com/mcp --expires 1h", says: "for a remote server" },
  ],
  async run(invocation) {
    const settings = readGatewaySettings(invocation);
    const stopping = listenForStop(invocation.exitNow);
    const words = new Output(process.stderr, invocation.env);
    const { ledger, name, server, require, approvers, expiresInMs, timeoutMs } = settings;
    const followed = followedPolicy(invocation);
    const engine = await openEngine(ledger, { maxResultBytes: LARGEST_RESULT, ...followed?.option });
    followed?.follow(engine.ledger, words);
    const gateway = new McpGateway({
      engine,
      name,
      server,
      by: localPrincipal(),
      ...(require === undefined ? {} : { require }),
      ...(approvers === undefined ? {} : { approvers }),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    try {
      // Before any work is claimed: a tool that is not known yet would count as gone.
      await gateway.open();
      const worker = engine.work({ onError: (error) => words.line(`countersign: ${inert(textOf(error))}`) });
      const serve = settings.listen === undefined ? serveStdio : serveHttp;
      const { code, close } = await serve({ invocation, settings, gateway, stopping, words });
      // Calls that still run then become unknown.
      const exit = (): never => invocation.exitNow(code);
      const late = setTimeout(() => {
        abandonWork(engine).then(exit, exit);
      }, settings.graceMs);
      await worker.stop();
      await gateway.close();
      await close();
      clearTimeout(late);
      return code;
    } finally {
      followed?.stop();
      await engine.close();
      await gateway.close();
      stopping.forget();
    }
  },
};

interface Serving {
  readonly invocation: Invocation;
  readonly settings: GatewaySettings;
  readonly gateway: McpGateway;
  readonly stopping: Stopping;
  readonly words: Output;
}

/** Why serving ended, and what to close once nothing runs. */
interface Served {
  readonly code: number;
  readonly close: () => Promise<void>;
}

/** Until the client closes our input, the server is gone, or the process is asked to end. */
async function serveStdio({ invocation, settings, gateway, stopping, words }: Serving): Promise<Served> {
  // A client that no longer reads must not end the process: its call may be running.
  process.stdout.removeAllListeners("error");
  announceGateway(invocation, words, { settings, url: undefined });
  const client = new StdioClient(invocation.stdin, process.stdout);
  const close = (): Promise<void> => client.close();
  const served = gateway.serve(client).then(() => "served" as const);
  const ended = await Promise.race([served, stopping.requested]);
  if (ended !== "served" || client.hasLeft) return { code: EXIT.ok, close };
  words.line(`countersign: the MCP server ${inert(settings.name)} exited`);
  return { code: EXIT.failed, close };
}

async function serveHttp({ invocation, settings, gateway, stopping, words }: Serving): Promise<Served> {
  const endpoint = new McpEndpoint(gateway);
  const server = await listen({ app: endpoint, ...settings.listen });
  announceGateway(invocation, words, { settings, url: `${server.url}/mcp` });
  await stopping.requested;
  const close = async (): Promise<void> => {
    await endpoint.close();
    await server.close({ graceMs: settings.graceMs });
  };
  return { code: EXIT.ok, close };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
