import { createSdkMcpServer, type Options, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { type ClaudeGate, createGate } from "../../../src/adapters/claude-agent-sdk/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type AdapterSubject,
  FIRST_WORDS,
  LAST_WORDS,
  type ModelCall,
  ORDER_DESCRIPTION,
  ORDER_RULE,
  ORDER_SHAPE,
  PAY_RULE,
  type Progress,
  type Seen,
  TRANSFER_DESCRIPTION,
  TRANSFER_SHAPE,
  type World,
} from "../../adapters/contract/subject.ts";
import type { Turn } from "../../e2e/coding-agents/model-server.ts";
import { type Ended, editStored, runClaude, type Stored } from "./claude.ts";

/** The Claude Agent SDK with its own program: a session's files as its state. */
export const subject: AdapterSubject = {
  name: "claude-agent-sdk",
  open: (world) => new ClaudeHost(world),
};

/** What is known of a session that has ended or paused. */
export interface State extends Stored {
  readonly deferred?: string;
}

/** The arguments of `pay`. */
export const INPUT = { amount: z.number(), to: z.string().optional(), hang: z.boolean().optional() };

class ClaudeHost implements AdapterHost {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async send(calls: readonly ModelCall[]): Promise<Progress> {
    const tools = calls.map(({ id, tool: name, args }) => ({ id, name: `mcp__shop__${name}`, input: args }));
    const gate = this.#gate();
    const turns = this.#turns(tools);
    return this.#progress(await runClaude(gate, { turns, text: "Pay.", options: this.#options(gate) }));
  }

  async resume(text: string): Promise<Progress> {
    const state = JSON.parse(text) as State;
    const gate = this.#gate();
    const { ready } = await gate.resume({ id: state.deferred ?? "" });
    return ready
      ? this.#progress(
          await runClaude(gate, { turns: this.#turns(), from: state, options: this.#options(gate) }),
        )
      : { state: text, status: "paused", told: {} };
  }

  // Whatever Claude Code's own permissions say.
  async forge(text: string): Promise<Progress> {
    const gate = this.#gate();
    const options: Options = {
      ...this.#options(gate),
      allowedTools: [],
      canUseTool: async (_tool, updatedInput) => ({ behavior: "allow", updatedInput }),
    };
    const from = JSON.parse(text) as State;
    return this.#progress(await runClaude(gate, { turns: this.#turns(), from, options }));
  }

  cancel(reason: string): Promise<number> {
    return this.#gate().cancel(reason);
  }

  edit(text: string, change: (text: string) => string): string {
    const state = JSON.parse(text) as State;
    return JSON.stringify({ ...state, ...editStored(state, change) });
  }

  /** The first is over when a run goes on. */
  #turns(tools: Turn["tools"] = []): readonly Turn[] {
    return this.#world.streams === true ? [{ text: FIRST_WORDS, tools }, { text: LAST_WORDS }] : [{ tools }];
  }

  #progress(ended: Ended): Progress {
    const progress = progressOf(ended);
    return this.#world.streams === true ? { ...progress, seen: seenIn(ended) } : progress;
  }

  #gate(): ClaudeGate {
    const { engine, app, thread } = this.#world;
    return createGate({ engine, app, thread });
  }

  #options(gate: ClaudeGate): Options {
    const { description, expiresInMs } = this.#world;
    const rule = { ...PAY_RULE, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
    const pay = tool("pay", description, INPUT, async (args) =>
      text(JSON.stringify(await this.#world.pay(args as JsonObject))),
    );
    const note = tool("note", "Notes a text.", { text: z.string() }, async (args) =>
      text(JSON.stringify(args)),
    );
    const order = tool("order", ORDER_DESCRIPTION, ORDER_SHAPE, async (args) =>
      text(JSON.stringify(await this.#world.pay(args))),
    );
    const transfer = tool("transfer", TRANSFER_DESCRIPTION, TRANSFER_SHAPE, async (args) =>
      text(JSON.stringify(await this.#world.pay(args as JsonObject))),
    );
    const gated = gate.tool("shop", pay, {
      ...rule,
      requireConfirmation: (args) => rule.requireConfirmation(args as JsonObject),
      hint: (args) => rule.hint(args as JsonObject),
    });
    return {
      includePartialMessages: this.#world.streams === true,
      mcpServers: {
        shop: createSdkMcpServer({
          name: "shop",
          tools: [gated, gate.tool("shop", order, ORDER_RULE), gate.tool("shop", transfer, ORDER_RULE), note],
        }),
      },
      // Claude Code itself would ask about neither.
      allowedTools: ["mcp__shop__pay", "mcp__shop__order", "mcp__shop__transfer", "mcp__shop__note"],
    };
  }
}

function seenIn({ messages, deferred }: Ended): readonly Seen[] {
  const seen = messages.flatMap((message): readonly Seen[] => {
    if (message.type === "user" && typeof message.message.content !== "string")
      return message.message.content.flatMap((block) =>
        block.type === "tool_result" ? [{ result: block.tool_use_id }] : [],
      );
    if (message.type !== "stream_event") return [];
    const { event } = message;
    if (event.type === "content_block_start" && event.content_block.type === "tool_use")
      return [{ call: event.content_block.id }];
    return event.type === "content_block_delta" && event.delta.type === "text_delta"
      ? [{ text: event.delta.text }]
      : [];
  });
  return deferred === undefined ? seen : [...seen, { asked: deferred.id }];
}

export function progressOf({ stored, deferred, told }: Ended): Progress {
  const state: State = { ...stored, ...(deferred === undefined ? {} : { deferred: deferred.id }) };
  return { state: JSON.stringify(state), status: deferred === undefined ? "done" : "paused", told };
}

/** A result of a tool of MCP. */
export function text(said: string): { content: { type: "text"; text: string }[] } {
  return { content: [{ type: "text", text: said }] };
}
