// Makes the pictures in docs/images, and one of every screen at every width in a folder: npm run pictures -- FOLDER
import { globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { command, ROOT } from "./command.ts";

const folder = resolve(process.argv[2] ?? join(tmpdir(), "countersign-pictures"));

/** The tests that look at screens. */
const files = globSync("test/browser/*.test.ts", { cwd: ROOT })
  .filter((file) => /\b(?:lookAt|keepPicture)\(/.test(readFileSync(join(ROOT, file), "utf8")))
  .toSorted();

const { status } = command("vitest", ["run", "--project", "browser", ...files], {
  env: { PICTURES: folder },
  show: true,
});
process.stdout.write(`The pictures of every screen are in ${folder}\n`);
process.exitCode = status;
