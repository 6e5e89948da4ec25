import { base } from "../../api/client.ts";
import { admitLogin } from "../../api/login-wall.ts";
import { adoptProof, forgetProof, keepProof, newestProof, proofHeaders } from "../../api/proof.ts";
import { dropAll } from "../confirmation/decide/held.ts";
import { ownDrafts } from "../confirmation/forms/drafts.ts";
import { board } from "../inbox/board.ts";

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
    const told = (await response.json()) as {
      readonly detail?: string;
      readonly principal?: Person;
      readonly proof?: string;
    };
    if (!response.ok) return told.detail ?? `The server answered ${response.status}.`;
    if (told.proof !== undefined) keepProof(told.proof);
    admit(told.principal, newestProof());
    return undefined;
  } catch {
    return "The server cannot be reached.";
  }
}

/** Looks who is logged in now: somebody may have done so in another tab, or have become somebody else there. */
export async function lookAgain(): Promise<void> {
  const proof = newestProof();
  const response = await fetch(`${base}/v1/me`, { headers: proofHeaders(proof) }).catch(() => undefined);
  if (response?.ok !== true) return;
  const { principal } = (await response.json()) as { readonly principal: Person };
  admit(principal, proof);
}

interface Person {
  readonly id: string;
}

/**
 * Goes on as the person who was here. For anybody else the page begins anew: what waits to be sent was somebody
 * else's word, and must not become theirs.
 */
function admit(person: Person | undefined, proof: string | undefined): void {
  const before = board.value.me?.principal.id;
  if (person !== undefined) ownDrafts(person.id);
  if (before === undefined || before === person?.id) {
    adoptProof(proof);
    admitLogin();
  } else {
    dropAll();
    window.location.reload();
  }
}

export async function logOut(): Promise<void> {
  await fetch(`${base}/auth/logout`, {
    method: "POST",
    headers: { "content-type": "application/json", ...proofHeaders() },
    body: "{}",
  }).catch(() => undefined);
  forgetProof();
  window.location.reload();
}
