import { allOf } from "../../../engine/index.ts";
import { type Login, Logins } from "../../../http/auth/index.ts";
import { CountersignError, type JsonObject } from "../../../protocol/index.ts";
import { type Command, LEDGER_FLAG } from "../../command.ts";
import { printList } from "../../display/print-list.ts";
import { absoluteTime } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { withEngine } from "../../wiring.ts";

export const loginsList: Command = {
  usage: "",
  about: "Lists active logins, with the token that created each one. Secrets are not stored.",
  flags: LEDGER_FLAG,
  examples: [{ line: "logins list --json", says: "as JSON" }],
  run(invocation) {
    return withEngine(invocation, async ({ ledger }) => {
      const logins = new Logins(ledger.items);
      const all = await allOf((page) => logins.list(page));
      return printList(invocation, all, { none: "Nobody is logged in.", toJson, describe });
    });
  },
};

export const loginsRevoke: Command = {
  usage: "<id>",
  about:
    "<id> is the id that `logins list` prints. The browser's next request is refused; an open live feed ends within a " +
    "minute. A person with a token can log in again. `tokens revoke` revokes the token and all its logins.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "logins revoke 4f1c2a9b8d7e6f50", says: "ends the login at its next request" }],
  run(invocation) {
    const [id = ""] = invocation.words;
    const { flags, output } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const login = await new Logins(ledger.items).revoke(id);
      if (login === undefined) {
        const message = `There is no login "${id}". \`countersign logins list\` lists them.`;
        throw new CountersignError("malformed-request", message, { details: { field: "id" } });
      }
      if (flags.has("json")) output.json(toJson(login));
      else output.line(`Ended: ${describe(output, login)}`);
      return EXIT.ok;
    });
  },
};

function describe(output: Output, { id, user, kind, token, createdAt, expiresAt }: Login): string {
  const facts = [
    token === undefined ? kind : `with token ${token}`,
    `since ${absoluteTime(createdAt)}`,
    `expires ${absoluteTime(expiresAt)} if unused`,
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
