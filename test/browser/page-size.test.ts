import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ensureWebBuilt } from "../../scripts/build-web.ts";
import { ROOT } from "../../scripts/command.ts";

const MOST_BYTES = 200_000;

test("the first load of the page is under 200 kB compressed, and has no inline script or style", async () => {
  ensureWebBuilt();
  const folder = join(ROOT, "dist", "web");
  const html = await readFile(join(folder, "index.html"), "utf8");
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file = ""]) => file);
  const sizes = await Promise.all(
    files.map(async (file) => gzipSync(await readFile(join(folder, file))).length),
  );
  expect(files.length).toBeGreaterThan(1);
  expect(sizes.reduce((sum, size) => sum + size, gzipSync(html).length)).toBeLessThan(MOST_BYTES);
  expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)/);
});
