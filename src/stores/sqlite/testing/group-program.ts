// Commits to some sessions at once, again and again, and says what was acknowledged.
import { writeSync } from "node:fs";
import { openSqliteStore } from "../open.ts";
import { buildCommit } from "./build-commit.ts";

const SESSIONS = ["a", "b", "c", "d", "e", "f", "g", "h"];

const [path = ""] = process.argv.slice(2);
const store = await openSqliteStore({ path });
for (let n = 1; ; n += 1) {
  const outcomes = await Promise.all(
    SESSIONS.map(async (key) => {
      const { ok } = await store.commit(buildCommit(key, n, { sync: true }));
      // Each by itself: what is acknowledged must be there, also where the process ends before the next one is.
      if (ok) writeSync(1, `${JSON.stringify({ type: "acknowledged", key, n })}\n`);
      return ok;
    }),
  );
  if (!outcomes.every(Boolean)) throw new Error(`A commit of round ${n} was refused.`);
}
