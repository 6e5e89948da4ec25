import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT, readSource } from "../architecture/repository.ts";
import { nodesOf } from "../architecture/syntax.ts";

/** An installed package as far as the command sees it: its `bin`, and a `main` that tells what it got. */
let installed: string;

beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), "countersign-bin-"));
  cpSync(`${ROOT}bin`, join(installed, "bin"), { recursive: true });
  mkdirSync(join(installed, "dist/cli"), { recursive: true });
  writeFileSync(join(installed, "package.json"), `{ "type": "module" }`);
  writeFileSync(
    join(installed, "dist/cli/main.js"),
    `export async function main(argv) {
       if (argv[0] === "throw") throw new Error("out of paper");
       console.log(JSON.stringify(argv));
       return argv.length;
     }`,
  );
});

afterAll(() => {
  rmSync(installed, { recursive: true });
});

interface Started {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(argv: readonly string[], node: { binary?: string; claims?: string } = {}): Started {
  const preload = node.claims === undefined ? [] : preloadFor(node.claims);
  const { status, stdout, stderr } = spawnSync(
    node.binary ?? process.execPath,
    [...preload, join(installed, "bin/countersign.mjs"), ...argv],
    { encoding: "utf8" },
  );
  return { code: status, stdout, stderr };
}

/** Makes Node.js say that it is of this version. */
function preloadFor(claims: string): readonly string[] {
  const disguise = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${claims}" } });`;
  return ["--import", `data:text/javascript,${encodeURIComponent(disguise)}`];
}

function complaint(version: string): Started {
  const advice = "Install a newer one from https://nodejs.org and try again.";
  return {
    code: 1,
    stdout: "",
    stderr: `countersign needs Node.js 22.18 or newer; this is v${version}. ${advice}\n`,
  };
}

/** Every Node.js on the PATH that is too old; the repository's own is left out. */
function oldNodes(): { binary: string; version: string }[] {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.includes("node_modules"))
    .map((folder) => join(folder, "node"))
    .filter((binary) => existsSync(binary))
    .map((binary) => {
      const { stdout } = spawnSync(binary, ["-p", "process.versions.node"], { encoding: "utf8" });
      return { binary, version: stdout.trim() };
    })
    .filter(({ version }) => {
      const [major = 0, minor = 0] = version.split(".").map(Number);
      return major < 22 || (major === 22 && minor < 18);
    });
}

test.each(["20.19.5", "22.17.9"])("the library says on Node.js %s what it needs", (claims) => {
  const program = `import { CountersignError, createEngine } from ${JSON.stringify(join(ROOT, "src/index.ts"))};
    try { await createEngine({ ledger: "memory:" }); }
    catch (error) { console.log(CountersignError.isInstance(error), error.code, error.message); }`;
  const { stdout } = spawnSync(
    process.execPath,
    [...preloadFor(claims), "--input-type=module", "-e", program],
    { encoding: "utf8" },
  );
  expect(stdout).toBe(
    `true missing-package Countersign needs Node.js 22.18 or newer; this is v${claims}. Install a newer one from https://nodejs.org.\n`,
  );
});

describe("the command", () => {
  test.each(["14.21.3", "18.20.8", "20.19.5", "21.99.0", "22.0.0", "22.17.9"])(
    "on Node.js %s says in one line what it needs, and exits 1",
    (claims) => {
      expect(start(["demo"], { claims })).toEqual(complaint(claims));
    },
  );

  test("exits 2 as a hook that cannot start, because a coding agent would let the tool run after 1", () => {
    expect(start(["hook", "claude-code"], { claims: "20.19.5" })).toEqual({
      ...complaint("20.19.5"),
      code: 2,
    });
  });

  test.each(["22.18.0", "22.20.1", "23.0.0", "24.21.0", "100.0.0"])("runs on Node.js %s", (claims) => {
    expect(start(["pending", "--json"], { claims })).toEqual({
      code: 2,
      stdout: `["pending","--json"]\n`,
      stderr: "",
    });
  });

  test("exits 1 and says why when main throws", () => {
    const { code, stderr } = start(["throw"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^countersign: Error: out of paper\n/);
  });

  test("runs from its source in a clone that was not built", () => {
    const clone = join(installed, "clone");
    for (const part of ["bin", "src", "scripts", "package.json"])
      cpSync(join(ROOT, part), join(clone, part), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(clone, "bin/countersign.mjs"), "pending", "--help"],
      { encoding: "utf8" },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("countersign pending");
  });

  test.each(oldNodes())("on the real Node.js $version says the same", ({ binary, version }) => {
    expect(start(["demo"], { binary })).toEqual(complaint(version));
  });

  test.each(["bin/countersign.mjs", "bin/start.mjs", "scripts/start.mjs", "scripts/from-source.mjs"])(
    "is written so that an old Node.js can parse %s",
    (path) => {
      const newer = new Set([
        "ChainExpression",
        "MetaProperty",
        "PropertyDefinition",
        "PrivateIdentifier",
        "StaticBlock",
      ]);
      const found = nodesOf(readSource(path)).filter(
        ({ type, operator, bigint }) =>
          newer.has(type) || bigint !== undefined || /^(\?\?=?|\|\|=|&&=)$/.test(String(operator)),
      );
      expect(found).toEqual([]);
      expect(readSource(path).text).not.toMatch(/\bawait\b/);
    },
  );
});
