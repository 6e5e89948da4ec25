import { setTimeout } from "node:timers/promises";
import { z } from "zod";

// What the scenarios of MCP's conformance suite ask for, registered at an `McpServer` of either package.

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/** What a tool can do while it runs. */
export interface Running {
  readonly progressToken: string | number | undefined;
  readonly notify: (method: string, params: object) => Promise<void>;
  readonly ask: (method: string, params: object) => Promise<Answer>;
}

interface Answer {
  readonly action?: string;
  readonly content?: { readonly text?: string };
}

/** The part of an `McpServer` that is used here. */
export interface Filled {
  registerTool(name: string, config: object, handler: (args: never, context: never) => unknown): unknown;
  registerPrompt(name: string, config: object, handler: (args: never) => unknown): unknown;
  registerResource(name: string, at: unknown, config: object, read: (uri: URL) => unknown): unknown;
}

const text = (said: string) => ({ type: "text", text: said });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, said: string) => ({
  type: "resource",
  resource: { uri, mimeType, text: said },
});
const string = { type: "string" };
const choices = ["option1", "option2", "option3"];
const titled = [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Option ${n}` }));

type Tool = (run: Running, args: { readonly [name: string]: string }) => object[] | Promise<object[]>;

async function elicit(run: Running, properties: object): Promise<object[]> {
  const requestedSchema = { type: "object", properties, required: [] };
  const { action, content } = await run.ask("elicitation/create", { message: "Which?", requestedSchema });
  return [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)];
}

/** The tools, by name. */
export const TOOLS: { readonly [name: string]: Tool } = {
  test_simple_text: () => [text("This is a simple text response for testing.")],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: "audio", data: SOUND, mimeType: "audio/wav" }],
  test_embedded_resource: () => [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ],
  test_multiple_content_types: () => [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ],
  test_tool_with_logging: async ({ notify }) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await notify("notifications/message", { level: "info", data });
      await setTimeout(50);
    }
    return [text("logged")];
  },
  test_error_handling: () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
  test_tool_with_progress: async ({ notify, progressToken }) => {
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await notify("notifications/progress", { progressToken, progress, total: 100 });
      await setTimeout(50);
    }
    return [text("done")];
  },
  test_sampling: async ({ ask }, { prompt = "" }) => {
    const messages = [{ role: "user", content: text(prompt) }];
    const { content } = await ask("sampling/createMessage", { messages, maxTokens: 100 });
    return [text(`LLM response: ${content?.text}`)];
  },
  test_elicitation: async ({ ask }, { message = "" }) => {
    const properties = { username: string, email: string };
    const requestedSchema = { type: "object", properties, required: ["username", "email"] };
    const { action, content } = await ask("elicitation/create", { message, requestedSchema });
    return [text(`User response: action: ${action}, content: ${JSON.stringify(content)}`)];
  },
  test_elicitation_sep1034_defaults: (run) =>
    elicit(run, {
      name: { ...string, default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { ...string, enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  test_elicitation_sep1330_enums: (run) =>
    elicit(run, {
      untitledSingle: { ...string, enum: choices },
      titledSingle: { ...string, oneOf: titled },
      legacyEnum: { ...string, enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { ...string, enum: choices } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    }),
  json_schema_2020_12_tool: () => [text("ok")],
};

/** Arguments of tools that have some; of the last one as JSON Schema, for servers that take it. */
const INPUTS: { readonly [tool: string]: z.ZodType } = {
  test_sampling: z.object({ prompt: z.string() }),
  test_elicitation: z.object({ message: z.string() }),
};
const SCHEMA_2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $defs: { address: { type: "object", properties: { street: string, city: string } } },
  type: "object",
  properties: { name: string, address: { $ref: "#/$defs/address" } },
  additionalProperties: false,
};

const plain = (said: string) => ({ mimeType: "text/plain", text: said });
const user = (content: object) => ({ role: "user", content });

/** Registers all of it. */
export function fill(
  server: Filled,
  sdk: {
    readonly runningOf: (context: never) => Running;
    readonly template: (uri: string) => unknown;
    readonly fromJsonSchema: ((schema: object) => unknown) | undefined;
    readonly completable: (schema: z.ZodString, complete: () => string[]) => unknown;
  },
): void {
  for (const [name, tool] of Object.entries(TOOLS)) {
    const inputSchema =
      name === "json_schema_2020_12_tool"
        ? (sdk.fromJsonSchema?.(SCHEMA_2020) ?? z.strictObject({ name: z.string().optional() }))
        : (INPUTS[name] ?? z.object({}));
    server.registerTool(name, { description: `Tests ${name}.`, inputSchema }, async (args, context) => {
      return { content: await tool(sdk.runningOf(context), args) };
    });
  }
  const shape = (names: readonly string[]) =>
    z.object(
      Object.fromEntries(
        names.map((name) => [name, sdk.completable(z.string(), () => ["paris", "park"]) as z.ZodString]),
      ),
    );
  const prompt = (
    name: string,
    names: readonly string[],
    messages: (args: { [name: string]: string }) => object[],
  ) => {
    const argsSchema = sdk.fromJsonSchema === undefined ? shape(names).shape : shape(names);
    const config = { description: `Tests ${name}.`, ...(names.length === 0 ? {} : { argsSchema }) };
    server.registerPrompt(name, config, (args) => ({ messages: messages(args) }));
  };
  prompt("test_simple_prompt", [], () => [user(text("This is a simple prompt for testing."))]);
  prompt("test_prompt_with_arguments", ["arg1", "arg2"], ({ arg1, arg2 }) => [
    user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ]);
  prompt("test_prompt_with_embedded_resource", ["resourceUri"], ({ resourceUri = "" }) => [
    user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
    user(text("Please process the embedded resource above.")),
  ]);
  prompt("test_prompt_with_image", [], () => [user(image), user(text("Please analyze the image above."))]);

  const read = (name: string, at: unknown, content: (uri: URL) => object) =>
    server.registerResource(name, at, { description: `The ${name}.` }, (uri) => ({
      contents: [{ uri: uri.href, ...content(uri) }],
    }));
  read("static-text", "test://static-text", () => plain("This is the content of the static text resource."));
  read("static-binary", "test://static-binary", () => ({ mimeType: "image/png", blob: PIXEL }));
  read("watched-resource", "test://watched-resource", () => plain("watched"));
  read("template", sdk.template("test://template/{id}/data"), ({ pathname }) => {
    const id = pathname.split("/")[1];
    const said = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { mimeType: "application/json", text: JSON.stringify(said) };
  });
}
