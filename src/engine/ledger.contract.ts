import { commitCases } from "./ledger.contract/commits.ts";
import { dueCases } from "./ledger.contract/due.ts";
import { erasingCases } from "./ledger.contract/erasing.ts";
import { fidelityCases } from "./ledger.contract/fidelity.ts";
import { filterCases } from "./ledger.contract/filters.ts";
import { guardCases } from "./ledger.contract/guards.ts";
import { handleCases } from "./ledger.contract/handles.ts";
import { historyCases } from "./ledger.contract/history.ts";
import { listCases } from "./ledger.contract/lists.ts";
import { loadCases } from "./ledger.contract/load.ts";
import { memoryCases } from "./ledger.contract/memory.ts";
import { outboxCases } from "./ledger.contract/outbox.ts";
import { ownerCases } from "./ledger.contract/owners.ts";
import { previewCases } from "./ledger.contract/previews.ts";
import { searchCases } from "./ledger.contract/search.ts";
import { shelfCases } from "./ledger.contract/shelf.ts";
import type { LedgerCase } from "./ledger.contract/subject.ts";
import { viewerCases } from "./ledger.contract/viewers.ts";

export type { LedgerCase, LedgerSubject } from "./ledger.contract/subject.ts";

/**
 * Every promise of `Ledger`, one case each, free of any test runner. A store runs them all, each on a fresh
 * subject; one that cannot be opened twice leaves out those that need `reopen`.
 */
export const ledgerContract: readonly LedgerCase[] = [
  ...commitCases,
  ...loadCases,
  ...guardCases,
  ...ownerCases,
  ...dueCases,
  ...listCases,
  ...filterCases,
  ...searchCases,
  ...viewerCases,
  ...previewCases,
  ...historyCases,
  ...memoryCases,
  ...shelfCases,
  ...outboxCases,
  ...erasingCases,
  ...fidelityCases,
  ...handleCases,
];
