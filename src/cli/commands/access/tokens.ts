import { allOf } from "../../../engine/index.ts";
import { isScope, SCOPES, type Scope, type Token, Tokens } from "../../../http/auth/index.ts";
import { CountersignError, type JsonObject } from "../../../protocol/index.ts";
import { type Command, type GivenFlags, LEDGER_FLAG } from "../../command.ts";
import { printList } from "../../display/print-list.ts";
import { absoluteTime, parseDuration } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { localPrincipal, withEngine } from "../../wiring.ts";

const USUAL_SCOPES = "run,read,decide";
const AGENT_SCOPES = "run,read";
const USUAL_LIFE = "90d";

export const tokensCreate: Command = {
  usage: "--user NAME [--kind agent] [--roles A,B] [--scopes A,B] [--expires AGE] [--label TEXT]",
  about:
    "Anyone who has the token acts as that user on all servers of this ledger, with these roles and scopes: run (talk to " +
    "agents), read, decide (answer confirmations that the user may decide), propose (ask for calls that the program runs " +
    "itself), act-as (act for other users), metrics (read /metrics), admin (see all users' sessions and the audit journal). Only a hash of the token is stored. Browsers log in with it at /auth/login.",
  flags: {
    user: { type: "string", value: "NAME", help: "the user it belongs to (required)" },
    kind: { type: "string", value: "KIND", help: "person, or agent, which may never decide (person)" },
    roles: { type: "string", value: "A,B", help: "the user's roles, as approver rules name them" },
    scopes: {
      type: "string",
      value: "A,B",
      help: `what it allows (${USUAL_SCOPES}; for an agent ${AGENT_SCOPES})`,
    },
    expires: { type: "string", value: "AGE", help: `for example 12h or 30d, or never (${USUAL_LIFE})` },
    label: { type: "string", value: "TEXT", help: "a note for the list" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "tokens create --user ana --roles finance", says: "for a person" },
    { line: "tokens create --user planner --kind agent", says: "for an agent, which may never decide" },
    {
      line: "tokens create --user ci --scopes run,act-as --expires 12h",
      says: "for a program",
    },
  ],
  run(invocation) {
    const { flags, output } = invocation;
    const user = flags.text("user");
    if (user === undefined) throw malformed("user", "`tokens create` needs --user NAME.");
    const kind = kindOf(flags.text("kind") ?? "person");
    const label = flags.text("label");
    const expiresAt = expiryOf(flags.text("expires") ?? USUAL_LIFE);
    const wanted = {
      user,
      kind,
      roles: wordsOf(flags, "roles"),
      scopes: scopesOf(wordsOf(flags, "scopes", kind === "agent" ? AGENT_SCOPES : USUAL_SCOPES)),
      createdBy: localPrincipal().id,
      ...(label === undefined ? {} : { label }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    return withEngine(invocation, async ({ ledger }) => {
      const { token, secret } = await new Tokens(ledger.items).create(wanted);
      if (flags.has("json")) {
        output.json({ ...toJson(token), token: secret });
        return EXIT.ok;
      }
      output.line(describe(output, token));
      output.line("The token is shown only once:");
      output.line();
      output.line(secret);
      return EXIT.ok;
    });
  },
};

export const tokensList: Command = {
  usage: "",
  about: "Lists tokens that have not expired, including revoked ones. The last use is exact to the day.",
  flags: LEDGER_FLAG,
  examples: [{ line: "tokens list --json", says: "as JSON" }],
  run(invocation) {
    return withEngine(invocation, async ({ ledger }) => {
      const tokens = new Tokens(ledger.items);
      const all = await allOf((page) => tokens.list(page));
      return printList(invocation, all, { none: "There are no tokens.", toJson, describe });
    });
  },
};

export const tokensRevoke: Command = {
  usage: "<id>",
  about: "<id> is the id that `tokens list` prints, or the whole token. Revoking twice is harmless.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "tokens revoke 4f1c2a9b8d7e6f50", says: "the next request with it is refused" }],
  run(invocation) {
    const [given = ""] = invocation.words;
    const [, id = given] = /^cst_([0-9a-f]{16})/.exec(given) ?? [];
    const { flags, output } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const token = await new Tokens(ledger.items).revoke(id, localPrincipal().id);
      if (token === undefined)
        throw malformed("id", `There is no token "${id}". \`countersign tokens list\` lists them.`);
      if (flags.has("json")) output.json(toJson(token));
      else output.line(describe(output, token));
      return EXIT.ok;
    });
  },
};

function wordsOf(flags: GivenFlags, name: string, usual = ""): readonly string[] {
  const words = (flags.text(name) ?? usual).split(",").map((word) => word.trim());
  return words.filter((word) => word !== "");
}

function kindOf(text: string): Token["kind"] {
  if (text === "agent") return "agent";
  if (text === "person") return "token";
  throw malformed("kind", `Invalid --kind "${text}". Use person or agent.`);
}

function scopesOf(words: readonly string[]): readonly Scope[] {
  const stranger = words.find((word) => !isScope(word));
  if (stranger === undefined) return words.filter(isScope);
  throw malformed("scopes", `Unknown scope "${stranger}" in --scopes. The scopes are ${SCOPES.join(", ")}.`);
}

function expiryOf(text: string): number | undefined {
  return text === "never" ? undefined : Date.now() + parseDuration(text, "expires");
}

function describe(output: Output, token: Token): string {
  const { id, user, kind, roles, scopes, label, expiresAt, revokedAt, lastUsedDay } = token;
  const state =
    revokedAt === undefined
      ? expiresAt === undefined
        ? "does not expire"
        : `until ${absoluteTime(expiresAt)}`
      : `revoked ${absoluteTime(revokedAt)}`;
  const facts = [
    ...(kind === "agent" ? ["agent"] : []),
    `scopes ${scopes.join(" ")}`,
    ...(roles.length === 0 ? [] : [`roles ${roles.map((role) => inert(role)).join(" ")}`]),
    state,
    ...(lastUsedDay === undefined ? [] : [`used ${absoluteTime(lastUsedDay).slice(0, 10)}`]),
    ...(label === undefined ? [] : [inert(label)]),
  ];
  return `${output.style("yellow", id)}  ${output.style("bold", inert(user))}  ${facts.join(", ")}`;
}

function toJson({ createdAt, expiresAt, revokedAt, lastUsedDay, ...token }: Token): JsonObject {
  return {
    ...token,
    ...iso("createdAt", createdAt),
    ...iso("expiresAt", expiresAt),
    ...iso("revokedAt", revokedAt),
    ...(lastUsedDay === undefined ? {} : { lastUsedDay: new Date(lastUsedDay).toISOString().slice(0, 10) }),
  };
}

function iso(name: string, at: number | undefined): JsonObject {
  return at === undefined ? {} : { [name]: new Date(at).toISOString() };
}

function malformed(field: string, message: string): CountersignError {
  return new CountersignError("malformed-request", message, { details: { field } });
}
