/** NUL, and half a character. */
const UNSTORABLE = /\0|\p{Surrogate}/gu

/**
 * A text that PostgreSQL accepts: NUL and half a character become U+FFFD. Otherwise a single such text would end the
 * run for everybody.
 */
export function storable(text: string): string {
  return text.replace(UNSTORABLE, '\ufffd')
}

/** JSON of a value whose texts are all storable; keys are our own. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'string' ? storable(each) : each))
}
