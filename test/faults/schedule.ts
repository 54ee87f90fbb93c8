import fc from 'fast-check'
import type { Edit } from './company-history.ts'

export type ProcessName = 'daemon' | 'worker'

/** What the API does to requests while a fault lasts. */
export const API_TROUBLES = [
  'errors',
  'unavailable',
  'busy',
  'lost',
  'half',
  'page-before',
  'page-after',
  'slow',
  'away',
  'list-first',
  'list-half',
] as const
export type ApiTrouble = (typeof API_TROUBLES)[number]

export const LDAP_TROUBLES = [
  'cut',
  'hang-up',
  'stall',
  'busy',
  'notice',
  'left-over-cookie',
  'empty-page',
  'hide',
] as const
export type LdapTrouble = (typeof LDAP_TROUBLES)[number]

/** `at` and `for` are milliseconds; `at` counts from the beginning of the schedule. */
export type Fault = {
  readonly at: number
  readonly for: number
  /** Then waits for the next write of dirsyncd, for up to three seconds. */
  readonly whenWriting?: true
} & (
  | { readonly kind: 'kill'; readonly who: ProcessName }
  | { readonly kind: 'freeze'; readonly who: ProcessName }
  | { readonly kind: 'redis-restart' | 'redis-flush' | 'redis-pause' }
  | { readonly kind: 'postgres-restart' | 'postgres-freeze' | 'postgres-cut' }
  | { readonly kind: 'clock'; readonly days: 1 | -1 }
  | { readonly kind: 'api'; readonly trouble: ApiTrouble; readonly share: number }
  /** Some answers 429 with a Retry-After of a day. */
  | { readonly kind: 'retry-after-day' }
  /** Somebody else deletes the entry that the next update is about. */
  | { readonly kind: 'outside-delete' }
  | { readonly kind: 'ldap'; readonly trouble: LdapTrouble; readonly page: number; readonly entry: number }
)

export interface Schedule {
  readonly seed: number
  readonly users: number
  readonly groups: number
  readonly oddIds: boolean
  /** What the directory has before the first run, against the source. */
  readonly before: 'equal' | 'empty' | 'differing' | 'strangers'
  /** Whether one run ends before the faults begin. */
  readonly prelude: boolean
  readonly backend: 'embedded' | 'postgres' | 'redis'
  readonly worker: boolean
  readonly source: 'csv' | 'ldap'
  /** Whether the service refuses an external id that it has. */
  readonly uniqueIds: boolean
  /** Entries on a page of the directory's lists. */
  readonly perPage: number
  readonly times: 'tenth' | 'real'
  /** The most entries that one request creates. */
  readonly createBatch: number
  readonly edits: readonly Edit[]
  readonly faults: readonly Fault[]
}

/** Edits and faults begin within so many milliseconds. */
const LENGTH = 5000

/** The people of the beginning fill so many pages of the LDAP server. */
export const LDAP_PAGES = 4

/** Long enough that a run begins meanwhile. */
const MEETS_A_RUN = 3500

/** The same schedule for the same seed. */
export function scheduleOf(seed: number): Schedule {
  const [shape] = fc.sample(fc.noBias(shapeArbitrary), { seed, numRuns: 1 })
  const { scenes, edits, ...rest } = shape!
  const worker = rest.backend !== 'embedded' && rest.worker
  const prelude = rest.prelude || rest.before === 'strangers'
  const base = { ...rest, seed, worker, prelude }
  const parts = withSourceFault(scenes, base).flatMap((scene) => partsOf(scene, base))
  const faults = parts.filter((part): part is Fault => 'kind' in part).toSorted(byTime)
  const added = parts.filter((part): part is Edit => !('kind' in part))
  return { ...base, edits: [...edits, ...added].toSorted(byTime), faults }
}

/** An LDAP server always has a fault, because few schedules have such a server. */
function withSourceFault(scenes: readonly Scene[], { source }: Base): readonly Scene[] {
  const [first, ...rest] = scenes
  return source === 'csv' || first === undefined ? scenes : [{ ...first, scene: 'source' }, ...rest]
}

const atArbitrary = fc.integer({ min: 200, max: LENGTH })

const editArbitrary: fc.Arbitrary<Edit> = fc.record({
  at: atArbitrary,
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  join: fc.integer({ min: 0, max: 12 }),
  leave: fc.integer({ min: 0, max: 6 }),
  rename: fc.integer({ min: 0, max: 15 }),
  readdress: fc.integer({ min: 0, max: 8 }),
  swap: fc.integer({ min: 0, max: 2 }),
  teams: fc.integer({ min: 0, max: 2 }),
  regroup: fc.integer({ min: 0, max: 4 }),
  again: fc.constantFrom(false, false, true),
})

/** What a scene is made of; which of its numbers count depends on its kind. */
const sceneArbitrary = fc.record({
  at: atArbitrary,
  long: fc.integer({ min: 300, max: 4000 }),
  short: fc.integer({ min: 50, max: 1500 }),
  who: fc.constantFrom<ProcessName>('daemon', 'worker'),
  process: fc.constantFrom('kill' as const, 'freeze' as const),
  trouble: fc.constantFrom(...API_TROUBLES),
  // These two are the hardest to notice.
  ldap: fc.constantFrom(...LDAP_TROUBLES, ...(['hide', 'hide', 'empty-page'] as const)),
  share: fc.constantFrom(0.1, 0.3, 0.6, 1),
  page: fc.integer({ min: 1, max: 2 }),
  entry: fc.integer({ min: 1, max: 40 }),
  days: fc.constantFrom(1 as const, -1 as const),
  store: fc.integer({ min: 0, max: 5 }),
  edit: editArbitrary,
  scene: fc.constantFrom(
    ...(['process', 'process', 'api', 'api', 'api', 'lost', 'store', 'store', 'store', 'store'] as const),
    ...(['source', 'clock', 'day', 'outside', 'overtaken', 'overtaken'] as const),
  ),
})
type Scene = typeof sceneArbitrary extends fc.Arbitrary<infer T> ? T : never

const shapeArbitrary = fc.record({
  users: fc.integer({ min: 20, max: 300 }),
  groups: fc.integer({ min: 2, max: 20 }),
  oddIds: fc.boolean(),
  before: fc.constantFrom(...(['equal', 'equal', 'empty', 'differing', 'differing', 'strangers'] as const)),
  prelude: fc.constantFrom(true, true, true, false),
  backend: fc.constantFrom('embedded' as const, 'postgres' as const, 'redis' as const),
  worker: fc.boolean(),
  source: fc.constantFrom('csv' as const, 'csv' as const, 'ldap' as const),
  uniqueIds: fc.boolean(),
  perPage: fc.constantFrom(100, 100, 30),
  times: fc.constantFrom('real' as const, ...Array.from({ length: 9 }, () => 'tenth' as const)),
  edits: fc.array(editArbitrary, { minLength: 1, maxLength: 3 }),
  scenes: fc.array(sceneArbitrary, { minLength: 1, maxLength: 4 }),
  createBatch: fc.constantFrom(1, 4, 100),
})

type Base = Omit<Schedule, 'edits' | 'faults'>

function partsOf(scene: Scene, base: Base): (Fault | Edit)[] {
  const { at, long, short, share } = scene
  const who = base.worker ? scene.who : 'daemon'
  const edit = { ...scene.edit, at: Math.max(50, at - 300) }
  switch (scene.scene) {
    case 'process':
      return meeting(scene, { at, for: scene.process === 'kill' ? short : long, kind: scene.process, who })
    case 'api':
      return [edit, { at, for: long, kind: 'api', trouble: scene.trouble, share }]
    case 'lost':
      // Enough new users that they are created together.
      return [
        { ...edit, join: edit.join + 4 },
        { at: edit.at, for: long, kind: 'api', trouble: 'lost', share, whenWriting: true },
      ]
    case 'store':
      return meeting(scene, storeFault(scene, base))
    case 'source':
      if (base.source === 'csv') return [edit, { at, for: long, kind: 'api', trouble: scene.trouble, share }]
      return [
        { ...edit, at, join: edit.join + 4, leave: 0 },
        {
          at: at + 1,
          for: Math.max(MEETS_A_RUN, long),
          kind: 'ldap',
          trouble: scene.ldap,
          page: ldapPage(scene),
          entry: scene.entry,
        },
      ]
    case 'clock':
      return [{ at, for: long, kind: 'clock', days: scene.days }]
    case 'day':
      return [edit, { at, for: long, kind: 'retry-after-day' }]
    case 'outside':
      if (!base.prelude) return [edit]
      return [edit, { at: edit.at, for: Math.max(MEETS_A_RUN, long), kind: 'outside-delete' }]
    case 'overtaken':
      return overtaken(scene, base)
  }
}

/**
 * The second look of a connection that hides somebody must be a healthy one, and it begins with page 2. An empty page
 * is the one that only newcomers are on: of others the second look would notice that they are missing.
 */
function ldapPage({ ldap, page }: Scene): number {
  if (ldap === 'hide') return 1
  return ldap === 'empty-page' ? LDAP_PAGES + 1 : page
}

/** Every other of these faults waits until changes are applied. */
function meeting({ edit, at, short }: Scene, fault: Fault): (Fault | Edit)[] {
  return short % 2 === 0
    ? [fault]
    : [
        { ...edit, at: Math.max(50, at - 300) },
        { ...fault, whenWriting: true },
      ]
}

function storeFault({ at, long, short, store }: Scene, { backend }: Base): Fault {
  if (backend === 'embedded') return { at, for: short, kind: 'kill', who: 'daemon' }
  if (backend === 'redis' && store < 4) {
    const kind = (['redis-restart', 'redis-flush', 'redis-flush', 'redis-pause'] as const)[store]!
    return { at, for: kind === 'redis-pause' ? long : short, kind }
  }
  const kind = (['postgres-restart', 'postgres-freeze', 'postgres-cut'] as const)[store % 3]!
  return { at, for: kind === 'postgres-freeze' ? long : short, kind }
}

/** A process is killed or frozen while its writes wait, and the source goes on. */
function overtaken(scene: Scene, base: Base): (Fault | Edit)[] {
  const { at, long, short, share } = scene
  const who = base.worker ? scene.who : 'daemon'
  const trouble = scene.trouble === 'slow' ? 'slow' : 'unavailable'
  const whenWriting = true as const
  const killed = base.worker && who === 'worker' ? 'daemon' : who
  return [
    { ...scene.edit, at: Math.max(50, at - 300), rename: scene.edit.rename + 20 },
    { at, for: 2500, kind: 'api', trouble, share: Math.max(0.3, share), whenWriting },
    { at: at + 100, for: long, kind: 'freeze', who, whenWriting },
    { at: at + 200, for: short, kind: 'kill', who: killed, whenWriting },
    { ...scene.edit, at: at + 700, seed: scene.edit.seed + 1, again: true },
  ]
}

function byTime(a: { at: number }, b: { at: number }): number {
  return a.at - b.at
}

/** The schedule for a person to read. */
export function inWords(schedule: Schedule): string {
  const { users, groups, before, prelude, backend, worker, source, uniqueIds, perPage, times, createBatch } =
    schedule
  const queue = { embedded: 'embedded store', postgres: 'PostgreSQL', redis: 'PostgreSQL and Redis' }[backend]
  const lines = [
    `seed ${schedule.seed}: ${users} users and ${groups} groups${schedule.oddIds ? ' with odd ids' : ''} from ${source}, ` +
      `the directory ${before} before${prelude ? '' : ', no run before the faults'}; ${queue}, ` +
      `daemon${worker ? ' and worker' : ''}, ${times} times; the service ${uniqueIds ? 'refuses' : 'takes'} an id twice, ` +
      `${perPage} entries a page, up to ${createBatch} created at once`,
  ]
  const events = [
    ...schedule.edits.map((edit, index) => ({ at: edit.at, text: `edit ${index}: ${editInWords(edit)}` })),
    ...schedule.faults.map((fault, index) => ({
      at: fault.at,
      text: `fault ${index}: ${faultInWords(fault)}`,
    })),
  ]
  for (const { at, text } of events.toSorted(byTime)) lines.push(`  ${String(at).padStart(5)} ms  ${text}`)
  return lines.join('\n')
}

function editInWords({ at: _at, seed: _seed, ...numbers }: Edit): string {
  const parts = Object.entries(numbers).filter(([, count]) => count !== false && count !== 0)
  return parts.map(([what, count]) => `${what} ${count}`).join(', ') || 'nothing'
}

/** The name under which a kind of fault is counted, and left out with `--without`. */
export function faultName(fault: Fault): string {
  return 'trouble' in fault ? `${fault.kind}-${fault.trouble}` : fault.kind
}

function faultInWords(fault: Fault): string {
  const { at: _at, for: ms, kind: _kind, ...rest } = fault
  const details = Object.entries(rest).filter(([name]) => name !== 'trouble')
  const text = details.map(([name, value]) => `${name} ${value}`).join(', ')
  return `${faultName(fault)} for ${ms} ms${text && ` (${text})`}`
}
