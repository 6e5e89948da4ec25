import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { command, type Finished, ROOT } from "../../scripts/command.ts";
import { writeSbom } from "../../scripts/release-files.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();

const CHANGELOG =
  "# Changelog\n\nWhat changed.\n\n## Unreleased\n\n- Faster, for $& reasons.\n\n## 0.1.0\n\n- First.\n";
/** `check:package` fails where the file `broken` exists, and notes which version it saw. */
const CHECK =
  "const fs = require('fs'); if (fs.existsSync('.git/broken')) process.exit(3); fs.writeFileSync('.git/checked', require('./package.json').version)";

const NEEDS = { dependencies: { used: "^1.0.0" }, devDependencies: { tool: "^2.0.0" } };
const PACKAGES = {
  "node_modules/used": { version: "1.2.3", license: "MIT", dependencies: { below: "^3.0.0" } },
  "node_modules/below": { version: "3.0.1", license: "ISC" },
  "node_modules/tool": { version: "2.0.0", dev: true, license: "MIT", dependencies: { below: "^3.0.0" } },
};

const USAGE = "release: Give one version: npm run release -- X.Y.Z [--dry-run]\n";
const UNTOUCHED = { tags: "", commits: 1, tree: "", changelog: CHANGELOG, version: "0.1.0" };

interface Bom {
  readonly components: readonly { readonly purl: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

function readHere(name: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, name), "utf8"));
}

class Clone {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(join(folder, "scripts"));
    for (const file of ["release.ts", "release-files.ts", "command.ts"])
      cpSync(join(ROOT, "scripts", file), join(folder, "scripts", file));
    const scripts = { build: "node -e 0", "check:package": `node -e "${CHECK}"` };
    const manifest = { name: "x", version: "0.1.0", ...NEEDS };
    this.write("package.json", JSON.stringify({ ...manifest, type: "module", scripts }));
    this.write(
      "package-lock.json",
      JSON.stringify({
        name: "x",
        version: "0.1.0",
        lockfileVersion: 3,
        packages: { "": manifest, ...PACKAGES },
      }),
    );
    this.write(".gitignore", "release/\n");
    this.write("CHANGELOG.md", CHANGELOG);
    this.git("init", "--quiet");
    this.git("config", "user.name", "Ana");
    this.git("config", "user.email", "ana@example.com");
    this.commitAll();
  }

  release(...args: readonly string[]): Finished {
    return command(process.execPath, ["scripts/release.ts", ...args], { cwd: this.folder });
  }

  commitAll(): void {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "x");
  }

  git(...args: readonly string[]): string {
    const { status, stdout, stderr } = command("git", args, { cwd: this.folder });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), "utf8");
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  state(): object {
    return {
      tags: this.git("tag", "--list"),
      commits: this.git("log", "--oneline").split("\n").length,
      tree: this.git("status", "--porcelain"),
      changelog: this.read("CHANGELOG.md"),
      version: (JSON.parse(this.read("package.json")) as { readonly version: string }).version,
    };
  }
}

test("a release has the version in its package and changelog, is checked, committed and tagged with its notes", async () => {
  const clone = new Clone(await resources.folder());
  const { status, stdout, stderr } = clone.release("0.2.0");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("- Faster, for $& reasons.\n\nTagged v0.2.0.");
  expect(clone.read(".git/checked")).toBe("0.2.0");
  expect(JSON.parse(clone.read("package.json"))).toMatchObject({ version: "0.2.0" });
  expect(JSON.parse(clone.read("package-lock.json"))).toMatchObject({ version: "0.2.0" });
  expect(clone.read("CHANGELOG.md")).toMatch(
    /## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- Faster, for \$& reasons\.\n\n## 0\.1\.0\n/,
  );
  expect(clone.git("status", "--porcelain")).toBe("");
  expect(clone.git("log", "-1", "--format=%s")).toBe("Release 0.2.0");
  expect(clone.git("tag", "--list", "--format=%(objecttype) %(contents)", "v0.2.0")).toBe(
    "tag Countersign 0.2.0\n\n- Faster, for $& reasons.",
  );
  const again = clone.release("0.2.1");
  expect([again.status, again.stderr]).toEqual([
    1,
    'release: CHANGELOG.md has nothing below "## Unreleased".\n',
  ]);
});

test("a release leaves the package, what it depends on, and what it was made from", async () => {
  const clone = new Clone(await resources.folder());
  expect(clone.release("0.2.0")).toMatchObject({ status: 0, stderr: "" });
  const tarball = readFileSync(join(clone.folder, "release/x-0.2.0.tgz"));
  // The same commit packs to the same bytes again, so that others can check what the provenance says.
  expect(command("npm", ["pack", "--silent", "--ignore-scripts"], { cwd: clone.folder }).status).toBe(0);
  expect(readFileSync(join(clone.folder, "x-0.2.0.tgz")).equals(tarball)).toBe(true);
  const bom = JSON.parse(clone.read("release/x-0.2.0.cdx.json")) as Bom;
  expect(bom).toMatchObject({
    bomFormat: "CycloneDX",
    metadata: { component: { name: "x", version: "0.2.0", purl: "pkg:npm/x@0.2.0" } },
  });
  // Nothing that only development needs.
  expect(bom.components.map(({ purl }) => purl).toSorted()).toEqual([
    "pkg:npm/below@3.0.1",
    "pkg:npm/used@1.2.3",
  ]);
  expect(bom.dependencies.toSorted((a, b) => a.ref.localeCompare(b.ref))).toEqual([
    { ref: "below@3.0.1", dependsOn: [] },
    { ref: "used@1.2.3", dependsOn: ["below@3.0.1"] },
    { ref: "x@0.2.0", dependsOn: ["used@1.2.3"] },
  ]);
  const lock = createHash("sha256").update(clone.read("package-lock.json")).digest("hex");
  expect(JSON.parse(clone.read("release/x-0.2.0.provenance.json"))).toMatchObject({
    _type: "https://in-toto.io/Statement/v1",
    subject: [
      { name: "pkg:npm/x@0.2.0", digest: { sha512: createHash("sha512").update(tarball).digest("hex") } },
    ],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        externalParameters: { version: "0.2.0", tag: "v0.2.0" },
        internalParameters: { node: process.version },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: clone.git("rev-parse", "v0.2.0^{commit}") } },
          { name: "package-lock.json", digest: { sha256: lock } },
        ],
      },
    },
  });
});

test("the SBOM of this package has its dependencies in the versions of the lock file, and no optional peer", async () => {
  const file = join(await resources.folder(), "sbom.json");
  writeSbom(file);
  const { components } = JSON.parse(readFileSync(file, "utf8")) as Bom;
  const purls = components.map(({ purl }) => decodeURIComponent(purl));
  const { dependencies } = readHere("package.json") as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const { packages } = readHere("package-lock.json") as {
    readonly packages: Readonly<Record<string, { version: string }>>;
  };
  expect(Object.keys(dependencies).length).toBeGreaterThan(5);
  for (const name of Object.keys(dependencies))
    expect(purls).toContain(`pkg:npm/${name}@${packages[`node_modules/${name}`]?.version}`);
  for (const name of ["pg", "nodemailer", "vitest", "@countersign/web"])
    expect(
      purls.some((purl) => purl.startsWith(`pkg:npm/${name}@`)),
      name,
    ).toBe(false);
});

test("a dry run checks the package and leaves nothing behind", async () => {
  const clone = new Clone(await resources.folder());
  const { status, stdout } = clone.release("0.2.0", "--dry-run");
  expect(status).toBe(0);
  expect(stdout).toContain("Dry run: v0.2.0 would be committed and tagged.");
  expect(clone.read(".git/checked")).toBe("0.2.0");
  expect(clone.state()).toEqual(UNTOUCHED);
  expect(existsSync(join(clone.folder, "release"))).toBe(false);
});

test("a package that fails its check is not released, and the files are as they were", async () => {
  const clone = new Clone(await resources.folder());
  clone.write(".git/broken", "");
  expect(clone.release("0.2.0")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("npm run --silent check:package failed") as string,
  });
  expect(clone.state()).toEqual(UNTOUCHED);
});

test("refuses an invalid version, a tag that exists, and a tree with changes, which it does not touch", async () => {
  const clone = new Clone(await resources.folder());
  for (const args of [[], ["next"], ["0.2"], ["0.2.0", "0.3.0"]])
    expect(clone.release(...args)).toMatchObject({ status: 1, stderr: USAGE });
  clone.git("tag", "v0.2.0");
  expect(clone.release("0.2.0").stderr).toBe("release: The tag v0.2.0 exists already.\n");
  clone.git("tag", "--delete", "v0.2.0");
  clone.write("notes.txt", "mine");
  expect(clone.release("0.2.0").stderr).toBe(
    "release: The working tree has changes. Commit or stash them first.\n",
  );
  expect(clone.read("notes.txt")).toBe("mine");
  expect(clone.state()).toEqual({ ...UNTOUCHED, tree: "?? notes.txt" });
});
