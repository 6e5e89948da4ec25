// Rewrites the package.json of this folder so that its production dependencies include the optional peer packages,
// in the versions of the lock file.
import { readFileSync, writeFileSync } from "node:fs";

const { name, version, type, dependencies, devDependencies, peerDependencies } = JSON.parse(
  readFileSync("package.json", "utf8"),
);
const peers = Object.keys(peerDependencies).map((peer) => [peer, devDependencies[peer]]);
const all = { ...dependencies, ...Object.fromEntries(peers) };
writeFileSync("package.json", JSON.stringify({ name, version, type, dependencies: all }, null, 2));
