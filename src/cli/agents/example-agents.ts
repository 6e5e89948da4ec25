import { fileURLToPath } from "node:url";

/** The folder of the agents that the demo serves: in a clone the examples, in the package their build. */
export const EXAMPLE_AGENTS: string = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../examples/agents/" : "../../demo/", import.meta.url),
);
