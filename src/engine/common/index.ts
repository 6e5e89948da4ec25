/**
 * Small things that every part of the engine uses: the clock, ids, digests, schemas, names, sizes. Nothing here knows
 * about calls, questions or the ledger. Decided here: what time it is and how ids are made; which JSON values are equal
 * and how they are digested; whether a value fits a schema, and the error message if not; which names a ledger can
 * store; which parts of a value are secret and what replaces them.
 */

export { type Clock, jitter, pauseBriefly, systemClock } from "./clock.ts";
export { copyJson, throughJson } from "./copy-json.ts";
export {
  bodyDigest,
  bodyDigestAfter,
  bodyDigestPrefix,
  definitionDigest,
  type ToolDefinition,
  valueDigest,
} from "./digest.ts";
export { erasedUser } from "./erased-user.ts";
export { errorText } from "./error-text.ts";
export { hmac } from "./hmac.ts";
export { createIds, type NewId } from "./ids.ts";
export { refuseUnknown } from "./known-options.ts";
export { ManualClock } from "./manual-clock.ts";
export { checkSessionName, checkStateKey, flawOfName, storableText } from "./names.ts";
export { REDACTED, redact, unredact } from "./redact.ts";
export { confirmationId, confirmationPrefix, sessionOf } from "./row-ids.ts";
export { changedMembers, sameJson } from "./same-json.ts";
export { checkSchema } from "./schema/json-schema.ts";
export {
  type Form,
  isStandardSchema,
  isThenable,
  type Parameters,
  type ParseOutcome,
  type PayloadReading,
  readForm,
  readShape,
  type Shape,
  type StandardSchema,
} from "./schema/schema.ts";
export { bytesOf, checkRoom, fittingResponse, sessionFull, tooMuchState } from "./sizes.ts";
export { type Trace, type Traced, type TraceLink, untraced } from "./trace.ts";
export { TransientMap } from "./transient-map.ts";
export { unlessClosed } from "./unless-closed.ts";
