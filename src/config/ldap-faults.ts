import { z } from 'zod'
import type { Fault } from './document.ts'

const connection = z.object({
  source: z.object({
    type: z.literal('ldap'),
    url: z.union([z.string().transform((url) => [url]), z.array(z.string())]),
    tls: z
      .object({
        ca: z.unknown().optional(),
        startTls: z.unknown().optional(),
        certificate: z.unknown().optional(),
        key: z.unknown().optional(),
      })
      .default({}),
    bind: z.object({ external: z.unknown().optional() }).optional(),
  }),
})

const entries = z.object({
  source: z.object({
    type: z.literal('ldap'),
    users: z.object({ disabled: z.unknown(), disabledWhen: z.unknown() }).partial().catch({}),
    groups: z
      .object({ membersFrom: z.unknown(), map: z.object({ members: z.unknown() }).partial().catch({}) })
      .partial()
      .catch({}),
  }),
})

type Connection = z.infer<typeof connection>['source']

/** Faults between the options of a connection to an LDAP server. */
export function ldapFaults(sync: unknown): Fault[] {
  const source = connection.safeParse(sync).data?.source
  const problems = source && [...tlsFaults(source), ...certificateFaults(source), ...bindFaults(source)]
  return [...(problems ?? []), ...entryFaults(sync)].map(([path, message]) => ({
    path: ['source', ...path],
    message,
  }))
}

/** An option that another one makes idle is a misunderstanding. */
function entryFaults(sync: unknown): Problem[] {
  const source = entries.safeParse(sync).data?.source
  if (source === undefined) return []
  const { users, groups } = source
  const problems: Problem[] = []
  if (users.disabledWhen !== undefined && (users.disabled ?? 'keep') === 'keep')
    problems.push([['users', 'disabledWhen'], 'has no use while disabled is keep'])
  if (groups.membersFrom === 'memberOf' && groups.map?.members !== undefined)
    problems.push([['groups', 'map', 'members'], 'has no use while membersFrom is memberOf'])
  return problems
}

type Problem = readonly [path: readonly string[], message: string]

function tlsFaults({ url, tls }: Connection): Problem[] {
  if (tls.startTls === true && url.every(isLdaps))
    return [[['tls', 'startTls'], 'goes with ldap://; an ldaps:// connection is encrypted already']]
  if (tls.startTls === true || !url.every(isPlain)) return []
  const message = 'has no use on an unencrypted connection; use ldaps:// or add startTls: true'
  return (['ca', 'certificate'] as const)
    .filter((option) => tls[option] !== undefined)
    .map((option) => [['tls', option], message])
}

function certificateFaults({ tls: { certificate, key } }: Connection): Problem[] {
  if (certificate === undefined && key !== undefined)
    return [[['tls', 'key'], 'has no use without tls.certificate']]
  if (certificate !== undefined && key === undefined)
    return [[['tls', 'certificate'], 'has no use without tls.key']]
  return []
}

function bindFaults({ url, tls, bind }: Connection): Problem[] {
  if (bind?.external !== true) return []
  if (tls.certificate === undefined)
    return [[['bind', 'external'], 'needs a client certificate: tls.certificate and tls.key']]
  const clear = tls.startTls === true ? undefined : url.find((each) => !isLdaps(each))
  return clear === undefined ? [] : [[['bind', 'external'], `needs TLS, and ${clear} has none`]]
}

function isPlain(url: string): boolean {
  return /^ldap:/i.test(url)
}

function isLdaps(url: string): boolean {
  return /^ldaps:/i.test(url)
}
