import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../scripts/command.ts";
import { createSlackChannel } from "../../src/channels/slack/index.ts";
import { readChannelSettings } from "../../src/cli/channels/channel-settings.ts";
import { createLedger } from "../../src/stores/index.ts";
import { useResources } from "../support/resources.ts";
import { SlackStandIn, WORKSPACE } from "../support/slack/slack-stand-in.ts";

const resources = useResources();
const GUIDES = ["slack", "email", "push", "rooms", "siem", "webhooks"] as const;
/** What the guides have their readers set. */
const SECRETS = [
  "COUNTERSIGN_SLACK_TOKEN",
  "COUNTERSIGN_SLACK_SIGNING_SECRET",
  "COUNTERSIGN_SMTP_URL",
  "COUNTERSIGN_WEBHOOK_ANSWER_SECRET",
  "TEAMS_URL",
  "DISCORD_URL",
  "TELEGRAM_URL",
  "PAGERDUTY_KEY",
  "OPSGENIE_KEY",
  "SIEM_AUTHORIZATION",
];

function blocksOf(guide: string, language: string): readonly string[] {
  const page = readFileSync(join(ROOT, `docs/guides/${guide}.md`), "utf8");
  return Array.from(
    page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm")),
    ([, text = ""]) => text,
  );
}

test.each(GUIDES)(
  "the channels file of the guide %s is understood, and every secret that it needs is named",
  (guide) => {
    const folder = mkdtempSync(join(tmpdir(), "countersign-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "channels.json");
    const env = Object.fromEntries(SECRETS.map((name) => [name, "x"]));
    const files = blocksOf(guide, "json").filter((text) => /"(people|push|siem|rooms)":/.test(text));
    expect(files.length).toBeGreaterThan(0);
    const page = readFileSync(join(ROOT, `docs/guides/${guide}.md`), "utf8");
    for (const text of files) {
      writeFileSync(file, text);
      const flags = { text: () => file } as unknown as Parameters<typeof readChannelSettings>[0]["flags"];
      expect(Object.keys(readChannelSettings({ flags, env })).length).toBeGreaterThan(0);
      for (const name of SECRETS) {
        const { [name]: _left, ...rest } = env;
        try {
          readChannelSettings({ flags, env: rest });
        } catch {
          expect(page).toContain(name);
        }
      }
    }
  },
);

test("an app with the manifest of the guide lacks no scope, and with the two that it names, none for addresses", async () => {
  const slack = await new SlackStandIn().listen();
  resources.add(() => slack.close());
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const { team, app, token, signingSecret } = WORKSPACE;
  const check = async (person: string): Promise<readonly string[] | undefined> =>
    createSlackChannel({
      team,
      app,
      token,
      signingSecret,
      ledger,
      apiUrl: slack.url,
      people: [{ id: "ana", slack: person }],
    }).check?.(AbortSignal.timeout(10_000));
  const [manifest = ""] = blocksOf("slack", "yaml");
  const { oauth_config: oauth, settings } = parse(manifest) as {
    readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } };
    readonly settings: { readonly interactivity: { readonly request_url: string } };
  };
  expect(settings.interactivity.request_url).toMatch(/\/channels\/slack\/interactions$/);
  slack.scopes = oauth.scopes.bot.join(",");
  expect(await check("U0ANA")).toEqual([]);
  expect((await check("ana@example.com"))?.[0]).toContain("users:read, users:read.email");
  slack.scopes = [...oauth.scopes.bot, "users:read", "users:read.email"].join(",");
  expect(await check("ana@example.com")).toEqual([]);
});
