import {
  allHolds,
  type Engine,
  findSessionKey,
  type Hold,
  type HoldTarget,
  type Ledger,
  partsOf,
  placeHold,
  releaseHold,
} from "../../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../../protocol/index.ts";
import { BREAK_GLASS_FLAG, operatorHere } from "../../acting-here.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { printList } from "../../display/print-list.ts";
import { absoluteTime } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { knownPeople, PEOPLE_FLAG, toldLogins } from "../../policy/known-people.ts";
import { withEngine } from "../../wiring.ts";

const REASON_FLAG = {
  reason: { type: "string", value: "TEXT", help: "why; it is journalled (required)" },
} as const;

export const holdAdd: Command = {
  usage: "(--session NAME | --user NAME | --app NAME) --reason TEXT",
  about:
    "While a hold is in force, nothing that it covers is erased: not by `prune`, `retention run` or `erase-person`, and not by " +
    "deleting a session. A hold on a person covers their sessions, and those of others in which they asked or decided; if the " +
    "policy file says which ids are one person (`people`), all of their ids. " +
    "Who placed it and why is journalled.",
  flags: {
    session: { type: "string", value: "NAME", help: "one session: its key, or app/user/id" },
    user: { type: "string", value: "NAME", help: "one person" },
    app: { type: "string", value: "NAME", help: "all sessions of one app" },
    ...REASON_FLAG,
    ...PEOPLE_FLAG,
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "hold add --user ana --reason 'case 2031'", says: "keeps all that ana took part in" },
    { line: "hold add --app payments --reason 'audit of 2026'", says: "keeps all of an app" },
  ],
  run(invocation) {
    const { flags, output } = invocation;
    const reason = reasonOf(invocation);
    const place = async (engine: Engine): Promise<number> => {
      const target = await targetOf(engine.ledger, invocation);
      const acting = await operatorHere(engine, invocation, "");
      const hold = await placeHold(partsOf(engine), { ...target, reason }, acting);
      const { on, name, logins = [name] } = hold;
      if (flags.has("json")) output.json(toJson(hold));
      else {
        output.line(describe(output, hold));
        if (on === "user") output.line(toldLogins(name, logins, invocation));
      }
      return EXIT.ok;
    };
    return withEngine(invocation, place, knownPeople(invocation));
  },
};

export const holdList: Command = {
  usage: "",
  about: "Lists the holds in force. Those that were released are in the journal.",
  flags: LEDGER_FLAG,
  examples: [{ line: "hold list --json", says: "as JSON" }],
  run(invocation) {
    return withEngine(invocation, async ({ ledger }) =>
      printList(invocation, await allHolds(ledger), { none: "There are no holds.", toJson, describe }),
    );
  },
};

export const holdRelease: Command = {
  usage: "<id> --reason TEXT",
  about: "<id> is the id that `hold list` prints. Who released it and why is journalled.",
  words: { names: ["<id>"] },
  flags: { ...REASON_FLAG, ...BREAK_GLASS_FLAG, ...LEDGER_FLAG },
  examples: [{ line: "hold release 0199f3c2 --reason 'case closed'", says: "by the id of the list" }],
  run(invocation) {
    const [id = ""] = invocation.words;
    const { flags, output } = invocation;
    const reason = reasonOf(invocation);
    return withEngine(invocation, async (engine) => {
      const acting = await operatorHere(engine, invocation, "");
      await releaseHold(partsOf(engine), { id, reason }, acting);
      if (flags.has("json")) output.json({ id, released: true });
      else output.line(`Released the hold ${inert(id)}.`);
      return EXIT.ok;
    });
  },
};

function reasonOf({ flags }: Invocation): string {
  const reason = flags.text("reason");
  if (reason !== undefined) return reason;
  throw new CountersignError("malformed-request", "Say why, with --reason TEXT.", {
    details: { field: "reason" },
  });
}

async function targetOf(ledger: Ledger, { flags }: Invocation): Promise<HoldTarget> {
  const given = (["session", "user", "app"] as const).flatMap((on) => {
    const name = flags.text(on);
    return name === undefined ? [] : [{ on, name }];
  });
  const [target] = given;
  if (target === undefined || given.length > 1)
    throw new CountersignError("malformed-request", "Name one of --session, --user and --app.");
  if (target.on !== "session") return target;
  return { on: "session", name: await findSessionKey(ledger, target.name) };
}

function toJson({ logins, ...hold }: Hold): JsonObject {
  return logins === undefined ? hold : { ...hold, logins: [...logins] };
}

function describe(output: Output, { id, on, name, reason, by, since, logins = [] }: Hold): string {
  const others = logins.filter((login) => login !== name).map(inert);
  const what = `${on} ${[inert(name), ...others].join(" = ")}`;
  return `${output.style("yellow", id)}  ${what}  since ${absoluteTime(since)} by ${inert(by)}: ${inert(reason)}`;
}
