import type { RunView } from '../../src/operations/control.ts'
import type { Change, UserValues } from '../../src/core/plan/change.ts'
import { blockText } from '../../src/ui/messages/blocks.ts'
import { FIXTURE } from './fixture.ts'
import { openOddSync } from './odd-sync.ts'
import { readService } from './read-service.ts'
import type { VendorServer } from './vendor-server.ts'

/** How a run ended. */
export interface Ended {
  readonly run: number
  readonly code: number | null
  /** What blocks changes, each as `CODE CHANGES`, sorted. */
  readonly blocks: readonly string[]
  /** The sentences of the blocks, one a line. */
  readonly why: string
  /** The changes that were made, each as `create-user ann`: with the e-mail before the `@`, or the name of a group. */
  readonly done: readonly string[]
  readonly stderr: string
}

/** What the directory has: people by the part of their e-mail before the `@`, sorted. */
export interface Seen {
  readonly people: readonly string[]
  readonly names: Readonly<Record<string, string | null>>
  readonly groups: Readonly<Record<string, readonly string[]>>
}

/** The whole program between a vendor's server and a directory of its own, without guards. */
export interface VendorSync extends AsyncDisposable {
  /** Reads other places from now on, or from another server. */
  readFrom(server: VendorServer, places: Places): Promise<void>
  run(): Promise<Ended>
  approve(run: number, code?: string): Promise<number | null>
  /** Whether an operator is still asked about what this run showed. */
  asks(run: number): Promise<boolean>
  seen(): Promise<Seen>
}

export interface Places {
  readonly users: string | readonly string[]
  readonly groups: string
  /** More of the `source` section. */
  readonly more?: object
}

/** `a001`, `a002` and so on. */
export function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index + 1).padStart(3, '0')}`)
}

export async function openVendorSync(server: VendorServer, places: Places): Promise<VendorSync> {
  const odd = await openOddSync(sourceOf(server, places), server.ca, server.reader.password)
  const eye = { ...FIXTURE, baseUrl: odd.service.baseUrl }
  return {
    readFrom: (other, next) => odd.configure(sourceOf(other, next)),
    async run() {
      const { code, lines, stderr } = await odd.site.json('sync', 'odd')
      const { run, blocks, changes }: RunView = lines[0]
      return {
        run,
        code,
        stderr,
        blocks: blocks.map(({ code: reason, changes: named }) => `${reason} ${named}`).toSorted(),
        why: blocks.map((block) => blockText(block)).join('\n'),
        done: changes
          .filter(({ state }) => state === 'applied')
          .map(({ change }) => `${change.op} ${labelOf(change)}`)
          .toSorted(),
      }
    },
    approve: async (run, code) =>
      (await odd.site.run('approve', String(run), ...(code === undefined ? ['--all'] : ['--code', code])))
        .code,
    async asks(run) {
      const { lines } = await odd.site.json('runs', String(run))
      return lines[0].questions > 0
    },
    async seen() {
      const { users, groups } = await readService(eye)
      const local = (id: string) => localOf(users.get(id)?.email)
      return {
        people: [...users.keys()].map(local).toSorted(),
        names: Object.fromEntries([...users].map(([id, { name }]) => [local(id), name])),
        groups: Object.fromEntries(
          [...groups.values()].map(({ name, members }) => [name, members.map(local).toSorted()]),
        ),
      }
    },
    [Symbol.asyncDispose]: () => odd[Symbol.asyncDispose](),
  }
}

function sourceOf({ url, reader }: VendorServer, { users, groups, more }: Places): object {
  return {
    type: 'ldap',
    url,
    bind: { dn: reader.dn, password: { file: './password' } },
    users: { base: users, map: { email: 'mail', name: ['displayName', 'cn'] } },
    groups: { base: groups, map: { name: 'cn' } },
    ...more,
  }
}

function labelOf(change: Change): string {
  if (change.op === 'set-members') return change.name
  const { name, email }: Partial<UserValues> = {
    ...('want' in change && change.want),
    ...('have' in change && change.have),
  }
  return email === undefined || email === null ? (name ?? '?') : localOf(email)
}

function localOf(email: string | null | undefined): string {
  return email?.split('@')[0] ?? '?'
}
