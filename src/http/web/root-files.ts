/** Files of the page that browsers look for at one address, whatever version they have. */
export const ROOT_FILES: readonly string[] = ["sw.js", "manifest.webmanifest", "offline.html"];
