import assert from 'node:assert/strict'
import { atOnce } from '../../../../src/base/steps.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import type { Differences } from '../../../../src/core/diff/differences.ts'
import type { DiffRules } from '../../../../src/core/diff/rules.ts'
import { all, type Key, keyText, wholeOf } from '../../../../src/core/keys.ts'
import type { Ended, Job, ToyCheck, World } from './ram.ts'
import {
  deletedBefore,
  emptied,
  found,
  firstContact,
  grace,
  ids,
  maxDeletes,
  maxMembers,
  maxUpdates,
  policy,
  protect,
  quarantine,
  seenAgain,
  server,
  snapshots,
  type Sync,
  sync,
  type ToyGroup,
  type ToyUser,
  unreadable,
} from './toys.ts'

type Random = (n: number) => number

function random(seed: number): Random {
  let a = seed
  return (n) => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % n
  }
}

const USERS = ids(6, 'u')
const GROUPS = ids(3, 'g')

interface Toy {
  readonly world: World
  readonly checks: readonly ToyCheck[]
  readonly rules: DiffRules
}

const idOf = ([id]: ToyUser) => id

function randomToy(r: Random): Toy {
  const some = <T>(list: readonly T[], n = 2) => list.filter(() => r(n) === 0)
  const pick = <T>(list: readonly T[]) => list[r(list.length)]!
  const entries = (list: readonly string[], isUnique: boolean): ToyUser[] => {
    const free = ['a@e', 'b@e', 'c@e', 'd@e', undefined, undefined, undefined]
    return list.map((id) => [id, isUnique ? free.splice(r(free.length), 1)[0] : pick(free), pick(['N', 'M'])])
  }
  const groups = (members: readonly string[]): ToyGroup[] => some(GROUPS).map((id) => [id, some(members)])
  const wanted = entries(some(USERS, 1 + r(2)), r(2) === 0)
  const there = entries(some(USERS, 1 + r(2)), r(4) > 0)
  const world = snapshots(wanted, groups(wanted.map(idOf)), there, groups(there.map(idOf)), {
    seen: some([...USERS, ...GROUPS], 6),
    hidden: new Set(some(USERS)),
    found: new Set(some(USERS, 6)),
    deletedLastDay: new Set(some(USERS, 6)),
    configuration: 'b',
    isUnreadable: r(12) === 0,
    server: r(8) === 0 ? 5 : 9,
  })
  const of = pick(['mirror', 'mirror', 'mirror', 'upsert', 'create-only'] as const)
  const plain: DiffRules = { policy: 'mirror', membership: 'write', allowedDomains: [] }
  const texts = found(all(atOnce(diff(world, plain))))
    .map(keyText)
    .filter((text) => !text.includes('leave'))
  const checks = some([
    grace(pick([0, 7])),
    unreadable,
    policy(of),
    protect(pick(USERS)),
    quarantine(...some(texts, 6)),
    seenAgain,
    emptied,
    deletedBefore,
    server,
    maxDeletes(r(3)),
    maxMembers(r(3)),
    maxUpdates(r(3)),
    firstContact,
  ])
  const isOf = checks.some(({ name }) => name === 'policy')
  return {
    world,
    checks,
    rules: { ...plain, policy: isOf ? of : 'mirror', entries: { users: { exclude: some(USERS, 12) } } },
  }
}

const parse = (text: string) => JSON.parse(text) as Key
const whole = (text: string) => keyText(wholeOf(parse(text)))

/** The directory after these keys; nobody gets an e-mail that another one has, but in a circle. */
function after(toy: Toy, sent: readonly string[]): World {
  const { world } = toy
  const wanted = diffOf(toy)
  const users = new Map(world.directory.users)
  const groups = new Map(world.directory.groups)
  for (const [kind, id, field, value = ''] of sent.map(parse)) {
    if (field === 'create' && kind === 'user') users.set(id, { id, email: null, name: null })
    else if (field === 'create') groups.set(id, { id, name: id, members: [] })
    else if (field === 'delete' && kind === 'group') groups.delete(id)
    else if (field === 'delete') {
      users.delete(id)
      for (const [group, { name, members }] of groups)
        groups.set(group, { id: group, name, members: members.filter((member) => member !== id) })
    } else if (field === '+member' || field === '-member') {
      const { name, members } = groups.get(id)!
      const others = members.filter((member) => member !== value)
      if (field === '+member') assert.ok(users.has(value), `${value} joins ${id}: no such user`)
      groups.set(id, { id, name, members: field === '+member' ? [...others, value].toSorted() : others })
    } else {
      const isTaken = [...users.values()].some((user) => user.id !== id && user.email === value)
      if (field === 'email' && !isInCircle([kind, id, field, value], wanted))
        assert.ok(!isTaken, `${value} is taken`)
      users.set(id, { ...users.get(id)!, [field]: value })
    }
  }
  return { ...world, directory: { ...world.directory, users, groups } }
}

function isInCircle(key: Key, wanted: Differences, seen: ReadonlySet<string> = new Set()): boolean {
  return wanted.needsOf(key).some((need) => {
    if (need[2] !== 'email') return false
    return (
      seen.has(keyText(need)) || isInCircle(need, wanted, new Set([...seen, keyText(need), keyText(key)]))
    )
  })
}

function diffOf({ world, rules }: Pick<Toy, 'world' | 'rules'>): Differences {
  return atOnce(diff(world, rules))
}

const same = (some: readonly string[], others: readonly string[] = [], message?: string) =>
  assert.deepEqual(some.toSorted(), others.toSorted(), message)

class Player {
  readonly toy: Toy
  readonly sync: Sync
  world: World

  constructor(toy: Toy, checks = toy.checks) {
    this.toy = toy
    this.sync = sync(checks, { rules: toy.rules })
    this.sync.store.states.set('server', 7)
    this.world = toy.world
  }

  run(job?: Partial<Job>): Ended {
    return this.sync.run(this.world, job)
  }

  /** Runs, and the directory is as the run left it. */
  play(): Ended {
    const ended = this.run()
    this.world = after({ ...this.toy, world: this.world }, ended.sent)
    return ended
  }
}

function checkWorld(seed: number): void {
  const r = random(seed)
  const toy = randomToy(r)
  const first = new Player(toy).run()
  sendsOnlyWhatItMay(toy, first)
  isAlwaysTheSame(toy, first, r)
  const s = new Player(toy)
  s.play()
  const second = s.play()
  same(second.sent, [], 'a second run changes something')
  rejectingAll(toy)
  approvingOne(toy, `u00${r(6)}`)
  approvingAll(s, second)
  ofAPart(toy, new Set([`u00${r(6)}`, 'g000']))
}

function sendsOnlyWhatItMay(toy: Toy, { blocks, sent, left }: Ended): void {
  const wanted = diffOf(toy)
  const blocked = new Set(blocks.flatMap(({ keys }) => found(keys)).map(keyText))
  for (const text of sent) {
    const key = parse(text)
    assert.ok(!blocked.has(text), `blocked and sent: ${text}`)
    assert.ok(key[2] !== 'delete' || left.has(wholeOf(key)), `a delete without leave: ${text}`)
    if (isInCircle(key, wanted)) continue
    for (const need of wanted.needsOf(key)) {
      const place = sent.indexOf(keyText(need))
      const isDone = need[2] === 'leave' ? left.has(need) : place >= 0 && place < sent.indexOf(text)
      assert.ok(isDone, `${text} before ${keyText(need)}`)
    }
  }
  const stays = new Set(
    [...blocked]
      .map(parse)
      .filter(([, , field]) => field === 'leave')
      .map(([, id]) => id),
  )
  for (const [, , field, value = ''] of sent.map(parse))
    assert.ok(field !== '-member' || !stays.has(value), `${value} is blocked and a membership is gone`)
}

function isAlwaysTheSame(toy: Toy, { plan }: Ended, r: Random): void {
  assert.deepEqual(new Player(toy).run().plan, plan)
  const shuffled = toy.checks.toSorted(() => r(3) - 1)
  assert.deepEqual(new Player(toy, shuffled).run().plan, plan, 'the order of checks matters')
  const again = new Player(toy)
  const failed = again.run({ fails: () => true })
  assert.deepEqual(again.run().plan, failed.plan, 'a run that is made again has another plan')
}

function rejectingAll(toy: Toy): void {
  const player = new Player(toy)
  const first = player.run()
  let last = first.id
  for (let round = 0; round < 5; round += 1) {
    player.sync.reject(last, { all: true })
    const next = player.play()
    assert.ok(!next.sent.some((text) => first.asked.includes(whole(text))), 'rejected and sent')
    if (round === 4) same(next.asked)
    last = next.id
  }
}

function approvingOne(toy: Toy, chosen: string): void {
  const player = new Player(toy)
  const first = player.run()
  player.sync.approve(first.id, { id: [chosen] })
  for (const text of player.run().sent.map(whole))
    assert.ok(
      !first.asked.includes(text) || parse(text).includes(chosen),
      `sent and asked of another: ${text}`,
    )
}

const MOST_ROUNDS = 6

function approvingAll(player: Player, last: Ended): void {
  let ended = last
  for (let round = 0; ended.asked.length > 0 && round < MOST_ROUNDS; round += 1) {
    player.sync.approve(ended.id, { all: true })
    ended = player.play()
  }
  same(ended.asked)
  assert.ok(ended.blocks.every(({ until }) => until !== 'decision'))
}

function ofAPart(toy: Toy, scope: ReadonlySet<string>): void {
  const player = new Player(toy)
  const { sent } = player.run({ scope: { user: scope, group: scope } })
  const wanted = diffOf(toy)
  const mine = new Set<string>()
  const reach = (key: Key): void => {
    if (mine.has(keyText(key))) return
    mine.add(keyText(key))
    for (const need of wanted.needsOf(key)) {
      reach(need)
      // An entry is created with its values.
      if (need[2] === 'create')
        for (const own of wanted.keysOf(need[0], need[1]))
          if (own[2] === 'name' || own[2] === 'email') reach(own)
    }
  }
  for (const key of found(all(wanted))) if (key.some((part) => scope.has(part ?? ''))) reach(key)
  assert.ok(
    sent.every((text) => mine.has(text)),
    'a part does more than its part',
  )
  const isAboutPart = (text: string) =>
    text.includes('server') || parse(text).some((part) => scope.has(part ?? ''))
  assert.ok(player.sync.open().every(isAboutPart), 'a part asks about more than its part')
}

export function checkWorlds(from: number, to: number): void {
  for (let seed = from; seed < to; seed += 1)
    try {
      checkWorld(seed)
    } catch (error) {
      throw new Error(`world ${seed}`, { cause: error })
    }
}
