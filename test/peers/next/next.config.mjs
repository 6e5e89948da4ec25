/** @type {import("next").NextConfig} */
const config = {
  // Loads node:sqlite and reads its own files, so it is not to be bundled.
  serverExternalPackages: ["countersign"],
  // The inbox is at `/approvals/`; without this Next would take the slash away.
  skipTrailingSlashRedirect: true,
  turbopack: { root: import.meta.dirname },
  typescript: { ignoreBuildErrors: true },
};

export default config;
