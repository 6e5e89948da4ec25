import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { FOLDER, isLowest } from "./test/adapters/lowest/packages.ts";
import { COMPILE_CACHE } from "./test/support/processes/compile-cache.ts";

/** `npm test` leaves out the long proofs; `npm run test:all` has them, and more rounds of others. */
const LONG = process.env["COUNTERSIGN_LONG"] === "1";
const SHORT_ONLY = LONG ? [] : ["**/*.long.test.ts"];
/** These replace a module, which the files that a worker runs after them would see: each has a worker of its own. */
const REPLACES_MODULES = [
  "src/engine/ledger/committed.test.ts",
  "src/http/auth/peers.test.ts",
  "src/stores/postgres/connection/pooler.test.ts",
  "src/stores/postgres/schema/behind.test.ts",
];
/** More than there are cores: much of what takes long here waits, for processes of its own and for leases. */
const WORKERS = availableParallelism() + 2;
/** How long what a test waits for may take: where much runs, processes start slowly. */
const PATIENT = { poll: { timeout: 30_000 } };
/** For tests whose modules Vite resolves, or replaces. */
const TRANSFORMED = { viteModuleRunner: true };
const POSTGRES = "test/support/postgres/setup.ts";
/** What a connection pooler may do with a connection: the races are run behind each. */
const POOLER_MODES = LONG ? ["session", "transaction", "statement"] : [];
/** For tests that start processes. */
const BUNDLE = "test/support/processes/bundle-setup.ts";

// For the workers, and for whatever they start.
process.env["NODE_COMPILE_CACHE"] = COMPILE_CACHE;

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    // A worker loads the sources once for all files that it runs: half of the time otherwise goes there.
    isolate: false,
    // Node runs our sources as they are. Transformed by Vite, they take it a third longer.
    experimental: { viteModuleRunner: false },
    projects: [
      {
        test: {
          name: "unit",
          expect: { poll: { timeout: 15_000 } },
          include: ["src/**/*.test.ts"],
          exclude: ["src/stores/postgres/**", ...REPLACES_MODULES, ...SHORT_ONLY],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "postgres",
          expect: PATIENT,
          include: ["src/stores/postgres/**/*.test.ts"],
          exclude: [...REPLACES_MODULES, ...SHORT_ONLY],
          globalSetup: POSTGRES,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "isolated",
          expect: PATIENT,
          include: REPLACES_MODULES,
          isolate: true,
          experimental: TRANSFORMED,
          globalSetup: POSTGRES,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: "./web/vite.config.ts",
        test: {
          name: "web",
          include: ["web/src/**/*.test.ts"],
          // What extends another file takes nothing from this one.
          maxWorkers: WORKERS,
          isolate: false,
          experimental: TRANSFORMED,
          testTimeout: 20_000,
        },
      },
      {
        test: { name: "architecture", include: ["test/architecture/**/*.test.ts"], testTimeout: 60_000 },
      },
      {
        test: {
          name: "cross",
          expect: PATIENT,
          include: ["test/**/*.test.ts"],
          // The programs that we are tested inside of have packages of their own, with tests of their own.
          exclude: [
            "test/peers/**",
            "test/adapters/**",
            "test/architecture/**",
            "test/crash/**",
            "test/race/**",
            "test/browser/**",
            "test/cluster/**",
            "test/failover/**",
            ...SHORT_ONLY,
          ],
          globalSetup: BUNDLE,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "adapters",
          expect: PATIENT,
          include: ["test/adapters/**/*.test.ts", "test/peers/*/*.long.test.ts"],
          exclude: ["test/adapters/lowest/**", ...SHORT_ONLY],
          globalSetup: [POSTGRES, BUNDLE, ...(LONG ? ["test/adapters/peers-setup.ts"] : [])],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins: [
          {
            name: "frameworks-in-their-lowest-versions",
            enforce: "pre",
            resolveId(source, importer, options) {
              if (!isLowest(source, importer)) return undefined;
              const from = fileURLToPath(new URL("package.json", FOLDER));
              return this.resolve(source, from, { ...options, skipSelf: true });
            },
          },
        ],
        test: {
          name: "adapters-lowest",
          expect: PATIENT,
          include: ["test/adapters/lowest/*.test.ts"],
          experimental: TRANSFORMED,
          exclude: SHORT_ONLY,
          globalSetup: LONG ? ["test/adapters/lowest/setup.ts"] : [],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "crash",
          expect: PATIENT,
          include: ["test/crash/**/*.test.ts"],
          globalSetup: BUNDLE,
          testTimeout: 600_000,
        },
      },
      {
        test: {
          name: "browser",
          expect: PATIENT,
          include: ["test/browser/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      // Says how soon a server that was killed is replaced: one file after another, with the machine to itself.
      {
        test: {
          name: "cluster",
          expect: PATIENT,
          include: ["test/cluster/**/*.test.ts"],
          exclude: SHORT_ONLY,
          globalSetup: [POSTGRES, BUNDLE],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          maxConcurrency: 2,
          isolate: true,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "failover",
          expect: PATIENT,
          include: ["test/failover/**/*.test.ts"],
          globalSetup: BUNDLE,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          isolate: true,
        },
      },
      {
        test: {
          name: "race",
          expect: PATIENT,
          include: ["test/race/**/*.test.ts"],
          globalSetup: BUNDLE,
          testTimeout: 600_000,
          isolate: true,
        },
      },
      {
        test: {
          name: "race-postgres",
          expect: PATIENT,
          include: [
            "test/race/{approvals,awaited,grants,stopped,votes,wake-up}.test.ts",
            "test/crash/rights.test.ts",
          ],
          env: { COUNTERSIGN_TEST_STORE: "postgres" },
          globalSetup: [POSTGRES, BUNDLE],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          isolate: true,
        },
      },
      ...POOLER_MODES.map((mode) => ({
        test: {
          name: `race-pooler-${mode}`,
          expect: PATIENT,
          include: ["test/race/approvals.test.ts"],
          env: { COUNTERSIGN_TEST_STORE: "postgres", COUNTERSIGN_TEST_POOLER: mode },
          globalSetup: [POSTGRES, BUNDLE],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          isolate: true,
        },
      })),
    ],
  },
});
