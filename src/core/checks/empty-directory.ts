import { all, isEmpty, KeySet } from '../keys.ts'
import type { Check } from './check.ts'

/** After a complete run, an empty list without a total is more likely a broken answer than an emptied directory. */
export const emptyDirectory: Check = {
  name: 'empty-directory',
  *judge({ wanted, left, states }) {
    const { unprovedEmpty } = wanted.snapshots.directory
    if (unprovedEmpty.length === 0 || (yield* isEmpty(all(left)))) return []
    return unprovedEmpty.flatMap((kind) => {
      const before = states.size?.[`${kind}s`] ?? 0
      if (before === 0) return []
      const asks = ['fact', 'empty-directory', `${kind}s`] as const
      return [
        {
          code: `empty-directory-${kind}s`,
          params: { kind, before },
          stops: 'plan',
          until: 'decision',
          asks,
          keys: new KeySet(),
        } as const,
      ]
    })
  },
}
