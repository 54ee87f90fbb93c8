import type { Options } from '../plan/configuration.ts'
import type { SyncConfig } from './config.ts'

/**
 * The options of a section by their key, with each value as JSON. Lists, secrets and the expressions of a map count as
 * one value; functions are left out.
 */
export function flatOptions(section: object): Options {
  return Object.fromEntries(flatten(section, ''))
}

function flatten(section: object, prefix: string): readonly (readonly [string, string])[] {
  return Object.entries(section).flatMap(([name, value]) => {
    const key = shortKey(`${prefix}${name}`)
    if (value === undefined || typeof value === 'function') return []
    return isSection(value, key) ? flatten(value, `${key}.`) : [[key, JSON.stringify(value)] as const]
  })
}

/** The options of the source go without `source`, as in its own messages; only its type would not be understood so. */
function shortKey(key: string): string {
  return key.replace(/^source\.(?!type$)/, '')
}

function isSection(value: unknown, key: string): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const names = Object.keys(value)
  const isSecret = names.length === 1 && ['env', 'file', 'command'].includes(names[0] ?? '')
  return !isSecret && !/(^|\.)map\.[^.]+$/.test(key)
}

/**
 * Options of a source that decide neither who is read nor how a value comes about: how the source is reached, how long
 * that may take, and what proves a file complete.
 */
const WITHOUT_EFFECT = new RegExp(
  '^(url|tls|timeouts|bind|pageSize|referrals|allowedDomains|settleMs|watch|badRows' +
    '|timeoutMs|maxOutput|maxEntries|folder|secretNames)(\\.|$)|\\.(maxAgeMs|rows|sha256)$',
)

/**
 * The options that decide who is in the directory and how values come about, by their key. A change of one of them may
 * change many entries without any change in the source.
 */
export function decisiveOptions({ source, directory, entries, policy }: SyncConfig): Options {
  const { baseUrl, organizationId, directoryId, allowedDomains, membership, emails } = directory
  // Runs of versions that did not have it are compared, too.
  const dropBadEmails = directory.dropBadEmails || undefined
  const fromSource = Object.entries(flatOptions(source.options)).filter(([key]) => !WITHOUT_EFFECT.test(key))
  return {
    ...Object.fromEntries(fromSource),
    ...flatOptions({
      source: { type: source.type },
      directory: { baseUrl, organizationId, directoryId, allowedDomains, dropBadEmails, membership, emails },
      entries,
      policy,
      ...(source.type === 'command' && programOf(source.options)),
    }),
  }
}

/** A program is another one in another folder, where it is named by a relative path. */
function programOf({
  command,
  folder,
  secretNames,
}: {
  command: readonly string[]
  folder: string
  secretNames: readonly string[]
}) {
  return { command: [folder, ...command], env: secretNames }
}
