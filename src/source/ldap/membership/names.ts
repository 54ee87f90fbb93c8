export const MEMBER_OF = 'memberOf'

/** Who names whom: each name with the records that have it. */
export function byName<R>(
  records: Iterable<R>,
  namesOf: (record: R) => readonly string[],
): ReadonlyMap<string, readonly R[]> {
  const named = new Map<string, R[]>()
  for (const record of records) {
    for (const name of namesOf(record)) {
      const others = named.get(name)
      if (others === undefined) named.set(name, [record])
      else others.push(record)
    }
  }
  return named
}

/** Gives texts their form and keeps each form once: a million users name the same few groups. */
export interface Interner {
  readonly of: (text: string) => string
  /** All forms so far. */
  readonly forms: () => Iterable<string>
}

export function createInterner(formOf: (text: string) => string): Interner {
  const forms = new Map<string, string>()
  return {
    of(text) {
      let form = forms.get(text)
      if (form === undefined) {
        form = formOf(text)
        forms.set(text, form)
      }
      return form
    },
    forms: () => forms.values(),
  }
}
