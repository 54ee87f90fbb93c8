/** Made by `element`, which escapes plain strings. */
export interface Xml {
  readonly xml: string
}

/** Leaves out attributes and children that are `undefined`. */
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

/**
 * Characters that XML 1.0 cannot hold, and invisible ones that parsers may change: control characters, and line
 * separators, which XML 1.1 makes line feeds.
 */
const UNCLEAN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]/u

export function isClean(text: string): boolean {
  return !UNCLEAN.test(text)
}

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

/** Throws a `RangeError` for text that is not clean: the caller decides whether to refuse or to `clean` it. */
function escape(text: string): string {
  if (!isClean(text))
    throw new RangeError('XML cannot carry a control character, a separator of lines or half a character.')
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
}
