/** Not the user of a URL: what is before a name there ends with a slash. */
const EMAIL = /(?<![^\s"'<>()[\],;:=])[^\s"'<>()[\],;:=/\\]+@[^\s"'<>()[\],;:=/\\]+/gu
const QUOTED = /"(?:[^"\\\n]|\\.)*"/g

/** Whether a text is one of the configuration, and so about nobody. */
export type IsConfigured = (text: string) => boolean

/**
 * A sentence without what may name a person: e-mail addresses, and all that it quotes but texts of the configuration.
 * Ids in fields of their own stay.
 */
export function withoutPeople(text: string, isConfigured: IsConfigured): string {
  const kept: string[] = []
  const quotes = text.replace(QUOTED, (quoted) => {
    kept.push(isConfigured(quoted.slice(1, -1)) ? quoted : '"…"')
    return '""'
  })
  let place = 0
  return quotes.replace(EMAIL, '[e-mail]').replaceAll('""', () => kept[place++] ?? '""')
}

/** Stay as they are, be it an e-mail address: whom a line is about, and who did by hand what it tells. */
const KEPT: ReadonlySet<string> = new Set(['id', 'by'])

/** The fields of a line without what may name a person. */
export function fieldsWithoutPeople(fields: object, isConfigured: IsConfigured): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' && !KEPT.has(name) ? withoutPeople(value, isConfigured) : value,
    ]),
  )
}

/** A CA file is there with its content, which is no JSON. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

export interface Written {
  /** The options, as JSON. */
  readonly written: Readonly<Record<string, string>>
  /** Sections with options of their own. */
  readonly syncs?: readonly Written[]
}

/** The texts of a configuration. */
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
