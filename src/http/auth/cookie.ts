/** The name and attributes of the browser's cookie, which depend on the public URL. */
export interface CookieForm {
  readonly name: string;
  readonly attributes: string;
}

/** How long the browser keeps it; on the server the login may end earlier. */
export const LONGEST_LOGIN_MS: number = 7 * 24 * 60 * 60 * 1000;

/** `__Host-` binds a cookie to this host and to TLS, so it needs https. On loopback a plain name is used. */
export function cookieForm(
  publicUrl: string | undefined,
  name: string,
  sameSite: "Strict" | "Lax",
): CookieForm {
  const isSecure = publicUrl?.startsWith("https:") === true;
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? "; Secure" : ""}`;
  return { name: isSecure ? `__Host-${name}` : name, attributes };
}

/** The header that sets a cookie with this lifetime. */
export function setCookie({ name, attributes }: CookieForm, value: string, maxAgeMs: number): string {
  return `${name}=${value}; ${attributes}; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
}

/** The header that takes it away. */
export function clearCookie(form: CookieForm): string {
  return setCookie(form, "", 0);
}

/** The value of a cookie that came with a request; undefined if it did not, or came twice. */
export function cookieOf(request: Request, { name }: CookieForm): string | undefined {
  const found = (request.headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  const [pair] = found;
  return pair === undefined || found.length > 1 ? undefined : pair.slice(name.length + 1);
}
