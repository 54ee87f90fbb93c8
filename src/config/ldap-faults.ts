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

type Connection = z.infer<typeof connection>['source']

/** Faults between the options of a connection to an LDAP server. */
export function ldapFaults(sync: unknown): Fault[] {
  const source = connection.safeParse(sync).data?.source
  if (source === undefined) return []
  return [...tlsFaults(source), ...certificateFaults(source), ...bindFaults(source)].map(
    ([path, message]) => ({ path: ['source', ...path], message }),
  )
}

type Problem = readonly [path: readonly string[], message: string]

function tlsFaults({ url, tls }: Connection): Problem[] {
  if (tls.startTls === true && url.every(isLdaps))
    return [[['tls', 'startTls'], 'goes with ldap://; an ldaps:// connection is encrypted already']]
  if (tls.startTls === true || url.some(isLdaps)) return []
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

function isLdaps(url: string): boolean {
  return /^ldaps:/i.test(url)
}
