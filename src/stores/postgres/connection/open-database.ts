import { Database } from "./database.ts";
import { hasPooler } from "./find-pooler.ts";
import { loadDriver } from "./load-driver.ts";
import { type ParsedUrl, parseUrl, splitHosts, toSettings } from "./settings.ts";

/**
 * The database that a URL names. If the URL does not say whether statements are prepared, a pooler is looked for. `schema`:
 * the one of a ledger that is there, whatever the URL says.
 */
export async function openDatabase(
  url: string,
  { schema }: { readonly schema?: string } = {},
): Promise<Database> {
  return open(parseUrl(url), schema);
}

/** The standbys that a URL names, one for each of its hosts. Nothing can be written there. */
export async function openStandbys(url: string, schema: string): Promise<readonly Database[]> {
  const parsed = splitHosts(url).map((each) => parseUrl(each, { isStandby: true }));
  return Promise.all(parsed.map((each) => open(each, schema)));
}

async function open(parsed: ParsedUrl, schema: string | undefined): Promise<Database> {
  const driver = await loadDriver();
  const pooled = parsed.prepare === undefined ? await hasPooler(driver, parsed) : !parsed.prepare;
  const settings = toSettings(parsed, { pooled });
  return new Database(driver, { ...settings, schema: schema ?? settings.schema });
}
