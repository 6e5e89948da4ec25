// An MCP server over stdio with everything that the scenarios of @modelcontextprotocol/conformance ask for.
import { createInterface } from "node:readline";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const notify = (method, params) => send({ method, params });
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const asked = new Map();
let questions = 0;

/** Asks the client something. */
function ask(method, params) {
  const id = `question-${++questions}`;
  send({ id, method, params });
  return new Promise((resolve, reject) => asked.set(id, { resolve, reject }));
}

const text = (value) => ({ type: "text", text: value });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri, mimeType, value) => ({ type: "resource", resource: { uri, mimeType, text: value } });
const elicited = ({ action, content }) => [
  text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`),
];
const choices = ["option1", "option2", "option3"];
const titled = [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Option ${n}` }));

const TOOLS = {
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
  test_tool_with_logging: async () => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      notify("notifications/message", { level: "info", data });
      await pause();
    }
    return [text("logged")];
  },
  test_error_handling: () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
  test_tool_with_progress: async (_, progressToken) => {
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        notify("notifications/progress", { progressToken, progress, total: 100 });
      await pause();
    }
    return [text("done")];
  },
  test_sampling: async ({ prompt }) => {
    const messages = [{ role: "user", content: text(prompt) }];
    const { content } = await ask("sampling/createMessage", { messages, maxTokens: 100 });
    return [text(`LLM response: ${content.text}`)];
  },
  test_elicitation: async ({ message }) => {
    const properties = {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    };
    const requestedSchema = { type: "object", properties, required: ["username", "email"] };
    const { action, content } = await ask("elicitation/create", { message, requestedSchema });
    return [text(`User response: action: ${action}, content: ${JSON.stringify(content)}`)];
  },
  test_elicitation_sep1034_defaults: async () => {
    const properties = {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    };
    const requestedSchema = { type: "object", properties, required: [] };
    return elicited(await ask("elicitation/create", { message: "Defaults?", requestedSchema }));
  },
  test_elicitation_sep1330_enums: async () => {
    const properties = {
      untitledSingle: { type: "string", enum: choices },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: choices } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    };
    const requestedSchema = { type: "object", properties, required: [] };
    return elicited(await ask("elicitation/create", { message: "Which?", requestedSchema }));
  },
  json_schema_2020_12_tool: () => [text("ok")],
};

const string = { type: "string" };
const SCHEMAS = {
  test_sampling: { properties: { prompt: string }, required: ["prompt"] },
  test_elicitation: { properties: { message: string }, required: ["message"] },
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: { address: { type: "object", properties: { street: string, city: string } } },
    properties: { name: string, address: { $ref: "#/$defs/address" } },
    additionalProperties: false,
  },
};

async function callTool({ name, arguments: args = {}, _meta = {} }) {
  const run = TOOLS[name];
  if (run === undefined) throw Object.assign(new Error(`unknown tool ${name}`), { code: -32602 });
  try {
    return { content: await run(args, _meta.progressToken) };
  } catch (error) {
    return { isError: true, content: [text(error.message)] };
  }
}

function readResource({ uri }) {
  const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  const known = {
    "test://static-text": {
      mimeType: "text/plain",
      text: "This is the content of the static text resource.",
    },
    "test://static-binary": { mimeType: "image/png", blob: PIXEL },
    "test://watched-resource": { mimeType: "text/plain", text: "watched" },
    ...(id === undefined ? {} : { [uri]: { mimeType: "application/json", text: JSON.stringify(data) } }),
  }[uri];
  if (known === undefined) throw Object.assign(new Error(`no resource ${uri}`), { code: -32002 });
  return { contents: [{ uri, ...known }] };
}

const user = (content) => ({ role: "user", content });
const PROMPTS = {
  test_simple_prompt: () => [user(text("This is a simple prompt for testing."))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
    user(text("Please process the embedded resource above.")),
  ],
  test_prompt_with_image: () => [user(image), user(text("Please analyze the image above."))],
};
const ARGUMENTS = {
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      logging: {},
      completions: {},
    },
    serverInfo: { name: "conformance-server", version: "1.0.0" },
  }),
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "completion/complete": () => ({ completion: { values: ["paris", "park"], total: 2, hasMore: false } }),
  "tools/list": () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      description: `Tests ${name}.`,
      inputSchema: { type: "object", properties: {}, ...SCHEMAS[name] },
    })),
  }),
  "tools/call": callTool,
  "resources/list": () => ({
    resources: ["static-text", "static-binary", "watched-resource"].map((name) => ({
      uri: `test://${name}`,
      name,
      description: `The ${name}.`,
      mimeType: "text/plain",
    })),
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [
      { uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" },
    ],
  }),
  "resources/read": readResource,
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "prompts/list": () => ({
    prompts: Object.keys(PROMPTS).map((name) => ({
      name,
      description: `Tests ${name}.`,
      arguments: (ARGUMENTS[name] ?? []).map((argument) => ({ name: argument, required: true })),
    })),
  }),
  "prompts/get": ({ name, arguments: args = {} }) => ({ messages: PROMPTS[name](args) }),
};

async function answer({ id, method, params = {} }) {
  const handle = METHODS[method];
  if (handle === undefined) return send({ id, error: { code: -32601, message: `no ${method}` } });
  try {
    send({ id, result: await handle(params) });
  } catch (error) {
    send({ id, error: { code: error.code ?? -32603, message: error.message } });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  const waiter = message.method === undefined ? asked.get(message.id) : undefined;
  if (waiter !== undefined) {
    if (message.error === undefined) waiter.resolve(message.result);
    else waiter.reject(new Error(message.error.message));
  } else if (message.id !== undefined && message.method !== undefined) answer(message).catch(() => {});
});
