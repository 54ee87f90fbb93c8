/** NUL, and half a character. */
const UNSTORABLE = /\0|\p{Surrogate}/gu

/**
 * A text as PostgreSQL takes it. It refuses NUL and half a character, and one text with either, wherever it came from,
 * would cost everybody else the run. Both become U+FFFD.
 */
export function storable(text: string): string {
  return text.replace(UNSTORABLE, '\ufffd')
}

/** JSON of a value whose texts are all storable; keys are our own. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'string' ? storable(each) : each))
}
