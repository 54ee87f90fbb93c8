import type { Kind } from '../entries/entry.ts'

/**
 * A string is a case-sensitive pattern of ids, where `*` matches any characters, or none. `id` is one exact id, and `*`
 * in it is an ordinary character. `from` is a pattern of the origin (a DN, or a file name and a line); it ignores case,
 * and blanks around commas and equals signs.
 */
type EntryPattern = string | { readonly id: string } | { readonly from: string }

interface EntryLists {
  /** If set, only these are written and deleted. */
  readonly include?: readonly EntryPattern[] | undefined
  /** Never written and never deleted. */
  readonly exclude?: readonly EntryPattern[] | undefined
  /** Never deleted. */
  readonly protected?: readonly Exclude<EntryPattern, { readonly from: string }>[] | undefined
}

export interface EntryRules {
  readonly users?: EntryLists | undefined
  readonly groups?: EntryLists | undefined
}

interface Selection {
  readonly isAll: boolean
  /** `undefined`: not excluded. For an entry that is not in the source only the id decides, as `from` is unknown. */
  excludedBy(id: string, from: string | undefined): 'include' | 'exclude' | undefined
  isProtected(id: string): boolean
}

export function compileSelections(rules: EntryRules | undefined): Readonly<Record<Kind, Selection>> {
  return { user: compileSelection(rules?.users), group: compileSelection(rules?.groups) }
}

function compileSelection(lists: EntryLists | undefined): Selection {
  const include = lists?.include && compileList(lists.include)
  const exclude = compileList(lists?.exclude ?? [])
  const protectedIds = compileList(lists?.protected ?? [])
  return {
    isAll: include === undefined && (lists?.exclude ?? []).length === 0,
    excludedBy(id, from) {
      if (exclude.has(id, from)) return 'exclude'
      if (include === undefined || include.has(id, from)) return undefined
      return from === undefined && include.needsFrom ? undefined : 'include'
    },
    isProtected: (id) => protectedIds.has(id, undefined),
  }
}

interface CompiledList {
  readonly needsFrom: boolean
  has(id: string, from: string | undefined): boolean
}

function compileList(patterns: readonly EntryPattern[]): CompiledList {
  const ids = new Set<string>()
  const idMatchers: Matcher[] = []
  const fromMatchers: Matcher[] = []
  for (const pattern of patterns) {
    if (typeof pattern === 'object' && 'from' in pattern) {
      fromMatchers.push(compileWildcard(canonicalLocation(pattern.from)))
    } else if (typeof pattern === 'object') ids.add(pattern.id)
    else if (pattern.includes('*')) idMatchers.push(compileWildcard(pattern))
    else ids.add(pattern)
  }
  return {
    needsFrom: fromMatchers.length > 0,
    has(id, from) {
      if (ids.has(id) || idMatchers.some((matches) => matches(id))) return true
      if (from === undefined || fromMatchers.length === 0) return false
      const location = canonicalLocation(from)
      return fromMatchers.some((matches) => matches(location))
    },
  }
}

function canonicalLocation(location: string): string {
  return location
    .normalize('NFC')
    .toLowerCase()
    .split(/([,=])/)
    .map((part) => part.trim())
    .join('')
}

type Matcher = (text: string) => boolean

/**
 * In a pattern, `*` matches any characters. Each part is searched once, from left to right; the first match leaves the
 * most text for the other parts, so no backtracking is needed.
 */
function compileWildcard(pattern: string): Matcher {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => text === first
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false
    const end = text.length - last.length
    let at = first.length
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}
