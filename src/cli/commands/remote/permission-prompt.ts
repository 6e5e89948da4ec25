/* oxlint-disable unicorn/prefer-add-event-listener -- a transport is no event target */
import { StdioClient } from "../../../mcp/index.ts";
import { isJsonObject } from "../../../protocol/index.ts";
import type { Command } from "../../command.ts";
import { parseDuration } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { type Approval, seekApproval, type ToolUse } from "../../hooks/approval.ts";
import { answerRequest, type Reply, type Request } from "../../hooks/permission-server.ts";
import { toldError } from "../../remote/persist.ts";
import { openRemoteGate, REMOTE_FLAGS } from "../../remote/remote-gate.ts";
import { version } from "../../version.ts";

const USUAL_WAIT = "9m";
const USUAL_APP = "coding-agents";

export const permissionPrompt: Command = {
  usage: "[--url URL] [--wait TIME] [--trust-policy]",
  about:
    "For `claude -p --permission-prompt-tool mcp__countersign__approve`: where Claude Code would ask you in the terminal, " +
    "it asks a running server, and a person decides there. Claude Code starts this over standard input and output. A person " +
    "is always asked, unless --trust-policy leaves that to the policy; its denials always apply. Approval only: " +
    "Claude Code runs the tool itself. Any error is a denial. Tools that Claude Code's own rules allow are not asked " +
    "about; for every tool, use `countersign hook claude-code`.",
  flags: {
    wait: {
      type: "string",
      value: "TIME",
      help: `how long to wait for a decision (${USUAL_WAIT}). Then the tool use is denied`,
    },
    ...REMOTE_FLAGS,
  },
  examples: [
    {
      line: "permission-prompt --url http://localhost:8000",
      says: "the command of the server `countersign` in the file of --mcp-config",
    },
  ],
  async run(invocation) {
    const waitMs = parseDuration(invocation.flags.text("wait") ?? USUAL_WAIT, "wait");
    const gate = openRemoteGate(invocation, USUAL_APP);
    const decide = async (use: ToolUse): Promise<Approval> => {
      const how = { agent: "claude-code", agentTitle: "Claude Code", alwaysAsk: true, waitMs };
      try {
        return await seekApproval(gate, use, how);
      } catch (error) {
        return { kind: "refused", reason: toldError(error) };
      }
    };
    await serve(new StdioClient(invocation.stdin, process.stdout), (request) =>
      answerRequest(request, { version: version(), decide }),
    );
    // Questions that still wait are of no use to a client that has left.
    return invocation.exitNow(EXIT.ok);
  },
};

/** Resolves when the client has left. */
async function serve(client: StdioClient, answer: (request: Request) => Promise<Reply>): Promise<void> {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  client.onclose = resolve;
  client.onmessage = (message) => {
    const request = toRequest(message);
    if (request?.id === undefined) return;
    const { id } = request;
    answer(request)
      .then((reply) => client.send({ jsonrpc: "2.0", id, ...reply }))
      .catch(() => client.close());
  };
  await client.start();
  await left;
}

function toRequest(message: unknown): Request | undefined {
  const {
    id,
    method,
    params = {},
  } = message as {
    readonly id?: string | number;
    readonly method?: unknown;
    readonly params?: unknown;
  };
  if (typeof method !== "string" || !isJsonObject(params)) return undefined;
  return { method, params, ...(id === undefined ? {} : { id }) };
}
