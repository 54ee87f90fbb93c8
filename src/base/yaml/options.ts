/**
 * By key, with each value as JSON. Lists, secrets and the expressions of a map count as one value; functions are left
 * out.
 */
export function flatOptions(section: object): Readonly<Record<string, string>> {
  return Object.fromEntries(flatten(section, ''))
}

function flatten(section: object, prefix: string): readonly (readonly [string, string])[] {
  return Object.entries(section).flatMap(([name, value]) => {
    const key = shortKey(`${prefix}${name}`)
    if (value === undefined || typeof value === 'function') return []
    return isSection(value, key) ? flatten(value, `${key}.`) : [[key, JSON.stringify(value)] as const]
  })
}

/** Options of the source omit `source`, as in its own messages; only its type would be unclear then. */
function shortKey(key: string): string {
  return key.replace(/^source\.(?!type$)/, '')
}

function isSection(value: unknown, key: string): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const names = Object.keys(value)
  const isSecret = names.length === 1 && ['env', 'file', 'credential', 'command'].includes(names[0] ?? '')
  return !isSecret && !/(^|\.)map\.[^.]+$/.test(key)
}
