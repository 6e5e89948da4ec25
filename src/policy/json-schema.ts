import type { JsonObject } from "../protocol/index.ts";
import { OUTCOMES, type TEST_MEMBERS } from "./policy-tests.ts";
import type { POLICY_MEMBERS } from "./read-policy.ts";
import { ANNOTATIONS, ID, type MATCH_MEMBERS, type RULE_MEMBERS } from "./read-rule.ts";

type Named<Name extends string> = { readonly [name in Name]: JsonObject };

const text = (description: string): JsonObject => ({ type: "string", minLength: 1, description });
const texts = (description: string): JsonObject => ({
  type: "array",
  items: { type: "string", minLength: 1 },
  description,
});
const time = (description: string): JsonObject => ({
  type: "string",
  pattern: "^[1-9][0-9]{0,5}[smhdw]$",
  description,
  examples: ["90s", "4h", "30d"],
});
const count = (description: string): JsonObject => ({ type: "integer", minimum: 1, description });

const glob: JsonObject = { type: "string", minLength: 1, pattern: "^[^\\[\\]{}\\\\!][^\\[\\]{}\\\\]*$" };
const globs = (description: string): JsonObject => ({
  anyOf: [glob, { type: "array", items: glob, minItems: 1 }],
  description: `${description}. * is any number of characters, ? is one.`,
});

const condition = (description: string): JsonObject => ({
  anyOf: [{ type: "string", minLength: 1, maxLength: 4000 }, { type: "boolean" }],
  description: `${description} A CEL expression over args, tool, user, agent, app, state and time.`,
});

const people = (description: string): JsonObject =>
  text(`${description} A group of this file, role:NAME, user:NAME or requester.`);

function object<Name extends string>(
  members: Named<Name>,
  required: readonly NoInfer<Name>[],
  more: JsonObject = {},
): JsonObject {
  return {
    type: "object",
    properties: members,
    required: [...required],
    additionalProperties: false,
    ...more,
  };
}

const annotations = object(
  Object.fromEntries(Object.keys(ANNOTATIONS).map((name) => [name, { type: "boolean" }])),
  [],
  {
    description:
      "What the tool's MCP server says about it. If the server says nothing, MCP's defaults apply.",
  },
);

const match: Named<(typeof MATCH_MEMBERS)[number]> = {
  tool: globs("Names of tools"),
  app: globs("Names of apps"),
  agent: globs("Names of agents"),
  user: globs("Ids of users"),
  mcpServer: globs("Names of MCP servers"),
  annotations,
};

const rule: Named<(typeof RULE_MEMBERS)[number]> = {
  id: { type: "string", pattern: ID.source, description: "The rule's name. It must be unique in the file." },
  reason: text("Why there is this rule; shown to people, and to the model if it denies."),
  match: object(match, [], { description: "Which calls the rule is about. Default: all." }),
  when: condition(
    "The rule applies if this is true. If it cannot be evaluated, deny and confirm rules apply, allow rules do not.",
  ),
  unless: condition("The rule does not apply if this is true."),
  // oxlint-disable-next-line unicorn/no-thenable -- a member of the file, not a promise
  then: { enum: [...OUTCOMES], description: "What the rule says. The strictest of all rules counts." },
  mode: { enum: ["enforce", "observe"], description: "observe: only record what the rule would have said." },
  hint: text(
    "The question on the card. {{args.NAME}}, {{user}}, {{agent}}, {{app}} and {{tool}} are filled in.",
  ),
  require: {
    type: "array",
    description: "Who must approve: every entry must be met.",
    items: object(
      { from: people("Who may approve."), count: count("How many different people of them. Default: 1.") },
      ["from"],
    ),
  },
  notRequester: { type: "boolean", description: "Nobody who asked for the call may approve it." },
  denials: count("How many denials are needed to deny. Default: 1."),
  expires: time("How long the question stays open."),
  remind: {
    anyOf: [time("After this long."), { type: "array", items: time("After this long.") }],
    description: "When people are reminded.",
  },
  escalate: {
    type: "array",
    description: "Who may decide too, after how long.",
    items: object({ after: time("After this long."), to: people("These may decide too.") }, ["after", "to"]),
  },
  amendable: texts("Arguments that an approver may change. Never more than the tool's author allows."),
  grants: object(
    {
      longest: time("How long a grant may last."),
      count: count("How many calls it may let run."),
      sum: object(
        {
          arg: text("An argument that is a number."),
          most: {
            type: "number",
            exclusiveMinimum: 0,
            description: "The most that it may add up to over all calls.",
          },
        },
        ["arg", "most"],
      ),
      where: {
        type: "string",
        minLength: 1,
        maxLength: 1000,
        description: "Only for calls of which this is true: a CEL expression over args.",
      },
      scope: {
        enum: ["session", "user"],
        description:
          "Where the calls may be: in this session, or in all sessions of the same requesters with this agent. Default: session.",
      },
    },
    ["longest", "count"],
    {
      description:
        "What an approver may grant beside the approval: further calls of this agent that run without asking. Default: nothing. Every rule that asks must allow it.",
    },
  ),
  byMail: {
    type: "boolean",
    description:
      "Mails have a link that decides without a login, once. Anyone who has the mail can decide. Default: false. Every rule that asks must allow it, and nothing else may ask.",
  },
  notify: texts(
    "The channels that get the question, such as slack or email. Default: all. The channels of all rules that ask count.",
  ),
};

const test: Named<(typeof TEST_MEMBERS)[number]> = {
  tool: text("The tool that is called."),
  args: { type: "object", description: "Its arguments." },
  app: text("Default: app."),
  agent: text("Default: agent."),
  user: text("Default: ana."),
  roles: texts("The user's roles. Default: none."),
  mcpServer: text("The MCP server of the tool."),
  annotations: object(Object.fromEntries(Object.keys(ANNOTATIONS).map((name) => [name, {}])), []),
  state: { type: "object", description: "The session's state." },
  at: { type: "string", format: "date-time", description: "When. Default: a Monday at noon, UTC." },
  expect: {
    enum: [...OUTCOMES],
    description: "What the policy must say. allow: it neither asks nor denies.",
  },
  by: text("The rule that must say so."),
};

const policy: Named<(typeof POLICY_MEMBERS)[number]> = {
  groups: {
    type: "object",
    description: "People by name: ids of users, role:NAME, or group:NAME.",
    additionalProperties: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
  },
  people: {
    type: "object",
    description: "The logins of one person; all of them together have one vote.",
    additionalProperties: { type: "array", items: { type: "string", minLength: 1 } },
  },
  timeZone: text("The zone of time.hour and the others, for example Europe/Berlin. Default: UTC."),
  voteMaxAge: time("How long a role that a login claimed counts for a vote."),
  rules: { type: "array", items: object(rule, ["id", "then"]), maxItems: 10_000 },
  tests: { type: "array", items: object(test, ["tool", "expect"]) },
};

/** The JSON Schema of policy files, for editors. `countersign policy check` finds more. */
export const policySchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Countersign policy",
  ...object(policy, ["rules"]),
};
