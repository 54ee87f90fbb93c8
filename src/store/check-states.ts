import { sql } from 'kysely'
import type { Absence, Contributor, States } from '../core/checks/check.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { Baseline } from '../core/plan/baseline.ts'
import type { SyncTarget } from './run-types.ts'
import { pack, unpack } from './packed.ts'
import type { Db } from './tables.ts'

/** A state as it is stored: what has a row for each entry is packed. */
interface Stored {
  readonly value: unknown
  readonly bytes: Buffer | null
}

interface Codec<T> {
  encode(state: T): Promise<Stored>
  decode(stored: Stored): Promise<T>
}

type Name = keyof States
type Codecs = { readonly [N in Name]: Codec<NonNullable<States[N]>> }

const KINDS = ['user', 'group'] as const

function plain<T>(): Codec<T> {
  return {
    encode: async (value) => ({ value, bytes: null }),
    decode: async ({ value }) => value as T,
  }
}

type PackedAbsence = readonly [kind: Kind, id: string, since: number, reads: number]

const grace: Codecs['grace'] = {
  async encode(absences) {
    function* items(): Generator<PackedAbsence, void> {
      for (const kind of KINDS)
        for (const [id, { since, reads }] of absences[kind]) yield [kind, id, since.getTime(), reads]
    }
    return { value: {}, bytes: await pack(items()) }
  },
  async decode({ bytes }) {
    const absences = { user: new Map<string, Absence>(), group: new Map<string, Absence>() }
    if (bytes !== null)
      for await (const part of unpack<PackedAbsence>(bytes))
        for (const [kind, id, since, reads] of part) absences[kind].set(id, { since: new Date(since), reads })
    return absences
  },
}

type PackedGroup = readonly [
  key: string,
  dn: string,
  lists: readonly (readonly [string, number])[],
  nested: readonly string[],
  doubted: readonly string[],
]

const groups: Codecs['groups'] = {
  async encode(contributors) {
    function* items(): Generator<PackedGroup, void> {
      for (const [key, { dn, lists, nested, doubted = [] }] of contributors)
        yield [key, dn, [...lists], nested, [...doubted]]
    }
    return { value: {}, bytes: await pack(items()) }
  },
  async decode({ bytes }) {
    const contributors = new Map<string, Contributor>()
    if (bytes !== null)
      for await (const part of unpack<PackedGroup>(bytes))
        for (const [key, dn, lists, nested, doubted] of part)
          contributors.set(key, {
            dn,
            lists: new Map(lists),
            nested,
            ...(doubted.length > 0 && { doubted: new Set(doubted) }),
          })
    return contributors
  },
}

type PackedBaselines = Partial<Record<Kind, Omit<Baseline, 'entries'> & { readonly entries: number }>>

const containers: Codecs['containers'] = {
  async encode(baselines) {
    const value: PackedBaselines = {}
    const bytes: Buffer[] = []
    for (const kind of KINDS) {
      const baseline = baselines[kind]
      if (baseline === undefined) continue
      const { entries, ...rest } = baseline
      value[kind] = { ...rest, entries: entries.length }
      bytes.push(Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength))
    }
    return { value, bytes: Buffer.concat(bytes) }
  },
  async decode({ value, bytes }) {
    const baselines: { -readonly [K in Kind]?: Baseline } = {}
    let at = 0
    for (const kind of KINDS) {
      const packed = (value as PackedBaselines)[kind]
      if (packed === undefined) continue
      const entries = new BigUint64Array(packed.entries)
      new Uint8Array(entries.buffer).set(bytes!.subarray(at, at + entries.byteLength))
      at += entries.byteLength
      baselines[kind] = { ...packed, entries }
    }
    return baselines
  },
}

const CODECS: Codecs = { grace, groups, containers, server: plain(), size: plain(), configuration: plain() }

/** The options count for all directories of a sync, so that another one is a change of the configuration. */
const OF_ALL_TARGETS = ''

function targetOf(name: string, target: string): string {
  return name === 'configuration' ? OF_ALL_TARGETS : target
}

export async function loadStates(db: Db, { sync, target }: SyncTarget): Promise<States> {
  const { rows } = await sql<Stored & { readonly name: Name }>`
    SELECT name, value, bytes FROM dirsyncd.check_states
    WHERE sync = ${sync} AND target IN (${target}, ${OF_ALL_TARGETS})`.execute(db)
  const states: Record<string, unknown> = {}
  for (const { name, value, bytes } of rows)
    states[name] = await CODECS[name].decode({ value, bytes: bytes && Buffer.from(bytes) })
  return states
}

/** Packed before the transaction that saves them. */
export async function packStates(
  states: Partial<States>,
): Promise<(trx: Db, of: SyncTarget) => Promise<void>> {
  const encoded = new Map<string, Stored>()
  for (const [name, state] of Object.entries(states))
    if (state !== undefined) encoded.set(name, await (CODECS[name as Name] as Codec<unknown>).encode(state))
  return async (trx, { sync, target }) => {
    for (const [name, { value, bytes }] of encoded)
      await sql`INSERT INTO dirsyncd.check_states (sync, target, name, value, bytes)
        VALUES (${sync}, ${targetOf(name, target)}, ${name}, ${JSON.stringify(value)}::jsonb, ${bytes})
        ON CONFLICT (sync, target, name) DO UPDATE
        SET value = excluded.value, bytes = excluded.bytes`.execute(trx)
  }
}
