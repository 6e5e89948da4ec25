import type { Ledger } from "../../engine/index.ts";
import { type Login, Logins } from "../../http/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { absoluteTime } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { inert, type Output } from "../output.ts";
import { withEngine } from "../wiring.ts";

export const loginsList: Command = {
  name: "logins list",
  summary: "the browsers that are logged in to servers of a ledger",
  usage: "",
  about: "Lists logins that have not ended, with the token that each was made with. Secrets are not kept.",
  flags: LEDGER_FLAG,
  examples: [{ line: "logins list --json", says: "for a program" }],
  run(invocation) {
    const { flags, output } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const logins = await allOf(ledger);
      if (flags.has("json")) output.json({ items: logins.map(toJson) });
      else if (logins.length === 0) output.line("Nobody is logged in.");
      else for (const login of logins) output.line(describe(output, login));
      return EXIT.ok;
    });
  },
};

export const loginsRevoke: Command = {
  name: "logins revoke",
  summary: "log one browser out, on every server of a ledger",
  usage: "<id>",
  about:
    "<id> is what `logins list` prints. The browser's next request is refused; a live feed that is open ends within a " +
    "minute. Whoever has a token can log in again: revoke that with `tokens revoke`, which ends its logins too.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "logins revoke 4f1c2a9b8d7e6f50", says: "from the next request on it is over" }],
  run(invocation) {
    const [id = ""] = invocation.words;
    const { flags, output } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const login = await new Logins(ledger).revoke(id);
      if (login === undefined) {
        const message = `There is no login "${id}"; \`countersign logins list\` lists them.`;
        throw new CountersignError("malformed-request", message, { details: { field: "id" } });
      }
      if (flags.has("json")) output.json(toJson(login));
      else output.line(`Ended: ${describe(output, login)}`);
      return EXIT.ok;
    });
  },
};

async function allOf(ledger: Ledger): Promise<readonly Login[]> {
  const logins = new Logins(ledger);
  const found: Login[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await logins.list(cursor === undefined ? {} : { cursor });
    found.push(...page.items);
    if (page.next === undefined) return found;
    cursor = page.next;
  }
}

function describe(output: Output, { id, user, kind, token, createdAt, expiresAt }: Login): string {
  const facts = [
    token === undefined ? kind : `by the token ${token}`,
    `since ${absoluteTime(createdAt)}`,
    `until ${absoluteTime(expiresAt)} if it is not used`,
  ];
  return `${output.style("yellow", id)}  ${output.style("bold", inert(user))}  ${facts.join(", ")}`;
}

function toJson({ createdAt, expiresAt, ...login }: Login): JsonObject {
  return {
    ...login,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
