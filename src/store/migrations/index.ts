import type { Migration } from 'kysely/migration'
import { leases } from './0001-leases.ts'
import { runs } from './0002-runs.ts'
import { requestBudgets } from './0003-request-budgets.ts'
import { quarantineEntries } from './0004-quarantine-entries.ts'
import { evidence } from './0005-evidence.ts'
import { convergence } from './0006-convergence.ts'
import { waiting } from './0007-waiting.ts'
import { nestedStrangers } from './0008-nested-strangers.ts'
import { apply } from './0009-apply.ts'
import { retention } from './0010-retention.ts'
import { refusedLogins } from './0011-refused-logins.ts'
import { memberLists } from './0012-member-lists.ts'
import { tokenLives } from './0013-token-lives.ts'
import { canaries } from './0014-canaries.ts'
import { largePlans } from './0015-large-plans.ts'
import { missedCreates } from './0016-missed-creates.ts'
import { undo } from './0017-undo.ts'
import { decided } from './0018-decided.ts'
import { configurations } from './0019-configurations.ts'
import { wishes } from './0020-wishes.ts'
import { watching } from './0021-watching.ts'
import { notifications } from './0022-notifications.ts'
import { pages } from './0023-pages.ts'
import { approvers } from './0024-approvers.ts'
import { resumed } from './0025-resumed.ts'
import { quarantineNames } from './0026-quarantine-names.ts'

/** Every migration by its name; the names order them, and one that was released never changes. */
export const migrations: Record<string, Migration> = {
  '0001-leases': leases,
  '0002-runs': runs,
  '0003-request-budgets': requestBudgets,
  '0004-quarantine-entries': quarantineEntries,
  '0005-evidence': evidence,
  '0006-convergence': convergence,
  '0007-waiting': waiting,
  '0008-nested-strangers': nestedStrangers,
  '0009-apply': apply,
  '0010-retention': retention,
  '0011-refused-logins': refusedLogins,
  '0012-member-lists': memberLists,
  '0013-token-lives': tokenLives,
  '0014-canaries': canaries,
  '0015-large-plans': largePlans,
  '0016-missed-creates': missedCreates,
  '0017-undo': undo,
  '0018-decided': decided,
  '0019-configurations': configurations,
  '0020-wishes': wishes,
  '0021-watching': watching,
  '0022-notifications': notifications,
  '0023-pages': pages,
  '0024-approvers': approvers,
  '0025-resumed': resumed,
  '0026-quarantine-names': quarantineNames,
}
