import { createHash } from "node:crypto";

/** What a migration says to its database. */
export interface MigrationTexts {
  readonly version: number;
  readonly texts: readonly string[];
}

/** Under these names a ledger keeps the fingerprint that each of its versions had when it was made. */
export const FINGERPRINT = "fingerprint-";

/**
 * For each version a hash of all that its migrations, and those before it, say, without comments. Two builds may give one number to
 * different schemas, because a migration was changed that had not been released: this tells them apart.
 */
export function fingerprints(migrations: readonly MigrationTexts[]): ReadonlyMap<number, string> {
  const hash = createHash("sha256");
  const found = new Map<number, string>();
  for (const { version, texts } of migrations) {
    for (const text of texts.map(withoutComments)) hash.update(`${text.length} ${text}\n`);
    found.set(version, hash.copy().digest("hex"));
  }
  return found;
}

/** Comments may be corrected: they change no table. */
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*--.*\n/gm, "");
}

/** Is the part of a ledger's schema that this build knows the one that this build makes? */
export function isSameBuild(
  ledger: { readonly version: number; readonly fingerprints: ReadonlyMap<number, string> },
  migrations: readonly MigrationTexts[],
): boolean {
  const own = fingerprints(migrations);
  const shared = Math.min(ledger.version, Math.max(0, ...own.keys()));
  return shared === 0 || ledger.fingerprints.get(shared) === own.get(shared);
}
