#!/usr/bin/env node
import { start } from "./start.mjs";

// A clone that nobody has built yet still has what it would be built from.
const unbuilt = (error) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND" || !String(error.url).endsWith("/dist/cli/main.js")) throw error;
  return import("../scripts/from-source.mjs").then(({ load }) => load());
};
start(
  () => import("../dist/cli/main.js").catch(unbuilt),
  "Install a newer one from https://nodejs.org and try again.",
);
