/**
 * A reader of forms that follows Rack's `QueryParser#normalize_params` (rack 3) line by line, so that what we write is
 * read by other rules than the ones we wrote it with.
 */
type Hash = { [key: string]: unknown }

export function decodeRack(body: string): Hash {
  const params: Hash = {}
  for (const pair of body.split('&').filter((part) => part !== '')) {
    const at = pair.indexOf('=')
    const name = at < 0 ? pair : pair.slice(0, at)
    normalize(params, unescape(name), at < 0 ? null : unescape(pair.slice(at + 1)), 0)
  }
  return params
}

function unescape(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

function normalize(params: Hash, name: string, value: unknown, depth: number): Hash | unknown[] | undefined {
  const { key, after } = split(name, depth)
  if (key === '') return name === '[]' ? [value] : undefined
  if (after === '') {
    params[key] = value
  } else if (after === '[') {
    params[name] = value
  } else if (after === '[]') {
    listIn(params, key).push(value)
  } else if (after.startsWith('[]')) {
    const child = /^\[\]\[([^[\]]+)\]$/.exec(after)?.[1] ?? after.slice(2)
    const list = listIn(params, key)
    const last = list.at(-1)
    if (isHash(last) && !hasKey(last, child)) normalize(last, child, value, depth + 1)
    else list.push(normalize({}, child, value, depth + 1))
  } else {
    const hash = (params[key] ??= {})
    if (!isHash(hash)) throw new Error(`expected a hash for ${key}`)
    params[key] = normalize(hash, after, value, depth + 1)
  }
  return params
}

function split(name: string, depth: number): { key: string; after: string } {
  if (name === '') return { key: '', after: '' }
  if (depth === 0) {
    const start = name.indexOf('[', 1)
    return start < 0 ? { key: name, after: '' } : { key: name.slice(0, start), after: name.slice(start) }
  }
  if (name.startsWith('[]')) return { key: '[]', after: name.slice(2) }
  const end = name.startsWith('[') ? name.indexOf(']', 1) : -1
  return end < 0 ? { key: name, after: '' } : { key: name.slice(1, end), after: name.slice(end + 1) }
}

function listIn(params: Hash, key: string): unknown[] {
  const list = (params[key] ??= [])
  if (!Array.isArray(list)) throw new Error(`expected an array for ${key}`)
  return list
}

function hasKey(hash: Hash, key: string): boolean {
  if (key.includes('[]')) return false
  let at: unknown = hash
  for (const part of key.split(/[[\]]+/)) {
    if (part === '') continue
    if (!isHash(at) || !Object.hasOwn(at, part)) return false
    at = at[part]
  }
  return true
}

function isHash(value: unknown): value is Hash {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
