import type { Steps } from '../../../../src/base/steps.ts'
import type { Block } from '../../../../src/core/block.ts'
import type { DiffRules } from '../../../../src/core/diff/rules.ts'
import type { GroupEntry, Kind, UserEntry } from '../../../../src/core/entries/entry.ts'
import {
  all,
  type Field,
  type Key,
  type Keys,
  KeySet,
  keyText,
  type Sparse,
  wholeOf,
} from '../../../../src/core/keys.ts'
import { isRemoval } from '../../../../src/core/order.ts'
import type { Left } from '../../../../src/core/without.ts'
import {
  type Ended,
  isDoubted,
  type Job,
  type Part,
  RamStore,
  run,
  type ToyCheck,
  type ToyFacts,
  type World,
} from './ram.ts'

export type ToyUser = readonly [id: string, email?: string | undefined, name?: string | undefined]
export type ToyGroup = readonly [id: string, members: readonly string[]]
export type More = Partial<Omit<World, 'source' | 'directory'>> & { readonly seen?: readonly string[] }

export const K = (...key: readonly unknown[]): string => JSON.stringify(key)
export const leave = (id: string) => K('user', id, 'leave')
export const del = (id: string, kind: Kind = 'user') => K(kind, id, 'delete')
export const create = (id: string, kind: Kind = 'user') => K(kind, id, 'create')
export const mail = (id: string, email: string) => K('user', id, 'email', email)
export const name = (id: string, text: string) => K('user', id, 'name', text)
export const plus = (group: string, id: string) => K('group', group, '+member', id)
export const minus = (group: string, id: string) => K('group', group, '-member', id)
export const ids = (n: number, prefix: string) =>
  Array.from({ length: n }, (_, i) => `${prefix}${String(i).padStart(3, '0')}`)
export const person = (id: string): ToyUser => [id, `${id}@e`, id]
export const rest = ids(100, 'r').map(person)
export const x = person('x')

/** `seen`: ids that were read and could not be used. */
export function snapshots(
  sourceUsers: readonly ToyUser[],
  sourceGroups: readonly ToyGroup[],
  directoryUsers: readonly ToyUser[],
  directoryGroups: readonly ToyGroup[],
  { seen = [], ...more }: More = {},
): World {
  const users = sourceUsers.map(([id, email, text]): UserEntry => ({
    id,
    email,
    name: text,
    employeeId: undefined,
    from: `uid=${id}`,
  }))
  const groups = sourceGroups.map(([id, members]): GroupEntry => ({
    id,
    name: id,
    members: members.toSorted(),
    from: `cn=${id}`,
  }))
  return {
    source: {
      users: byId(users),
      groups: byId(groups),
      covers: { groups: true, members: true },
      seen: {
        user: new Set([...users.map(({ id }) => id), ...seen]),
        group: new Set([...groups.map(({ id }) => id), ...seen]),
      },
      unreadable: more.isUnreadable === true ? 1 : 0,
      notices: [],
    },
    directory: {
      users: byId(
        directoryUsers.map(([id, email, text]) => ({ id, email: email ?? null, name: text ?? null })),
      ),
      groups: byId(directoryGroups.map(([id, members]) => ({ id, name: id, members: members.toSorted() }))),
      notices: [],
      moved: false,
      unprovedEmpty: [],
    },
    hidden: new Set(),
    found: new Set(),
    deletedLastDay: new Set(),
    isUnreadable: false,
    isPartial: false,
    configuration: '',
    server: 0,
    ...more,
  }
}

function byId<T extends { readonly id: string }>(entries: readonly T[]): ReadonlyMap<string, T> {
  return new Map(entries.map((entry) => [entry.id, entry]))
}

/** `n` absent users l000…, and newcomers. */
export const leavers = (n: number, newcomers: readonly ToyUser[] = [], more?: More) =>
  snapshots([...rest, ...newcomers], [], [...rest, ...ids(n, 'l').map(person)], [], more)

const KINDS = ['user', 'group'] as const
export const found = (keys: Sparse<Key>): readonly Key[] => [...keys].filter((key) => key !== undefined)
export const keysIn = (plan: Keys, ...fields: readonly Field[]): readonly Key[] =>
  fields.flatMap((field) => KINDS.flatMap((kind) => found(plan.of(kind, field))))
const wholes = (keys: Iterable<Key>) => new KeySet([...keys].map(wholeOf))

type Until = Block['until']
/** Toys have codes of their own. */
const blockOf = (block: Omit<Block, 'code' | 'params' | 'of'> & { readonly code: string }): Block =>
  ({ ...block, params: {} }) as unknown as Block

function check(
  tier: ToyCheck['tier'],
  code: string,
  until: Until,
  keysOf: (facts: ToyFacts) => Iterable<Key>,
  more: Partial<ToyCheck> = {},
): ToyCheck {
  return {
    tier,
    name: code,
    *judge(facts): Steps<readonly Block[]> {
      return [blockOf({ code, until, keys: new KeySet(keysOf(facts)) })]
    },
    ...more,
  }
}

const rule = (
  code: string,
  until: Until,
  keysOf: (facts: ToyFacts) => Iterable<Key>,
  more?: Partial<ToyCheck>,
) => check('rules', code, until, keysOf, more)
const anomaly = (
  code: string,
  until: Until,
  keysOf: (facts: ToyFacts) => Iterable<Key>,
  more?: Partial<ToyCheck>,
) => check('anomalies', code, until, keysOf, more)

/** A guard counts what is not approved. */
export function guard(
  code: string,
  keysOf: (facts: ToyFacts) => Iterable<Key>,
  isTooMuch: (keys: number, facts: ToyFacts) => boolean,
  keeps?: ToyCheck['keeps'],
): ToyCheck {
  return {
    tier: 'guards',
    name: code,
    ...(keeps && { keeps }),
    *judge(facts): Steps<readonly Block[]> {
      const keys = new KeySet(
        [...keysOf(facts)].map(wholeOf).filter((key) => !facts.decisions.isApproved(key)),
      )
      return isTooMuch(keys.size, facts) ? [blockOf({ code, stops: 'plan', until: 'decision', keys })] : []
    },
  }
}

const isDeletion = ([, , field]: Key) => field === 'leave' || field === 'delete'
const later = ({ left, blocks }: ToyFacts) => [
  ...keysIn(left, 'delete'),
  ...blocks
    .filter(({ until }) => until === 'time' || until === 'read')
    .flatMap(({ keys }) => found(keys))
    .filter(isDeletion),
]
const counted = (left: Left, field: Field) =>
  keysIn(left, field).filter((key) => field !== '-member' || isRemoval(left, key))

export const unreadable = rule('unreadable', 'read', ({ wanted, world }) =>
  world.isUnreadable ? wholes(keysIn(wanted, 'delete', '-member')) : [],
)
export const policy = (of: DiffRules['policy']) =>
  rule('policy', 'configuration', ({ wanted }) =>
    of === 'mirror'
      ? []
      : found(all(wanted)).filter(
          ([kind, id, field]) =>
            ['leave', 'delete', '-member'].includes(field) ||
            (of === 'create-only' && wanted.isThere(kind, id)),
        ),
  )
export const protect = (id: string) =>
  rule('protected', 'configuration', ({ wanted }) =>
    [['user', id, 'leave'] as const].filter((key) => wanted.has(key)),
  )
export const quarantine = (...texts: readonly string[]) =>
  rule('quarantine', 'service', ({ wanted }) =>
    texts.map((text) => JSON.parse(text) as Key).filter((key) => wanted.has(key)),
  )
const sinceIn = ({ states }: ToyFacts) => states.get('grace') as ReadonlyMap<string, number> | undefined

export const grace = (days: number) => {
  return rule(
    'grace',
    'time',
    (facts) =>
      keysIn(facts.wanted, 'delete').filter(
        (key) => facts.job.now - (sinceIn(facts)?.get(keyText(key)) ?? facts.job.now) < days,
      ),
    {
      // `begun`: who is there again; the end: who is missing since when
      keeps(facts, moment) {
        const { wanted, world, job } = facts
        const isBack = (id: string) => world.source.seen.user.has(id) || world.found.has(id)
        const since = new Map(
          [...(sinceIn(facts) ?? [])].filter(([text]) => !isBack((JSON.parse(text) as Key)[1])),
        )
        if (moment !== 'begun')
          for (const key of keysIn(wanted, 'delete'))
            if (!since.has(keyText(key)) && !isBack(key[1])) since.set(keyText(key), job.now)
        return since
      },
    },
  )
}
export const seenAgain = anomaly('seen-again', 'read', ({ left, world }) =>
  wholes(keysIn(left, 'leave', 'delete').filter(([, id]) => world.found.has(id))),
)
export const emptied = anomaly(
  'container-emptied',
  'decision',
  ({ left, world }) => keysIn(left, 'leave').filter(([, id]) => world.hidden.has(id)),
  { concerns: ['leave'] },
)
export const deletedBefore = anomaly('recently-deleted', 'time', ({ left, world }) =>
  keysIn(left, 'create').filter(([, id]) => world.deletedLastDay.has(id)),
)
export const server: ToyCheck = {
  tier: 'anomalies',
  name: 'server',
  *judge({ wanted, states, world }): Steps<readonly Block[]> {
    if (world.server >= ((states.get('server') as number | undefined) ?? 0)) return []
    const asks = ['fact', 'server', `at ${world.server}`] as const
    const keys = wholes(keysIn(wanted, 'delete', '-member'))
    return [blockOf({ code: 'server-older', until: 'read', asks, keys })]
  },
  // The record of a doubted server stays.
  keeps: ({ blocks, world }) => (isDoubted(blocks) ? undefined : world.server),
}
export const sourceEmpty: ToyCheck = {
  tier: 'guards',
  name: 'source-empty',
  *judge({ world }): Steps<readonly Block[]> {
    if (world.source.users.size > 0) return []
    const asks = ['fact', 'source', 'is empty'] as const
    const keys = new KeySet()
    return [blockOf({ code: 'source-empty', stops: 'plan', until: 'decision', asks, keys })]
  },
}
export const maxDeletes = (limit: number) =>
  guard(
    'max-deletes',
    ({ left }) => counted(left, 'delete'),
    (keys) => keys > limit,
  )
export const maxMembers = (limit: number) =>
  guard(
    'max-removals',
    ({ left }) => counted(left, '-member'),
    (keys) => keys > limit,
  )
export const maxUpdates = (limit: number) =>
  guard(
    'max-updates',
    ({ left }) => counted(left, 'name'),
    (keys) => keys > limit,
  )
export const firstContact = guard(
  'first-contact',
  later,
  (keys, { states }) => keys > 0 && states.get('first-contact') !== true,
  (_, moment) => (moment === 'applied' ? true : undefined),
)
export const configuration = guard(
  'configuration-changed',
  later,
  (keys, { states, world }) => keys > 20 && states.get('configuration-changed') !== world.configuration,
  ({ world }, moment) => (moment === 'applied' ? world.configuration : undefined),
)

export interface Sync {
  readonly store: RamStore
  open(): readonly string[]
  run(world: World, job?: Partial<Job>): Ended
  approve(run: number, part?: Part, now?: number): number
  reject(run: number, part?: Part, now?: number): number
}

export function sync(
  checks: readonly ToyCheck[] = [],
  {
    rules,
    origin = 'sync',
    store = new RamStore(),
  }: { rules?: Partial<DiffRules>; origin?: string; store?: RamStore } = {},
): Sync {
  const full: DiffRules = { policy: 'mirror', membership: 'write', allowedDomains: [], ...rules }
  return {
    store,
    open: () => [...store.decisions(origin, 0).open()].filter((text) => text !== undefined),
    run: (world, job) =>
      run(checks, {
        world,
        job: { now: 0, isDry: false, scope: undefined, crash: false, fails: () => false, ...job },
        origin,
        store,
        rules: full,
      }),
    approve: (id, part, now) => store.decide('approve', id, part, now),
    reject: (id, part, now) => store.decide('reject', id, part, now),
  }
}

export const codes = ({ blocks }: Ended) => [...new Set(blocks.map(({ code }) => code))].toSorted().join(' ')
