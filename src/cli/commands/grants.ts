import { allOf, type Grant } from "../../engine/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { absoluteTime } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { inert, type Output } from "../output.ts";
import { localPrincipal, VIA, withEngine } from "../wiring.ts";

const PAGE = 200;

export const grantsList: Command = {
  usage: "",
  about:
    "Lists the active grants: which agent may call which tool, in which sessions, how often and until when, how " +
    "much is used, and who gave it.",
  flags: LEDGER_FLAG,
  examples: [
    { line: "grants list", says: "all active grants" },
    { line: "grants list --json", says: "the same, as JSON" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    return withEngine(invocation, async (engine) => {
      const by = localPrincipal();
      const items = await allOf((page) => engine.grants({ by, ...page }), PAGE);
      if (flags.has("json")) output.json({ items });
      else printAll(output, items);
      return EXIT.ok;
    });
  },
};

export const grantsRevoke: Command = {
  usage: "<id> [--reason TEXT]",
  about:
    "<id> is the id that `grants list` prints. No later call runs under the grant, on any server. A call that has started is " +
    "not stopped. Revoking twice is harmless. It is recorded.",
  words: { names: ["<id>"] },
  flags: {
    reason: { type: "string", value: "TEXT", help: "recorded with it" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "grants revoke 01kdvdna00mr4b3y6tv1m675hw.grant-01kdvdnb", says: "people are asked again" },
  ],
  run(invocation) {
    const [id = ""] = invocation.words;
    const { output, flags } = invocation;
    return withEngine(invocation, async (engine) => {
      const reason = flags.text("reason");
      const acting = { by: localPrincipal(), via: VIA, ...(reason === undefined ? {} : { reason }) };
      const grant = await engine.revokeGrant(id, acting);
      if (flags.has("json")) output.json(grant);
      else output.line(`Revoked: ${inert(grant.id)}, by ${inert(grant.revoked?.by ?? "")}.`);
      return EXIT.ok;
    });
  },
};

function printAll(output: Output, grants: readonly Grant[]): void {
  if (grants.length === 0) return output.line("There are no grants.");
  for (const grant of grants) printOne(output, grant);
  output.line();
  output.prose("`countersign grants revoke <id>` ends one: people are asked again.");
}

function printOne(output: Output, grant: Grant): void {
  const { id, tool, status, app, agent, session, user, by, uses, limits, spent, refunds, endsAt } = grant;
  output.line(`${output.style("yellow", inert(id))}  ${output.style("bold", inert(tool))}  ${status}`);
  const who = agent === app ? inert(app) : `${inert(app)}, agent ${inert(agent)}`;
  const where = limits.scope === "user" ? "all sessions, given in" : "session";
  output.prose(`${who}, ${where} ${inert(session)}, for ${inert(user)}`, "    ");
  output.prose(`given by ${by.map((name) => inert(name)).join(", ")}`, "    ");
  const sums = Object.entries(limits.sum ?? {}).map(([argument, most]) => {
    const used = Object.hasOwn(spent, argument) ? spent[argument] : "0";
    return `, ${used} of ${most} in sum of ${inert(argument)}`;
  });
  const back = refunds === undefined ? "" : `; ${refunds} given back, because they did not happen`;
  output.prose(`${uses} of ${limits.count} calls${sums.join("")} used${back}`, "    ");
  for (const condition of limits.where ?? []) output.prose(`only where ${inert(condition)}`, "    ");
  output.prose(`until ${absoluteTime(Date.parse(endsAt))}`, "    ");
}
