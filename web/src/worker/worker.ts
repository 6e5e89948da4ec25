/** An event that the browser waits for. */
export interface WaitEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

export interface NotificationEvent extends WaitEvent {
  readonly notification: Notification;
}

interface Events {
  readonly install: WaitEvent;
  readonly fetch: WaitEvent & {
    readonly request: Request;
    respondWith(answer: Promise<Response>): void;
  };
  readonly push: WaitEvent & { readonly data: { text(): string } | null };
  readonly notificationclick: NotificationEvent;
  readonly message: WaitEvent & { readonly data: unknown };
}

interface OpenWindow {
  readonly url: string;
  focus(): Promise<unknown>;
  postMessage(message: unknown, transfer: readonly never[]): void;
}

/** What is used of a service worker's own world, which TypeScript cannot have beside a page's. */
interface Worker {
  readonly registration: ServiceWorkerRegistration;
  readonly navigator: Pick<Navigator, "setAppBadge" | "clearAppBadge">;
  readonly clients: {
    matchAll(which: {
      readonly type: "window";
      readonly includeUncontrolled: boolean;
    }): Promise<readonly OpenWindow[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void;
}

export const worker: Worker = globalThis as unknown as Worker;
