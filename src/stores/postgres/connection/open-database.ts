import { Database } from "./database.ts";
import { hasPooler } from "./find-pooler.ts";
import { loadDriver } from "./load-driver.ts";
import { parseUrl, toSettings } from "./settings.ts";

/**
 * The database that a URL names. If the URL does not say whether statements are prepared, a pooler is looked for. `schema`:
 * the one of a ledger that is there, whatever the URL says.
 */
export async function openDatabase(
  url: string,
  { schema }: { readonly schema?: string } = {},
): Promise<Database> {
  const parsed = parseUrl(url);
  const driver = await loadDriver();
  const pooled = parsed.prepare === undefined ? await hasPooler(driver, parsed) : !parsed.prepare;
  const settings = toSettings(parsed, { pooled });
  return new Database(driver, { ...settings, schema: schema ?? settings.schema });
}
