import type { FrameEnd, FrameRecord } from "../../engine/index.ts";
import { tellParent } from "../agents/index.ts";

/** The end of a frame that cannot go on: an event says why, and whoever called it is told. */
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
