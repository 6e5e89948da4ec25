import { checkCases } from "./contract/checks.ts";
import { commitCases } from "./contract/commits.ts";
import { dueCases } from "./contract/due.ts";
import { erasingCases } from "./contract/erasing.ts";
import { fidelityCases } from "./contract/fidelity.ts";
import { grantCases } from "./contract/grants.ts";
import { guardCases } from "./contract/guards.ts";
import { handleCases } from "./contract/handles.ts";
import { historyCases } from "./contract/history.ts";
import { keyValueStoreCases } from "./contract/key-value-store.ts";
import { filterCases } from "./contract/lists/filters.ts";
import { listCases } from "./contract/lists/lists.ts";
import { previewCases } from "./contract/lists/previews.ts";
import { searchCases } from "./contract/lists/search.ts";
import { viewerCases } from "./contract/lists/viewers.ts";
import { loadCases } from "./contract/load.ts";
import { memoryCases } from "./contract/memory.ts";
import { outboxCases } from "./contract/outbox.ts";
import { ownerCases, suspensionCases } from "./contract/owners.ts";
import type { LedgerCase } from "./contract/subject.ts";

export type { LedgerCase, LedgerSubject } from "./contract/subject.ts";

/**
 * All requirements of `Ledger`, one case each, for any test runner. A store runs them all, each on a fresh subject; one
 * that cannot be opened twice leaves out those that need `reopen`.
 */
export const ledgerContract: readonly LedgerCase[] = [
  ...commitCases,
  ...loadCases,
  ...guardCases,
  ...checkCases,
  ...grantCases,
  ...ownerCases,
  ...suspensionCases,
  ...dueCases,
  ...listCases,
  ...filterCases,
  ...searchCases,
  ...viewerCases,
  ...previewCases,
  ...historyCases,
  ...memoryCases,
  ...keyValueStoreCases,
  ...outboxCases,
  ...erasingCases,
  ...fidelityCases,
  ...handleCases,
];
