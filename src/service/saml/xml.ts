/** A piece of XML that was made here; what is no such piece is text, and is escaped. */
export interface Xml {
  readonly xml: string
}

/** An element; attributes and children that are `undefined` are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  ...children: readonly (Xml | string | undefined)[]
): Xml {
  let xml = `<${name}`
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) xml += ` ${key}="${escape(value)}"`
  }
  xml += '>'
  for (const child of children) {
    if (child !== undefined) xml += typeof child === 'string' ? escape(child) : child.xml
  }
  return { xml: `${xml}</${name}>` }
}

/** What XML 1.0 has no way to write, and the control characters that parsers turn into others or that nobody sees. */
const UNCLEAN = /[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u

/** Whether XML carries the text from end to end without a change. */
export function isClean(text: string): boolean {
  return !UNCLEAN.test(text)
}

/** The text as XML can carry it: each run of unclean characters is a blank. */
export function clean(text: string): string {
  return text.replaceAll(new RegExp(`${UNCLEAN.source}+`, 'gu'), ' ').trim()
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Throws a `RangeError` for text that is not clean: whoever writes an element knows what is to become of it. */
function escape(text: string): string {
  if (!isClean(text)) throw new RangeError('XML cannot carry a control character or half a character.')
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
}
