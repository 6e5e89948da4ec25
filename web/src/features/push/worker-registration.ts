import { base } from "../../api/client.ts";

const SCRIPT = `${base}/sw.js`;

/** The part of trusted types that is needed. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** May this browser have a service worker here? Only over https, or on this machine. */
export function hasWorkers(): boolean {
  return "serviceWorker" in navigator && window.isSecureContext;
}

let registered: Promise<ServiceWorkerRegistration> | undefined;

/** The worker that shows notifications and the offline page. It is not installed before somebody wants one of them. */
export function registerWorker(): Promise<ServiceWorkerRegistration> {
  registered ??= navigator.serviceWorker.register(scriptUrl()).then(() => navigator.serviceWorker.ready);
  return registered;
}

/** The page's policy lets this one address be a script, and no other. */
function scriptUrl(): string {
  const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("service-worker", { createScriptURL: () => SCRIPT });
  return policy?.createScriptURL(SCRIPT) ?? SCRIPT;
}

/** An installed app has the offline page. */
export function registerIfInstalled(): void {
  if (hasWorkers() && window.matchMedia("(display-mode: standalone)").matches)
    registerWorker().catch(() => undefined);
}
