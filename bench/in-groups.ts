import { oneApproval } from "../src/engine/index.ts";
import { viewersOf } from "../src/engine/people/index.ts";
import { FULL } from "../test/support/ledger/full-session.ts";

/** As whom somebody in 20 groups looks: some have few questions, one has a quarter of them, one all. */
export const IN_GROUPS: readonly string[] = viewersOf({
  requirements: oneApproval("requester"),
  requesters: [FULL.busyUser, ...Array.from({ length: 18 }, (_, n) => `user-${n}`)],
});
