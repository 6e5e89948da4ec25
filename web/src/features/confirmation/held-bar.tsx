import type { ReactNode } from "react";
import { useRoute } from "../../router.ts";
import { useStore } from "../../ui/store.ts";
import { held } from "./held.ts";
import { HeldNotice } from "./held-notice.tsx";

/** Decisions that are held and whose card is not open: the way back must be in sight. */
export function HeldBar(): ReactNode {
  const route = useRoute();
  const openId = "id" in route ? route.id : undefined;
  const others = useStore(held).filter(
    ({ decisions }) => !decisions.some((decision) => decision.id === openId),
  );
  if (others.length === 0) return null;
  return (
    <div className="held-bar">
      {others.map((one) => (
        <HeldNotice key={one.key} held={one} />
      ))}
    </div>
  );
}
