// ADK with the SQLite file switched to WAL beforehand (ADK itself leaves the
// rollback journal). Same code otherwise; only differs in the SQLite workloads.
import * as adk from "./adk.mjs";
export const meta = {
  ...adk.meta,
  name: "adk-wal",
  stores: ["sqlite"],
  skip: ["growth", "safety", ...adk.meta.skip],
};
export const open = (env) => adk.open({ ...env, wal: true });
