// Not bundled: a process of the suite with the lowest versions of the frameworks.
import { registerHooks } from "node:module";
import { FOLDER, isLowest } from "./packages.ts";

const parentURL = new URL("package.json", FOLDER).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, isLowest(specifier, context.parentURL) ? { ...context, parentURL } : context),
});

await import("../adapter.program.ts");
