import type { ReactNode } from "react";
import { useStore } from "../../../ui/store.ts";
import { held, toldInPlace } from "./held.ts";
import { HeldNotice } from "./held-notice.tsx";

/** Decisions that are held and that no card in sight tells of: the way back must be there. */
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
