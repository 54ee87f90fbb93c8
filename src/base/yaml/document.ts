import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type YAMLError,
} from 'yaml'

export type OptionPath = readonly (string | number)[]

/** One sentence that begins after the option's name. */
export interface Fault {
  readonly path: OptionPath
  readonly message: string
}

export interface Position {
  readonly line: number
  readonly column: number
}

interface YamlFile {
  readonly value: unknown
  /** The position of an option or, when it is missing, of the section that should hold it. */
  readonly locate: (path: OptionPath) => Position
}

export type YamlResult = YamlFile | { readonly faults: readonly (Position & { readonly message: string })[] }

const ALIAS =
  'a value that begins with * or & has a meaning of its own in YAML; put it in quotes, as in "*/15 * * * *"'

const TEMPLATE =
  'a key is a text, and this one is a list or has keys of its own; was a template, such as {{ name }}, not filled in?'

/** Unlike the parser's own sentences, these never quote the file, which may hold a secret. */
const SENTENCES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key was already given above; keep one of them',
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  TAB_AS_INDENT: 'a tab is used for indentation; use blanks',
  MULTIPLE_DOCS: 'a second document begins here; the configuration is one document',
  BAD_ALIAS: ALIAS,
  MISSING_CHAR: 'a character is missing, such as a closing quote, a comma or a blank after a colon',
  BAD_SCALAR_START: 'a value must not begin with this character; put the value in quotes',
  RESOURCE_EXHAUSTION: 'brackets are nested too deeply',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; is a colon or a quote missing?',
}

export function readYaml(text: string): YamlResult {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const at = (offset: number): Position => {
    const { line, col } = counter.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const aliases = unresolvedAliases(document)
  const maps = keysOfManyValues(document)
  const tooDeep = document.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  const errors = aliases.length + maps.length > 0 ? [] : tooDeep === undefined ? document.errors : [tooDeep]
  const faults = [
    ...aliases.map((offset) => ({ ...at(offset), message: ALIAS })),
    ...maps.map((offset) => ({ ...at(offset), message: TEMPLATE })),
    ...errors.map((error) => ({ ...at(error.pos[0]), message: sentenceOf(error) })),
  ]
  if (faults.length > 0) return { faults }
  try {
    return { value: document.toJS() as unknown, locate: (path) => at(offsetOf(document, path)) }
  } catch {
    return { faults: [{ line: 1, column: 1, message: 'aliases are used too often' }] }
  }
}

function sentenceOf(error: YAMLError): string {
  return SENTENCES[error.code] ?? `this is not valid YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`
}

function unresolvedAliases(document: Document): number[] {
  const offsets: number[] = []
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) === undefined) offsets.push(alias.range?.[0] ?? 0)
    },
  })
  return offsets
}

function keysOfManyValues(document: Document): number[] {
  const offsets: number[] = []
  visit(document, {
    Pair: (_, { key }) => {
      if (isCollection(key)) offsets.push(key.range?.[0] ?? 0)
    },
  })
  return offsets
}

function offsetOf(document: Document, path: OptionPath): number {
  let node: unknown = document.contents
  let offset = 0
  for (const segment of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment))
      if (pair === undefined || !isScalar(pair.key)) return offset
      offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(segment)]
      if (!isNode(item)) return offset
      offset = item.range?.[0] ?? offset
      node = item
    } else {
      return offset
    }
  }
  return offset
}

/** `syncs[0].source.url` */
export function optionName(path: OptionPath): string {
  let name = ''
  for (const segment of path) {
    if (typeof segment === 'number') name += `[${segment}]`
    else name += name === '' ? segment : `.${segment}`
  }
  return name
}

export function optionPath(name: string): OptionPath {
  return name
    .split(/[.[\]]+/)
    .flatMap((part) => (part === '' ? [] : [/^\d+$/.test(part) ? Number(part) : part]))
}
