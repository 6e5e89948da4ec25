import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger, inspectLedger } from "../../index.ts";
import { openToOthers } from "./private-files.ts";

let folder: string;
let path: string;
const mask = process.umask();

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "countersign-")));
  path = join(folder, "ledger.db");
});

afterEach(() => {
  process.umask(mask);
  rmSync(folder, { recursive: true });
});

function modes(file = path): readonly string[] {
  return [file, `${file}-wal`, `${file}-shm`].map((one) => (lstatSync(one).mode & 0o777).toString(8));
}

async function touch(file = path): Promise<readonly string[]> {
  const ledger = await createLedger(`sqlite:${file}`);
  await ledger.items.pin("name", "value");
  const found = modes(realpathSync(file));
  await ledger.close();
  return found;
}

test.each([0o000, 0o022, 0o777])(
  "a new ledger is its user's alone, whatever the umask (%o)",
  async (umask) => {
    process.umask(umask);
    expect(await touch()).toEqual(["600", "600", "600"]);
  },
);

test("one that others could read is theirs no more once it was opened", async () => {
  process.umask(0);
  const first = await createLedger(`sqlite:${path}`);
  await first.items.pin("name", "value");
  for (const suffix of ["", "-wal", "-shm"]) chmodSync(`${path}${suffix}`, 0o664);
  expect(openToOthers(path).map(({ mode }) => mode)).toEqual(["664", "664", "664"]);
  expect(await touch()).toEqual(["600", "600", "600"]);
  expect(openToOthers(path)).toEqual([]);
  await first.close();
});

test("one behind a link is tightened where it is, and the link is left alone", async () => {
  process.umask(0);
  mkdirSync(join(folder, "data"));
  const real = join(folder, "data", "real.db");
  await touch(real);
  chmodSync(real, 0o644);
  symlinkSync(real, path);
  expect(await touch()).toEqual(["600", "600", "600"]);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
});

test("a link that leads nowhere is refused, and nothing is made there", async () => {
  const elsewhere = join(folder, "elsewhere.db");
  symlinkSync(elsewhere, path);
  await expect(createLedger(`sqlite:${path}`)).rejects.toMatchObject({ code: "ledger-unreachable" });
  expect(existsSync(elsewhere)).toBe(false);
});

test("the file of another program keeps its mode", async () => {
  writeFileSync(path, "these are somebody's words, and long enough to be no database ".repeat(20));
  chmodSync(path, 0o644);
  await expect(createLedger(`sqlite:${path}`)).rejects.toMatchObject({ code: "ledger-unreachable" });
  expect((lstatSync(path).mode & 0o777).toString(8)).toBe("644");
});

test("a link in the log's place is not followed", async () => {
  await touch();
  const victim = join(folder, "victim");
  writeFileSync(victim, "");
  chmodSync(victim, 0o644);
  symlinkSync(victim, `${path}-other`);
  rmSync(`${path}-wal`, { force: true });
  symlinkSync(victim, `${path}-wal`);
  await createLedger(`sqlite:${path}`).then(
    (ledger) => ledger.close(),
    () => {},
  );
  expect((lstatSync(victim).mode & 0o777).toString(8)).toBe("644");
});

test("an empty file, as a process leaves that died while making a ledger, is none yet", async () => {
  writeFileSync(path, "");
  expect(await inspectLedger(`sqlite:${path}`, {})).toMatchObject({ exists: false, version: 0 });
  await touch();
  expect(await inspectLedger(`sqlite:${path}`, {})).toMatchObject({ exists: true });
});
