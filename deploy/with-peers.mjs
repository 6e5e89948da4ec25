// Makes the package.json of this folder one whose production packages are all that an image needs: the packages that
// only some users install are there too, in the versions that the lock file names.
import { readFileSync, writeFileSync } from "node:fs";

const { name, version, type, dependencies, devDependencies, peerDependencies } = JSON.parse(
  readFileSync("package.json", "utf8"),
);
const peers = Object.keys(peerDependencies).map((peer) => [peer, devDependencies[peer]]);
const all = { ...dependencies, ...Object.fromEntries(peers) };
writeFileSync("package.json", JSON.stringify({ name, version, type, dependencies: all }, null, 2));
