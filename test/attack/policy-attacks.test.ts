import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const QUORUM = "src/engine/decisions/quorum.test.ts";
const DELEGATIONS = "src/engine/delegations/delegations.test.ts";
const GRANTS = "src/engine/grants/grants.test.ts";
const FORGED = "src/engine/grants/forged-grants.test.ts";
const SHARED = "src/engine/grants/shared-grants.test.ts";
const FILE = "src/policy/load.test.ts";
const GATE = "src/policy/gate.test.ts";
const CONDITIONS = "src/policy/conditions/expression.test.ts";
const ANNOUNCE = "src/engine/questions/announce.test.ts";

/** Ways around votes, delegations, grants and rules, each with the tests that show that it is none. */
const ATTACKS: { readonly [attack: string]: readonly (readonly [file: string, title: string])[] } = {
  "one person votes by two logins": [
    [QUORUM, "one person's second approval is the first one again, whichever login it comes by"],
    [QUORUM, "the requester's other login is the requester"],
    ["src/engine/people/tally.test.ts", "stored approvals by two logins of one person"],
    ["src/engine/people/tally.test.ts", "a call starts only with enough approvals of different persons"],
  ],
  "delegate and delegator both vote": [
    [DELEGATIONS, "who voted for the delegator has one vote with them: neither votes a second time"],
    [DELEGATIONS, "has no second place for a delegator who has voted"],
    [DELEGATIONS, "and the delegator approve once: after %s, %s is one approval too many"],
    ["test/model/delegated-votes.ts", "are one person"],
  ],
  "the requester's delegate approves": [
    [DELEGATIONS, "of the requester is the requester: they approve nothing, and can deny"],
    [DELEGATIONS, "of the requester does not approve by another login, by a role, or after an escalation"],
    [
      "src/engine/decisions/settle-rights.test.ts",
      "as the requester: whoever has their delegation settles nothing",
    ],
    ["test/model/delegated-votes.ts", "and the requester"],
    [
      DELEGATIONS,
      "of the requester never votes for the requester, nor does whoever delegated to the requester",
    ],
  ],
  "a requester silences those who would deny, by delegating to them": [
    [DELEGATIONS, "of the requester is the requester: they approve nothing, and can deny"],
    [DELEGATIONS, "silences nobody: delegator and delegate deny each for themselves"],
  ],
  "a delegation is passed on": [
    [DELEGATIONS, "does not pass on what was delegated to them: there are no chains"],
  ],
  "a vote after the delegation was revoked": [
    [DELEGATIONS, "revoked while the vote is being committed: the vote is refused"],
    [DELEGATIONS, "a new delegation does not revive the vote"],
  ],
  "a delegation made or revived in the database": [
    [DELEGATIONS, "one made or changed in the database gives no vote, where there is a secret"],
    [DELEGATIONS, "a copy of one under another id is none: it would outlive the revocation"],
    [DELEGATIONS, "a restored ledger has none: one that was revoked since the backup would stand again"],
  ],
  "the quorum is lowered in the database": [
    [QUORUM, "a question with %s takes no vote, neither the first nor a later one"],
    ["src/engine/questions/decision-mac.test.ts", "a question with %s has another signature"],
  ],
  "a changed tool lowers what a waiting question requires": [
    ["src/engine/questions/ask-again.test.ts", "a tool that changed does not lower what was required"],
    ["src/runtime/calls/gated-calls.test.ts", "whoever a rule required still has to approve"],
  ],
  "a vote is added in the database": [
    [QUORUM, "%s makes no quorum"],
    [QUORUM, "a vote added to an open question keeps everybody from deciding it"],
    [
      ANNOUNCE,
      "a vote dated before the escalation does not count, even if somebody writes it into the database",
    ],
  ],
  "a vote on old arguments, then an amendment": [
    [QUORUM, "drops the other votes, and asks anew about what would run"],
    ["src/engine/decisions/quorum-terms.test.ts", "to what a rule denies is refused at once"],
  ],
  "a vote by a role that has lapsed": [
    [QUORUM, "a role from a login lapses as a vote; a name on the list does not"],
  ],
  "a vote of an approver who was removed": [
    [QUORUM, "an approver removed from the group's list no longer counts"],
    [QUORUM, "counts again: an approver who left meanwhile stops the call"],
  ],
  "an approval against a deny": [
    [GATE, "an approval does not get past a deny of the same file"],
    [GATE, "a deny at the start stops an approved call"],
  ],
  "a vote at the deadline": [[QUORUM, "a vote at the deadline is late, and expires the question"]],
  "a clock that is ahead escalates early": [
    [ANNOUNCE, "a process whose clock is ahead escalates nothing early"],
    [ANNOUNCE, "whoever it escalates to may decide from that time on, whether or not a worker wrote it"],
    ["src/engine/people/tally.test.ts", "those may who are named or whom an escalation names by then"],
  ],
  "an agent or a provider votes": [
    [QUORUM, "an agent, a provider and the author's own code never vote, whatever they are called"],
    [DELEGATIONS, "that is an agent, a provider or a service acting for somebody does not vote"],
  ],
  "a wrong type gets around a deny": [
    [GATE, "a wrong type does not get past a deny"],
    [GATE, "a wrong type does not get past a confirm"],
    [CONDITIONS, "with a value that does not fit is an error, not false"],
    ["src/policy/rule-verdict.test.ts", "is no number: what restricts applies, what allows does not"],
  ],
  "a pattern that takes forever": [
    [CONDITIONS, "a pattern that would hang a backtracking engine is judged at once"],
    ["src/policy/rule-index.test.ts", "a pattern with many stars is compared in bounded time"],
  ],
  "loops in loops": [
    [CONDITIONS, "loops may be at most two deep"],
    [CONDITIONS, "loops inside loops end: all of them together go through a limited number of items"],
  ],
  "negative, missing, NaN and 1e308 amounts against a budget": [
    [GRANTS, "does not cover an amount that is %s"],
    [
      "src/engine/grants/amount.test.ts",
      "sums of cents are exact, whatever the order, and survive being stored",
    ],
  ],
  "a grant used by another agent, for another definition, by another requester": [
    [GRANTS, '"another agent"'],
    [GRANTS, '"a changed tool"'],
    [GRANTS, '"another requester"'],
  ],
  "a grant used in another session": [
    [GRANTS, "another session, or another tool"],
    [FORGED, "a grant of a session that is copied to another session is not used there"],
    [SHARED, "an approver who names no scope grants for the session"],
    [SHARED, "nobody may grant further than the rules allow, or somewhere else"],
  ],
  "a grant for all sessions used in another app, for another tool or for somebody else": [
    [SHARED, "another app, another tool, or somebody else with the same agent"],
    [SHARED, "calls after the rules narrowed it to sessions"],
  ],
  "a grant for all sessions lets run what a person is asked about in another session": [
    [SHARED, "on which a person has to decide, in another session"],
  ],
  "a grant for all sessions that was copied, prolonged or refilled in the database": [
    [FORGED, "is none with a later expiry"],
    [FORGED, "is none with its value from before a use"],
    [FORGED, "is not kept by a copy under another id, nor by one in a document"],
  ],
  "a grant that was made or refilled in the database": [
    [FORGED, "a grant with %s is not used"],
    [FORGED, "a call that a grant let run does not start if the grant was changed since"],
  ],
  "a grant minted by the requester": [
    [GRANTS, "the requester, where a rule says that they may not approve, grants nothing"],
  ],
  "a revocation raced by uses": [
    [GRANTS, "of sixteen uses and a revocation at once, no use is after the revocation"],
    [GRANTS, "a call that was allowed and has not started does not start"],
    [SHARED, "what is revoked between the look and the commit does not start"],
    ["test/race/grants.test.ts", "of uses in sessions of their own on three processes and a revocation"],
  ],
  "a crash after a use": [
    ["src/engine/grants/crash.test.ts", "a process dies %s the commit that uses a grant"],
    ["test/crash/rights.test.ts", "it is there or not, and the next process does the rest once"],
    [
      "test/race/grants.test.ts",
      "a process that is killed at any moment leaves a grant that is not overspent",
    ],
  ],
  "parallel calls overspend a grant": [
    ["test/race/grants.test.ts", "calls in parallel on three processes never spend more than was granted"],
  ],
  "a backup refills a grant": [[GRANTS, "a restored ledger has no grants left"]],
  "the policy file is swapped under a running process": [
    [
      "src/cli/policy/open-policy.test.ts",
      "a changed file judges from then on, and one that is the same does not",
    ],
    ["src/cli/policy/open-policy.test.ts", "a file that is %s keeps the rules of before, and says so"],
    ["src/cli/policy/open-policy.test.ts", "a file that is still being written is not used"],
    [GATE, "a file that is replaced judges what was asked before"],
  ],
  "a group contains itself": [[FILE, "groups.a contains itself: a, b, a"]],
  "a map in the place of a list hides its items from a rule": [
    [CONDITIONS, "with a value that does not fit is an error, not false"],
    [CONDITIONS, `["args.items.exists(i, i == 'b')", { items: { 0: "b" } }]`],
  ],
  "a tool's prefix, or its server's place, hides the server from a rule": [
    ["test/e2e/mcp/server-rules.test.ts", "denies its tools in the gateway"],
    ["test/e2e/mcp/server-rules.test.ts", "denies the tools of its toolset with the prefix %j"],
    [GATE, "a rule names a server by its name, and people are shown where it is: %s"],
  ],
  "a pattern for names matches more or less than it says": [
    ["src/policy/rule-index.test.ts", "the pattern %j and the tool %j: %s"],
    ["src/policy/rule-index.test.ts", "is refused, not misread"],
    ["src/policy/rule-index.test.ts", "names that are joined the same way are told apart"],
  ],
};

test.each(Object.entries(ATTACKS))("%s: is tried", (_, tests) => {
  expect(tests.length).toBeGreaterThan(0);
  for (const [file, title] of tests) {
    const text = readFileSync(new URL(file, ROOT), "utf8");
    expect(text, file).toContain(title);
    // A test that does not run proves nothing.
    expect(text, file).not.toMatch(/\b(test|describe|it)\.(skip|todo|only|skipIf|runIf)\b/);
  }
});
