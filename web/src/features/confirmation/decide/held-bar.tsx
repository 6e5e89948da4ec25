import type { ReactNode } from "react";
import { useStore } from "../../../ui/store.ts";
import { held, toldInPlace } from "./held.ts";
import { HeldNotice } from "./held-notice.tsx";

/** Held decisions whose cards are not visible, with an undo button. */
export function HeldBar(): ReactNode {
  const inPlace = useStore(toldInPlace);
  const others = useStore(held).filter(({ key }) => !inPlace.has(key));
  if (others.length === 0) return null;
  return (
    <div className="held-bar">
      {others.map((one) => (
        <HeldNotice key={one.key} held={one} />
      ))}
    </div>
  );
}
