import { rootAgent } from "../../../../examples/agents/hitl_demo/agent.ts";
import { type Clock, systemClock } from "../../../../src/engine/index.ts";
import { type App, createApp } from "../../../../src/http/index.ts";
import { Agent, type Model, Runner } from "../../../../src/index.ts";
import type { JsonValue } from "../../../../src/protocol/index.ts";
import { corsIn, type Outcome } from "./recording.ts";

/** `hitl_demo` behind our server, with a model that notes what it is given. */
export class ReplayServer {
  readonly #app: App;
  readonly #runner: Runner;
  readonly #seen: { readonly stream: boolean; readonly contents: JsonValue }[] = [];

  constructor(options: { readonly allowOrigins?: readonly string[] } = {}) {
    this.#runner = new Runner({
      agent: this.#overheard(rootAgent),
      ledger: "memory:",
      clock: tickingClock(),
    });
    this.#app = createApp({ apps: { hitl_demo: this.#runner }, ...options });
  }

  async send(path: string, request: RequestInit): Promise<Outcome> {
    this.#seen.length = 0;
    const response = await this.#app.fetch(new Request(new URL(path, "http://127.0.0.1:8000"), request));
    const { status, headers } = response;
    const body = readBody(headers.get("content-type") ?? "", await response.text());
    return { status, ...body, cors: corsIn(headers), modelSaw: [...this.#seen] };
  }

  async close(): Promise<void> {
    await this.#runner.close();
  }

  #overheard({ name, description, instruction, tools, model }: Agent): Agent {
    if (typeof model !== "object") throw new TypeError("The demo's model is a script.");
    const overheard: Model = {
      ...model,
      generate: (request, options) => {
        this.#seen.push({ stream: options.stream, contents: withoutIds(request.contents) });
        return model.generate(request, options);
      },
    };
    return new Agent({ name, description, instruction, tools, model: overheard });
  }
}

/** Sessions are listed by the time of their making; two of one millisecond have no order of their own. */
function tickingClock(): Clock {
  let last = 0;
  const now = (): number => {
    last = Math.max(Date.now(), last + 1);
    return last;
  };
  return { ...systemClock, now };
}

function readBody(type: string, text: string): Pick<Outcome, "kind" | "body"> {
  if (type.startsWith("text/event-stream")) return { kind: "sse", body: readStream(text) };
  if (/^application\/(?:problem\+)?json/.test(type)) return { kind: "json", body: JSON.parse(text) };
  return { kind: "text", body: text };
}

/** A stream is whole lines of `data: {…}` with a blank one after each, and nothing else at all. */
function readStream(text: string): readonly unknown[] {
  const blocks = text.split("\n\n");
  if (blocks.pop() !== "") throw new Error(`The stream does not end with a blank line: ${text}`);
  return blocks.map((block): unknown => {
    const [, json] = /^data: (\{.*\})$/.exec(block) ?? [];
    if (json === undefined) throw new Error(`No ADK client would read this block: ${block}`);
    return JSON.parse(json);
  });
}

// The reference strips the ids that it made itself from what the model is given.
function withoutIds(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value), (name, member: JsonValue) =>
    name === "id" && typeof member === "string" && member.startsWith("adk-") ? undefined : member,
  ) as JsonValue;
}
