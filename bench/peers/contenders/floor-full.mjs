// floor with an fsync per commit (synchronous=FULL), as adk and adk-wal have it: the price of
// that durability on this disk. Only differs in the SQLite workloads.
import * as floor from "./floor.mjs";
export const meta = { ...floor.meta, name: "floor-full", stores: ["sqlite"], skip: ["growth", "safety"] };
export const open = (env) => floor.open({ ...env, full: true });
