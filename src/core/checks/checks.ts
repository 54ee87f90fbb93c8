import { asked } from './asked.ts'
import type { Check } from './check.ts'
import { configurationChanged } from './configuration-changed.ts'
import { containerEmptied } from './container-emptied.ts'
import { emptyDirectory } from './empty-directory.ts'
import { firstContact } from './first-contact.ts'
import { grace } from './grace.ts'
import { groupEmptied } from './group-emptied.ts'
import { keptMembership } from './kept-membership.ts'
import { maxDeletesPerDay } from './max-deletes-per-day.ts'
import { maxDeletes } from './max-deletes.ts'
import { maxMovedIds } from './max-moved-ids.ts'
import { maxUpdates } from './max-updates.ts'
import { minSourceUsers } from './min-source-users.ts'
import { notPersisted } from './not-persisted.ts'
import { policy } from './policy.ts'
import { protect } from './protected.ts'
import { quarantine } from './quarantine.ts'
import { recentlyDeleted } from './recently-deleted.ts'
import { rejected } from './rejected.ts'
import { removalsNotConfirmed } from './removals-not-confirmed.ts'
import { seenAgain } from './seen-again.ts'
import { serverNotNewer } from './server-not-newer.ts'
import { sourceShrunk } from './source-shrunk.ts'
import { undoDeletes } from './undo-deletes.ts'
import { unreadable } from './unreadable.ts'

type Tiers = Readonly<Record<'rules' | 'anomalies' | 'refusals' | 'guards', readonly Check[]>>

export const CHECKS: Tiers = {
  /** A change may be made at all. */
  rules: [rejected, policy, protect, unreadable, grace],
  /** What the read shows of some changes is suspicious. */
  anomalies: [
    seenAgain,
    serverNotNewer,
    containerEmptied,
    groupEmptied,
    removalsNotConfirmed,
    recentlyDeleted,
  ],
  /** Changes that the service does not take. They run late, because a change of which a part is blocked is another one. */
  refusals: [quarantine, notPersisted],
  /** Limits of the whole plan. */
  guards: [
    asked,
    keptMembership,
    firstContact,
    minSourceUsers,
    emptyDirectory,
    sourceShrunk,
    maxDeletes,
    maxDeletesPerDay,
    maxUpdates,
    configurationChanged,
    maxMovedIds,
  ],
}

/** Lists and policy are about what the sync takes from its source: an undo ignores them, and has decisions of its own. */
export function checksOfUndo(run: number): Tiers {
  const limits = [maxDeletes, maxDeletesPerDay, maxUpdates, maxMovedIds]
  const guards = [asked, keptMembership, emptyDirectory, ...limits, undoDeletes(run)]
  return { rules: [rejected], anomalies: [], refusals: CHECKS.refusals, guards }
}
