// The AI SDK with an fsync per commit (synchronous=FULL) and on SQLite only: what its users' one row costs where a
// decision must survive a power cut, as ours does.
import * as aisdk from "./aisdk.mjs";
export const meta = { ...aisdk.meta, name: "aisdk-synced", stores: ["sqlite"], skip: ["growth", "safety"] };
export const open = (env) => aisdk.open({ ...env, full: true });
