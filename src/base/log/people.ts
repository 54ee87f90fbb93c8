/** Not the user of a URL, which follows a slash. */
const EMAIL = /(?<![^\s"'<>()[\],;:=])[^\s"'<>()[\],;:=/\\]+@[^\s"'<>()[\],;:=/\\]+/gu
const QUOTED = /"(?:[^"\\\n]|\\.)*"/g

/** A text of the configuration names no user. */
export type IsConfigured = (text: string) => boolean

/** Removes e-mail addresses and quotations, except texts of the configuration. Ids in fields of their own stay. */
export function withoutPeople(text: string, isConfigured: IsConfigured): string {
  const kept: string[] = []
  const quotes = text.replace(QUOTED, (quoted) => {
    kept.push(isConfigured(quoted.slice(1, -1)) ? quoted : '"…"')
    return '""'
  })
  let place = 0
  return quotes.replace(EMAIL, '[e-mail]').replaceAll('""', () => kept[place++] ?? '""')
}

/** Kept even where they are e-mail addresses: the entry of a line, and the operator. */
const KEPT: ReadonlySet<string> = new Set(['id', 'by'])

export function fieldsWithoutPeople(fields: object, isConfigured: IsConfigured): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' && !KEPT.has(name) ? withoutPeople(value, isConfigured) : value,
    ]),
  )
}

/** A CA file is the text of its content, which is no JSON. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

export interface Written {
  readonly written: Readonly<Record<string, string>>
  readonly syncs?: readonly Written[]
}

export function configuredTexts({ written, syncs = [] }: Written): IsConfigured {
  const texts = new Set<string>()
  const add = (value: unknown): void => {
    if (typeof value === 'string') texts.add(value)
    else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) add(each)
  }
  for (const options of [written, ...syncs.map((sync) => sync.written)])
    for (const value of Object.values(options)) add(parsed(value))
  return (text) => texts.has(text)
}
