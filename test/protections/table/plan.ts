import type { Protection } from '../protection.ts'

/** Plans and guards: `src/plan/`. */
export const PLAN: readonly Protection[] = [
  {
    name: 'plan-first-contact-is-held',
    file: 'plan/guards.ts',
    find: '  if (facts.lastGood !== undefined) return []\n  const deletes = allDeletes(plan)',
    replace: '  if (facts !== undefined) return []\n  const deletes = allDeletes(plan)',
    test: 'unit/plan/guards.test.ts',
  },
]
