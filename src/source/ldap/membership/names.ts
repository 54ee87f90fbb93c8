export const MEMBER_OF = 'memberOf'

/** Normalizes texts and keeps each form once: a million users name the same few groups. */
export interface Interner {
  readonly of: (text: string) => string
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
