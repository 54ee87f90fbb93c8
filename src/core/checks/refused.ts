import type { Steps } from '../../base/steps.ts'
import { keysOfChange } from '../blocked.ts'
import { type Key, KeySet, keyText } from '../keys.ts'
import { createChanges } from '../order.ts'
import { fingerprint } from '../plan/change.ts'
import { type Left, without } from '../without.ts'
import type { Block } from '../block.ts'
import type { Refusal, RefusalReason, RunFacts } from './check.ts'

/** The block of the changes that the service refused in one way, each as a whole: with another value it is another one. */
export function* refusedChanges(facts: RunFacts, code: RefusalReason['code']): Steps<readonly Block[]> {
  const keys = new KeySet()
  const found = new Map<string, RefusalReason['params']>()
  for (const [refusal, own] of yield* refusedIn(facts)) {
    if (refusal.code !== code) continue
    for (const key of own) {
      keys.add(key)
      found.set(keyText(key), refusal.params)
    }
  }
  if (keys.size === 0) return []
  // The parameters are those of the code.
  return [{ code, params: {}, until: 'service', keys, of: (key) => found.get(keyText(key)) } as Block]
}

/** With the keys of the refused change. */
type Refused = ReadonlyMap<Refusal, readonly Key[]>

const known = new WeakMap<Left, Refused>()

/** What needs a refused change is sent without those keys, so it may be a change that was refused then. */
function* refusedIn({ left, blocks, outside, refusals }: RunFacts): Steps<Refused> {
  const before = known.get(left)
  if (before !== undefined || refusals.length === 0) return before ?? new Map()
  const refused = new Map<Refusal, readonly Key[]>()
  const keys = new KeySet()
  const blocked = [...outside, ...blocks.map((block) => block.keys), keys]
  let rest = left
  for (let count = -1; count < refused.size;) {
    count = refused.size
    const changes = yield* createChanges(rest, () => 'gone')
    for (const refusal of refusals) {
      const change = yield* changes.of(refusal.op, refusal.id)
      if (change === undefined || fingerprint(change) !== refusal.digest) continue
      const own = [...keysOfChange(rest, change)]
      refused.set(refusal, own)
      for (const key of own) keys.add(key)
    }
    if (refused.size > count) rest = yield* without(left.wanted, blocked)
  }
  known.set(left, refused)
  return refused
}
