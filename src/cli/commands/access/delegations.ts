import type { Delegated, NewDelegation } from "../../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../../protocol/index.ts";
import { BREAK_GLASS_FLAG, operatorHere } from "../../acting-here.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { printList } from "../../display/print-list.ts";
import { parseDuration } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { withEngine } from "../../wiring.ts";

export const delegationsAdd: Command = {
  usage: "--from NAME --to NAME --for AGE [--apps A,B] [--tools A,B]",
  about:
    "--to may then vote wherever a rule names --from. Both count as one person: their approvals count once, and if one " +
    "of them asked and requesters may not approve, neither may approve. Roles are not passed on, and neither is what others delegated to --from. On a " +
    "ledger with a login this needs --break-glass; people make their own delegations with POST /v1/delegations.",
  flags: {
    from: { type: "string", value: "NAME", help: "who is away (required)" },
    to: { type: "string", value: "NAME", help: "who votes for them (required)" },
    for: { type: "string", value: "AGE", help: "how long, for example 8h or 14d (required)" },
    apps: { type: "string", value: "A,B", help: "only for these apps; * and ? are wildcards" },
    tools: { type: "string", value: "A,B", help: "only for these tools; * and ? are wildcards" },
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "delegations add --from ana --to bob --for 14d", says: "bob votes for ana for two weeks" },
    { line: "delegations add --from ana --to bob --for 8h --tools 'pay*'", says: "only on payments" },
  ],
  run(invocation) {
    const { flags, output } = invocation;
    const [from, to, age] = [flags.text("from"), flags.text("to"), flags.text("for")];
    if (from === undefined || to === undefined || age === undefined)
      throw new CountersignError("malformed-request", "`delegations add` needs --from, --to and --for.");
    return withEngine(invocation, async (engine) => {
      const until = engine.ledger.now + parseDuration(age, "for");
      const wanted = { from, to, until, ...scopeOf(invocation) };
      const made = await engine.delegate(wanted, await operatorHere(engine, invocation, INSTEAD));
      if (flags.has("json")) output.json(toJson(made));
      else output.line(describe(output, made));
      return EXIT.ok;
    });
  },
};

export const delegationsList: Command = {
  usage: "",
  about: "Lists the delegations in force. Those that have ended or were revoked are in the journal.",
  flags: LEDGER_FLAG,
  examples: [{ line: "delegations list --json", says: "as JSON" }],
  run(invocation) {
    return withEngine(invocation, async (engine) =>
      printList(invocation, await engine.delegations(), {
        none: "There are no delegations.",
        toJson,
        describe,
      }),
    );
  },
};

export const delegationsRevoke: Command = {
  usage: "<id>",
  about: "<id> is the id that `delegations list` prints. What has already started is not stopped.",
  words: { names: ["<id>"] },
  flags: { ...BREAK_GLASS_FLAG, ...LEDGER_FLAG },
  examples: [
    { line: "delegations revoke 0199f3c2", says: "takes effect on every server with the next commit" },
  ],
  run(invocation) {
    const [id = ""] = invocation.words;
    const { flags, output } = invocation;
    return withEngine(invocation, async (engine) => {
      const revoked = await engine.revokeDelegation(id, await operatorHere(engine, invocation, INSTEAD));
      if (flags.has("json")) output.json(toJson(revoked));
      else output.line(`Revoked: ${describe(output, revoked)}`);
      return EXIT.ok;
    });
  },
};

const INSTEAD = " and delegate for themselves";

function scopeOf({ flags }: Invocation): Pick<NewDelegation, "scope"> {
  const words = (name: string): readonly string[] =>
    (flags.text(name) ?? "").split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
  const [app, tool] = [words("apps"), words("tools")];
  if (app.length === 0 && tool.length === 0) return {};
  return { scope: { ...(app.length === 0 ? {} : { app }), ...(tool.length === 0 ? {} : { tool }) } };
}

function describe(output: Output, { id, from, to, until, scope }: Delegated): string {
  const { app = [], tool = [] } = scope ?? {};
  const limits = [
    ...(app.length === 0 ? [] : [`apps ${app.map((one) => inert(one)).join(" ")}`]),
    ...(tool.length === 0 ? [] : [`tools ${tool.map((one) => inert(one)).join(" ")}`]),
  ];
  const where = limits.length === 0 ? "" : `, ${limits.join(", ")}`;
  return `${output.style("yellow", id)}  ${inert(to)} votes for ${inert(from)} until ${until}${where}`;
}

function toJson(one: Delegated): JsonObject {
  return { ...one } as unknown as JsonObject;
}
