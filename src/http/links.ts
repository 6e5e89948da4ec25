import type { Site } from "./site.ts";

/** Where a person decides this confirmation. Relative to the server where it has not been told its public address. */
export function cardLink(
  { publicUrl, basePath }: Pick<Site, "publicUrl" | "basePath">,
  confirmationId: string,
): string {
  const server = publicUrl ?? (basePath === "/" ? "" : basePath);
  return `${server}/#/confirmations/${encodeURIComponent(confirmationId)}`;
}
