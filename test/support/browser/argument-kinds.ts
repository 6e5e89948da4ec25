import { crc32, deflateSync } from "node:zlib";
import { type Tool, tool } from "../../../src/index.ts";
import type { WantedCall } from "./inbox-server.ts";

const gated = {
  description: "Does it.",
  parameters: { type: "object", properties: {} },
  requireConfirmation: true,
  execute: () => ({ status: "ok" }),
} as const;

const PATCH = `--- a/src/limits.ts
+++ b/src/limits.ts
@@ -3,4 +3,4 @@ export const LIMITS = {
   hourly: 20,
-  daily: 100,
+  daily: 1000,
   weekly: 5000,`;

const SQL = `-- Customers who left more than two years ago
DELETE FROM customers
WHERE status = 'closed'
  AND closed_at < now() - interval '2 years'
RETURNING id, name;`;

const CODE = `export async function refund(order: Order): Promise<Receipt> {
  // Never more than what was paid.
  const amount = Math.min(order.paid, 250);
  return bank.transfer({ to: order.account, amount, note: "Refund" });
}`;

const MARKDOWN = `# Maintenance on Sunday

The shop is **closed** from 02:00 to 04:00.

- Orders are kept
- Refunds wait until Monday

See [the plan](https://status.corp.example/plan).`;

const INVOICES = [
  { number: "2026-0411", vendor: "Printer Ltd", due: "2026-11-30", amount: 1290.5 },
  { number: "2026-0412", vendor: "Harbour Hotel", due: "2026-12-01", amount: 2380 },
  { number: "2026-0418", vendor: "Café Amélie", due: "2026-12-04", amount: 541 },
];

/** What a model asks for, by the kind of its arguments. */
export const KINDS = {
  email: {
    words: "Tell Maria that her invoice is paid.",
    name: "send_email",
    args: {
      to: ["maria@corp.example", "finance@corp.example"],
      subject: "Your invoice 2026-0411 is paid",
      body: "Dear Maria,\n\nwe have paid your invoice 2026-0411 today. The money should arrive by Thursday.\n\nKind regards\nThe office",
    },
  },
  patch: { words: "Raise the daily limit.", name: "apply_patch", args: { patch: PATCH } },
  sql: {
    words: "Remove customers who left long ago.",
    name: "run_sql",
    args: { database: "billing", sql: SQL },
  },
  shell: {
    words: "Deploy the branch of today.",
    name: "run_command",
    args: {
      command:
        'git pull --ff-only && npm ci && npm run build -- --mode "production"\nsystemctl restart shop.service',
      cwd: "/srv/shop",
      timeout_ms: 600_000,
    },
  },
  code: {
    words: "Cap refunds at 250.",
    name: "deploy_function",
    args: { function: "refund", region: "eu-central-1", code: CODE },
  },
  markdown: {
    words: "Announce the maintenance.",
    name: "publish_note",
    args: { channel: "status page", markdown: MARKDOWN },
  },
  table: {
    words: "Pay what is due this month.",
    name: "pay_invoices",
    args: { amount: 4211.5, currency: "EUR", invoices: INVOICES, execute_at: "2026-11-30T08:00:00Z" },
  },
  money: {
    words: "Order 7731 arrived broken. Give them their money back.",
    name: "refund",
    args: { amount: 129.9, currency: "USD", customer: "Amélie Laurent", order: 7731 },
  },
  url: {
    words: "Fetch the new price list.",
    name: "download",
    args: { url: "https://prices.corp.example@files.evil.example/list.csv?version=3", overwrite: true },
  },
  picture: {
    words: "Put the chart of November on the wall.",
    name: "publish_chart",
    args: { title: "Orders in November", chart: chart() },
  },
  pdf: {
    words: "Send the contract to Printer Ltd.",
    name: "send_contract",
    args: { to: "office@printer.example", contract: Buffer.from("%PDF-1.7\n%%EOF\n").toString("base64") },
  },
  bare: { words: "The shop is slow. Restart it.", name: "restart_shop", args: {} },
} as const satisfies { readonly [kind: string]: WantedCall & { readonly words: string } };

/** The tools for these that the office does not have. */
export function kindTools(): readonly Tool[] {
  const files: { readonly [name: string]: string } = { publish_chart: "chart", send_contract: "contract" };
  return Object.values(KINDS)
    .filter(({ name }) => name !== "send_email")
    .map(({ name }) => {
      const file = files[name];
      return tool({
        ...gated,
        name,
        ...(file === undefined ? {} : { confirmationLayout: { display: { [file]: "file" } } }),
      });
    });
}

/** A picture of bars, as a PNG in base64. */
function chart(): string {
  const [width, height] = [480, 240];
  const heights = [60, 90, 75, 130, 110, 160, 150, 195];
  const rows: number[] = [];
  for (let y = 0; y < height; y += 1) {
    rows.push(0);
    for (let x = 0; x < width; x += 1) {
      const bar = heights[Math.floor(x / 60)] ?? 0;
      const isBar = x % 60 > 12 && x % 60 < 48 && y < height - 20 && y > height - 20 - bar;
      rows.push(...(isBar ? [59, 63, 196] : y === height - 20 ? [120, 120, 120] : [255, 255, 255]));
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.from(rows))), chunk("IEND")];
  return Buffer.concat([signature, ...chunks]).toString("base64");
}

function chunk(name: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([size, named, sum]);
}
