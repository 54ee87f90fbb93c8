import type { Protection } from '../protection.ts'

const PARTS = 'integration/run-parts.test.ts'

/** The approval of a part of a plan, and holds that expire. */
export const PARTS_OF_PLANS: readonly Protection[] = [
  {
    name: 'parts-what-is-left-out-is-held',
    file: 'sync/run.ts',
    find: 'stillLeftOut(plan, memory.leftOut)',
    replace: 'stillLeftOut(plan, memory.leftOut && undefined)',
    test: PARTS,
    only: 'what was left out is held',
  },
  {
    name: 'parts-apply-nothing-that-a-guard-holds',
    file: 'sync/run.ts',
    find: '(print) => !held.has(print))',
    replace: '(print) => !held.has(`not ${print}`))',
    test: PARTS,
    only: 'what came since the approval',
  },
  {
    name: 'parts-give-no-email-that-a-held-delete-keeps',
    file: 'plan/part/choose.ts',
    find: 'if ([...all].every((needed) => possible.has(needed)))',
    replace: 'if ([...all].some((needed) => possible.has(needed)))',
    test: PARTS,
    only: 'not by a delete that is held',
  },
  {
    name: 'parts-take-nobody-out-of-groups-who-is-not-deleted',
    file: 'plan/part/choose.ts',
    find: 'if (users.deleted.has(user)) return users.chosen.has(user)',
    replace: 'if (users.deleted.has(user)) return true',
    test: PARTS,
    only: 'members alone leave those',
  },
  {
    name: 'parts-add-nobody-to-groups-who-is-not-created',
    file: 'plan/part/choose.ts',
    find: 'if (users.created.has(user)) return users.chosen.has(user)',
    replace: 'if (users.created.has(user)) return true',
    test: PARTS,
    only: 'one person is approved',
  },
  {
    name: 'parts-leave-a-hold-of-its-own',
    file: 'store/holds.ts',
    find: 'if (open.decisions.some(({ part }) => part !== undefined)) return false',
    replace: 'if (open.decisions.some(({ part }) => part === null)) return false',
    test: PARTS,
    only: 'the rest waits as a hold of its own',
  },
  {
    name: 'holds-that-expired-take-no-decision',
    file: 'control/approve-part.ts',
    find: 'if (!isExpired(run) || run.hold_expires_at === null) return',
    replace: 'if (isExpired(run) || run.hold_expires_at === null) return',
    test: PARTS,
    only: 'a hold expires',
  },
  {
    name: 'holds-that-expired-are-made-anew',
    file: 'store/holds.ts',
    find: '  if (open.is_expired) return false\n',
    replace: '',
    test: PARTS,
    only: 'a hold expires',
  },
]
