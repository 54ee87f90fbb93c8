/** NUL, and half a character. */
const UNSTORABLE = /\0|\p{Surrogate}/gu

/**
 * A text that PostgreSQL accepts: NUL and half a character become U+FFFD. Otherwise a single such text would end the
 * run for everybody.
 */
export function storable(text: string): string {
  return text.replace(UNSTORABLE, '\ufffd')
}

/** As JSON has NUL and half a character; also a backslash before such a text. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/

/** JSON of a value whose texts are all storable; keys are our own. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  // Seldom needed, and half of the time that it takes to store a plan.
  if (!MAY_BE_UNSTORABLE.test(json)) return json
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'string' ? storable(each) : each))
}
