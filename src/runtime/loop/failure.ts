import type { FrameEnd, FrameRecord } from "../../engine/index.ts";
import { tellParent } from "../agents/index.ts";

/** Ends a frame that cannot continue: an event says why, and its caller gets the error. */
export function failureOf(frame: FrameRecord, errorCode: string, errorMessage: string): FrameEnd {
  return {
    status: "failed",
    event: {
      author: frame.agent,
      invocationId: frame.invocation,
      ...(frame.branch === undefined ? {} : { branch: frame.branch }),
      errorCode,
      errorMessage,
    },
    output: { error: errorMessage },
    ...tellParent(frame, { failed: true }),
  };
}
