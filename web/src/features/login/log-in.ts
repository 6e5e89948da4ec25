import { base } from "../../api/client.ts";
import { loginWall } from "../../api/login-wall.ts";

/** Where the server itself logs people in, as by OIDC or with a link. */
export const LOGIN_ADDRESS: string = `${base}/auth/login`;

/** Logs in with a token, or with a one-time link that was pasted. Gives what is wrong, or nothing. */
export async function logIn(text: string): Promise<string | undefined> {
  const typed = text.trim();
  const body = typed.includes("#") ? { link: typed.slice(typed.indexOf("#") + 1) } : { token: typed };
  try {
    const response = await fetch(LOGIN_ADDRESS, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.ok) {
      loginWall.set(false);
      return undefined;
    }
    const { detail } = (await response.json()) as { readonly detail?: string };
    return detail ?? `The server answered ${response.status}.`;
  } catch {
    return "The server cannot be reached.";
  }
}

/** Has somebody logged in meanwhile, in another tab? */
export async function lookAgain(): Promise<void> {
  const response = await fetch(`${base}/v1/me`).catch(() => undefined);
  if (response?.ok === true) loginWall.set(false);
}

export async function logOut(): Promise<void> {
  await fetch(`${base}/auth/logout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  }).catch(() => undefined);
  window.location.reload();
}
