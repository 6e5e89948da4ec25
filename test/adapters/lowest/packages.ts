import { readFileSync } from "node:fs";

/** The folder whose packages are the lowest versions that the adapters are declared for. */
export const FOLDER: URL = new URL("../../peers/lowest/", import.meta.url);

interface Manifest {
  readonly dependencies: { readonly [name: string]: string };
}

/** The versions, by package. */
export const LOWEST: Manifest["dependencies"] = (
  JSON.parse(readFileSync(new URL("package.json", FOLDER), "utf8")) as Manifest
).dependencies;

/** Is this import, of one of our own files, of a package that is there in its lowest version? */
export function isLowest(specifier: string, importer = ""): boolean {
  if (importer.includes("/node_modules/")) return false;
  const [scope = "", name = ""] = specifier.split("/");
  return Object.hasOwn(LOWEST, specifier.startsWith("@") ? `${scope}/${name}` : scope);
}
