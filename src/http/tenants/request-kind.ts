/** What a request does: it decides or ends something, it reports on a call that runs, or it is any other. */
type RequestKind = "deciding" | "reporting" | "other";

const REPORTING = /\/v1\/calls\/[^/]+\/(?:heartbeat|result|failure)$/;
const DECIDING =
  /\/v1\/(?:decisions|confirmations\/[^/]+\/(?:decision|vote-withdrawal|cancellation|settlement)|calls\/[^/]+\/settlement|grants\/[^/]+\/revoke)$/;

/** By method and path, before anybody is known to have sent it. The app may be below any path. */
export function kindOf({ method, url }: Pick<Request, "method" | "url">): RequestKind {
  if (method === "DELETE") return "deciding";
  const { pathname } = new URL(url);
  if (method !== "POST") return "other";
  if (REPORTING.test(pathname)) return "reporting";
  return DECIDING.test(pathname) ? "deciding" : "other";
}
