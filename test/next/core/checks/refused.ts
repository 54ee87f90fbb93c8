import type { Steps } from '../../../../src/base/steps.ts'
import { isMember, type Key, KeySet, keyText } from '../keys.ts'
import { createChanges } from '../order.ts'
import { fingerprint, kindOf, type Op } from '../../../../src/core/plan/change.ts'
import type { Left } from '../without.ts'
import type { Block } from './check.ts'
import type { Refusal } from './refusals.ts'
import type { RunFacts } from './run-facts.ts'

/** The block of the changes that the service refused in one way, each as a whole: with another value it is another one. */
export function* refusedChanges(
  { left, refusals }: RunFacts,
  how: Refusal['code'],
  code: string,
): Steps<readonly Block[]> {
  const some = refusals.filter((refusal) => refusal.code === how)
  if (some.length === 0) return []
  const changes = yield* createChanges(left, () => 'gone')
  const keys = new KeySet()
  const found = new Map<string, Refusal>()
  for (const refusal of some) {
    const change = yield* changes.of(refusal.op, refusal.id)
    if (change === undefined || fingerprint(change) !== refusal.digest) continue
    for (const key of keysOf(left, refusal)) {
      keys.add(key)
      found.set(keyText(key), refusal)
    }
  }
  const of = (key: Key): unknown => found.get(keyText(key))?.params
  return [{ code, until: 'service', keys, of }]
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
