// The command straight from TypeScript, as a clone has it; only the inbox has to be built, and is when it is served.

export function load() {
  const [, , command, ...rest] = process.argv;
  const serves =
    (command === "demo" || command === "serve") && !rest.includes("--help") && !rest.includes("-h");
  const prepared = serves
    ? import("./build-web.ts").then(({ ensureWebBuilt }) => ensureWebBuilt())
    : Promise.resolve();
  return prepared.then(() => import("../src/cli/main.ts"));
}
