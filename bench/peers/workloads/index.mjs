// The workloads by name; each adds its results under keys of its own.
import { cycles } from "./cycles.mjs";
import { growth } from "./growth.mjs";
import { memory } from "./memory.mjs";
import { safety } from "./safety.mjs";
import { ungated } from "./ungated.mjs";

export const WORKLOADS = {
  memory: async (bench) => ({ memory: await cycles(bench, "memory") }),
  sqlite: (bench) => inFlights(bench, "sqlite"),
  postgres: (bench) => inFlights(bench, "postgres"),
  growth: async (bench) => ({ growth: await growth(bench) }),
  safety: async (bench) => ({ safety: await safety(bench) }),
  ungated: async (bench) => ({ ungated: await ungated(bench) }),
  paused: async (bench) => ({ paused: await memory(bench) }),
};

async function inFlights(bench, store) {
  const found = {};
  for (const inFlight of [1, 8, 64]) found[`${store}${inFlight}`] = await cycles(bench, store, inFlight);
  return found;
}
