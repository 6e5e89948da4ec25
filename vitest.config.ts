import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Its own default leaves one core to itself, and most of what takes long here waits for processes of its own.
    maxWorkers: "100%",
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts"],
          exclude: ["src/stores/postgres/**"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "postgres",
          include: ["src/stores/postgres/**/*.test.ts"],
          globalSetup: "test/support/postgres-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: "./web/vite.config.ts",
        test: { name: "web", include: ["web/src/**/*.test.ts"], testTimeout: 20_000 },
      },
      {
        test: {
          name: "cross",
          include: ["test/**/*.test.ts"],
          // The programs that we are tested inside of have packages of their own, with tests of their own.
          exclude: [
            "test/peers/**",
            "test/crash/**",
            "test/race/**",
            "test/browser/**",
            "test/cluster/**",
            "test/failover/**",
          ],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "cluster",
          include: ["test/cluster/**/*.test.ts"],
          globalSetup: "test/support/postgres-setup.ts",
          testTimeout: 600_000,
          hookTimeout: 60_000,
          maxConcurrency: 2,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "failover",
          include: ["test/failover/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "race-postgres",
          include: ["test/race/{approvals,awaited,stopped,wake-up}.test.ts"],
          env: { COUNTERSIGN_TEST_STORE: "postgres" },
          globalSetup: "test/support/postgres-setup.ts",
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "crash",
          include: ["test/crash/**/*.test.ts"],
          testTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "browser",
          expect: { poll: { timeout: 30_000 } },
          include: ["test/browser/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "race",
          include: ["test/race/**/*.test.ts"],
          testTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
