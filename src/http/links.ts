import type { Site } from "./site.ts";

/** The link to this confirmation's card. Relative if the public URL is not set. */
export function cardLink(
  { publicUrl, basePath }: Pick<Site, "publicUrl" | "basePath">,
  confirmationId: string,
): string {
  const server = publicUrl ?? (basePath === "/" ? "" : basePath);
  return `${server}/#/confirmations/${encodeURIComponent(confirmationId)}`;
}
