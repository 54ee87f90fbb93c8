import type { Steps } from '../../base/steps.ts'
import { isMember, type Key, KeySet, keyText } from '../keys.ts'
import { createChanges } from '../order.ts'
import { fingerprint, kindOf, type Op } from '../plan/change.ts'
import { type Left, without } from '../without.ts'
import type { Block } from '../block.ts'
import type { Refusal, RefusalReason, RunFacts } from './check.ts'

/** The block of the changes that the service refused in one way, each as a whole: with another value it is another one. */
export function* refusedChanges(facts: RunFacts, code: RefusalReason['code']): Steps<readonly Block[]> {
  const keys = new KeySet()
  const found = new Map<string, RefusalReason['params']>()
  for (const refusal of yield* refusedIn(facts)) {
    if (refusal.code !== code) continue
    for (const key of keysOf(facts.left, refusal)) {
      keys.add(key)
      found.set(keyText(key), refusal.params)
    }
  }
  if (keys.size === 0) return []
  // The parameters are those of the code.
  return [{ code, params: {}, until: 'service', keys, of: (key) => found.get(keyText(key)) } as Block]
}

const known = new WeakMap<Left, ReadonlySet<Refusal>>()

/** What needs a refused change is sent without those keys, so it may be a change that was refused then. */
function* refusedIn({ left, blocks, outside, refusals }: RunFacts): Steps<ReadonlySet<Refusal>> {
  const before = known.get(left)
  if (before !== undefined || refusals.length === 0) return before ?? new Set()
  const refused = new Set<Refusal>()
  const keys = new KeySet()
  const blocked = [...outside, ...blocks.map((block) => block.keys), keys]
  let rest = left
  for (let count = -1; count < refused.size;) {
    count = refused.size
    const changes = yield* createChanges(rest, () => 'gone')
    for (const refusal of refusals) {
      const change = yield* changes.of(refusal.op, refusal.id)
      if (change === undefined || fingerprint(change) !== refusal.digest) continue
      refused.add(refusal)
      for (const key of keysOf(rest, refusal)) keys.add(key)
    }
    if (refused.size > count) rest = yield* without(left.wanted, blocked)
  }
  known.set(left, refused)
  return refused
}

const OWN_KEY: Partial<Record<Op, 'create' | 'delete'>> = {
  'create-user': 'create',
  'create-group': 'create',
  'delete-user': 'delete',
  'delete-group': 'delete',
}

function* keysOf({ wanted }: Left, { op, id }: Refusal): Generator<Key, void> {
  const kind = kindOf(op)
  const own = OWN_KEY[op]
  if (own !== undefined) yield [kind, id, own]
  else
    for (const key of wanted.keysOf(kind, id)) {
      const isOfMembers = isMember(key[2])
      if (op === 'set-members' ? isOfMembers : !isOfMembers) yield key
    }
}
