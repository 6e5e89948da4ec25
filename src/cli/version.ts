import { readFileSync } from "node:fs";

/** The package's version. */
export function version(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  return manifest.version;
}
