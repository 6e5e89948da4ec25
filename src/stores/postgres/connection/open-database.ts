import { Database } from "./database.ts";
import { hasPooler } from "./find-pooler.ts";
import { loadDriver } from "./load-driver.ts";
import { parseUrl, toSettings } from "./settings.ts";

/** The database that a URL names. If the URL does not say whether statements are prepared, a pooler is looked for. */
export async function openDatabase(url: string): Promise<Database> {
  const parsed = parseUrl(url);
  const driver = await loadDriver();
  const pooled = parsed.prepare === undefined ? await hasPooler(driver, parsed) : !parsed.prepare;
  return new Database(driver, toSettings(parsed, { pooled }));
}
