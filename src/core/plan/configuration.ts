import { createHash } from 'node:crypto'

/** By key, such as `users.filter`; the texts are equal where the options are. */
export type Options = Readonly<Record<string, string>>

/** Options that differ from the last complete run of all entries, whose number is `since`. */
export interface ConfigurationChange {
  readonly since: number
  readonly keys: readonly string[]
}

/** Hashes replace the values, which may be personal data. */
export function hashOptions(options: Options, salt: string): Options {
  const hashed = Object.entries(options).map(([key, value]) => [
    key,
    createHash('sha256').update(`${salt}\n${value}`).digest('base64url').slice(0, 22),
  ])
  return Object.fromEntries(hashed)
}

export function changeSince(
  before: { readonly run: number; readonly options: Options } | undefined,
  now: Options,
): ConfigurationChange | undefined {
  if (before === undefined) return undefined
  const keys = changedKeys(before.options, now)
  return keys.length === 0 ? undefined : { since: before.run, keys }
}

/** Sorted. A section that only one side has is named as a whole. */
export function changedKeys(before: Options, now: Options): readonly string[] {
  const changed = new Set<string>()
  for (const key of Object.keys(before)) {
    if (!(key in now)) changed.add(sectionWithout(key, Object.keys(now)))
    else if (now[key] !== before[key]) changed.add(key)
  }
  for (const key of Object.keys(now))
    if (!(key in before)) changed.add(sectionWithout(key, Object.keys(before)))
  return [...changed].toSorted()
}

/** The outermost section around the key that `others` lacks; the key itself where there is none. */
function sectionWithout(key: string, others: readonly string[]): string {
  const parts = key.split('.')
  for (let length = 1; length < parts.length; length++) {
    const section = parts.slice(0, length).join('.')
    if (!others.some((other) => other === section || other.startsWith(`${section}.`))) return section
  }
  return key
}
