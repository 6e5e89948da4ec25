import { useEffect, useMemo } from "react";
import { useStore } from "../../ui/store.ts";
import { board } from "../inbox/board.ts";
import { notifying } from "../inbox/notifications.ts";
import { startPush } from "./push.ts";
import { hasWorkers, registerIfInstalled } from "./worker-registration.ts";

/** Keeps the subscription of this device, the number on the app's icon, and lets notifications open cards here. */
export function usePush(): void {
  const state = useStore(board);
  const { me, loaded } = state;
  const isOn = useStore(notifying);
  const id = me?.principal.id;
  const offersPush = me?.channels.includes("push") === true;
  useEffect(() => {
    registerIfInstalled();
    return onPlace((place) => {
      window.location.hash = place;
    });
  }, []);
  // Renewed at every start: for the person who is logged in now, with the roles of now.
  useEffect(() => {
    if (isOn && offersPush && id !== undefined) startPush().catch(() => undefined);
  }, [isOn, offersPush, id]);
  const waiting = useMemo(
    () =>
      [...state.confirmations.values()]
        .filter(({ status, can }) => status === "requested" && can.decide)
        .map((confirmation) => confirmation.id)
        .join("\n"),
    [state],
  );
  useEffect(() => {
    if (loaded) tellWorker(waiting === "" ? [] : waiting.split("\n")).catch(() => undefined);
  }, [waiting, loaded]);
}

async function tellWorker(waiting: readonly string[]): Promise<void> {
  if (!hasWorkers()) return;
  const registration = await navigator.serviceWorker.getRegistration();
  registration?.active?.postMessage({ waiting });
}

/** A notification that was clicked names the place of its card. */
function onPlace(open: (place: string) => void): () => void {
  if (!hasWorkers()) return () => undefined;
  const listener = ({ data }: MessageEvent<{ readonly place?: unknown }>): void => {
    if (typeof data.place === "string" && data.place.startsWith("#/")) open(data.place);
  };
  navigator.serviceWorker.addEventListener("message", listener);
  navigator.serviceWorker.startMessages();
  return () => navigator.serviceWorker.removeEventListener("message", listener);
}
