// What comes with a release, beside the tag: the package as it is published, the list of what it depends on (a CycloneDX
// SBOM), and from which commit and lock file it was made (an in-toto statement with SLSA provenance, not signed).
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, ROOT } from "./command.ts";

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const DEVELOPMENT = "cdx:npm:package:development";
const BUILD_TYPE = "urn:countersign:npm-run-release:1";
const BUILDER = "urn:countersign:maintainer";

/** Packs what was built into this folder; the path of the tarball. */
export function packInto(folder: string): string {
  mkdirSync(folder, { recursive: true });
  must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder]);
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith(`-${manifest().version}.tgz`));
  if (tarball === undefined) throw new Error("npm pack left no tarball.");
  return join(folder, tarball);
}

/**
 * Writes the SBOM: the packages that an installation gets, in the versions of the lock file. Not what only development
 * needs, and not optional peers, which their users install.
 */
export function writeSbom(file: string): void {
  const args = [
    "--package-lock-only",
    "--workspaces=false",
    "--sbom-format=cyclonedx",
    "--sbom-type=library",
  ];
  const bom = JSON.parse(must("npm", ["sbom", ...args])) as Bom;
  const components = bom.components.filter(({ properties = [] }) => !properties.some(isDevelopment));
  const { component } = bom.metadata;
  const kept = new Set([component, ...components].map((one) => one["bom-ref"]));
  const dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  // npm names it after the folder that it is in.
  const metadata = { ...bom.metadata, component: { ...component, name: manifest().name } };
  writeJson(file, { ...bom, metadata, components, dependencies });
}

/** Writes from what the tarball was made. Whoever builds the same commit with the same Node.js and npm gets the same digest. */
export function writeProvenance(
  file: string,
  made: { readonly tarball: string; readonly commit: string },
): void {
  const { name, version } = manifest();
  writeJson(file, {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: `pkg:npm/${name}@${version}`, digest: { sha512: digestOf(made.tarball, "sha512") } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version, tag: `v${version}` },
        internalParameters: { node: process.version, npm: must("npm", ["--version"]).trim() },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: made.commit } },
          { name: "package-lock.json", digest: { sha256: digestOf(`${ROOT}/package-lock.json`, "sha256") } },
        ],
      },
      runDetails: { builder: { id: BUILDER }, metadata: { finishedOn: new Date().toISOString() } },
    },
  });
}

function isDevelopment({ name, value }: { readonly name: string; readonly value: string }): boolean {
  return name === DEVELOPMENT && value === "true";
}

function manifest(): { readonly name: string; readonly version: string } {
  return JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")) as ReturnType<typeof manifest>;
}

function digestOf(file: string, algorithm: "sha256" | "sha512"): string {
  return createHash(algorithm).update(readFileSync(file)).digest("hex");
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function must(name: string, args: readonly string[]): string {
  const { status, stdout, stderr } = command(name, args);
  if (status !== 0) throw new Error(`${name} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}
