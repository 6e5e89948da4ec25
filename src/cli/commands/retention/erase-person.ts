import { type Engine, erasePerson, type PersonErased, partsOf } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { PERSONAL_ITEMS } from "../../../retention/index.ts";
import { BREAK_GLASS_FLAG, operatorHere } from "../../acting-here.ts";
import { type Command, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { knownPeople, PEOPLE_FLAG, toldLogins } from "../../policy/known-people.ts";
import { Progress } from "../../progress.ts";
import { withEngine } from "../../wiring.ts";

export const erasePersonCommand: Command = {
  usage: "USER [--others]",
  about:
    "Erases the sessions of this user, their tokens, logins, subscriptions, settings and state, and replaces their name with a " +
    "pseudonym in what remains. If the policy file says which ids are one person (`people`), all of them are erased. Sessions in which something waits, runs or is unknown are left and listed; then the exit code " +
    "is 4. It is refused while there is a legal hold on the person. Who did it and when is journalled, with the pseudonym. You cannot undo this.",
  words: { names: ["USER"] },
  flags: {
    others: {
      type: "boolean",
      help: "also erase the finished sessions of others in which the person asked or decided",
    },
    ...PEOPLE_FLAG,
    ...BREAK_GLASS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [{ line: "erase-person ana", says: "erases ana's data, and lists what it could not erase" }],
  run(invocation) {
    const [user = ""] = invocation.words;
    const { flags, output } = invocation;
    if (user === "")
      throw new CountersignError("malformed-request", "`erase-person` needs the name of a user.");
    const erase = async (engine: Engine): Promise<number> => {
      const decider = await operatorHere(engine, invocation, "");
      const progress = new Progress();
      const erased = await erasePerson(partsOf(engine), {
        user,
        decider,
        others: flags.has("others"),
        items: PERSONAL_ITEMS,
        onProgress: (count) => progress.show(`${count} sessions erased …`),
      }).finally(() => progress.end());
      if (flags.has("json")) output.json({ ...erased });
      else {
        print(output, erased);
        output.line(toldLogins(user, erased.logins, invocation));
      }
      return erased.left.length === 0 ? EXIT.ok : EXIT.conflict;
    };
    return withEngine(invocation, erase, knownPeople(invocation));
  },
};

function print(output: Output, { person, sessions, items, named, left }: PersonErased): void {
  output.line(
    `Erased ${sessions} sessions and ${items} settings and credentials; the journal says ${person}.`,
  );
  if (named > 0)
    output.line(`${named} sessions of others name them and were left; --others erases them too.`);
  for (const { session, why } of left) output.prose(`Left: session ${inert(session)}. ${inert(why)}`);
}
