import { Document, isMap, isScalar, isSeq, Scalar, visit, YAMLMap, type YAMLSeq } from 'yaml'
import { configJsonSchema, type RawSync } from '../../config/schema.ts'

/** The whole of a configuration that is written anew. */
export interface RawConfiguration {
  readonly dataDir: string
  readonly admin: { readonly listen: string }
  readonly syncs: readonly [RawSync]
}

const HEAD = ` Written by dirsyncd init. Each comment describes the option below it. What is left out has its default;
 config/example.yaml, which comes with the program, explains every option.`

/** The configuration as YAML, with a comment above each option: its description in the schema. */
export function configurationText(configuration: RawConfiguration): string {
  const document = new Document(configuration)
  const schema = configJsonSchema() as Schema
  const definitions = schema.$defs ?? {}
  describe(document.contents, schema, definitions)
  visit(document, {
    Map: (_key, map) => {
      if (isShort(map)) map.flow = true
    },
    Seq: (_key, seq) => {
      if (isSeqOfLine(seq)) seq.flow = true
    },
    Scalar: (key, scalar) => {
      // As docs/mapping.md writes expressions.
      if (key === 'value' && typeof scalar.value === 'string' && scalar.value.startsWith('='))
        scalar.type = Scalar.QUOTE_SINGLE
    },
  })
  document.commentBefore = HEAD
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

/** What is used of a JSON schema. */
interface Schema {
  readonly description?: string
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

type Definitions = Readonly<Record<string, Schema>>

function describe(node: unknown, schema: Schema | undefined, definitions: Definitions): void {
  if (schema === undefined) return
  if (isSeq(node)) {
    for (const item of node.items) describe(item, branchOf(schema, item, definitions)?.items, definitions)
    if (schema.items !== undefined) for (const item of node.items) describe(item, schema.items, definitions)
    return
  }
  if (!isMap(node)) return
  const { properties = {} } = branchOf(schema, node, definitions) ?? {}
  for (const pair of node.items) {
    if (!isScalar(pair.key)) continue
    const option = properties[String(pair.key.value)]
    const isFlow = pair.value instanceof YAMLMap && isShort(pair.value)
    if (option?.description !== undefined) pair.key.commentBefore = commentOf(option.description)
    if (!isFlow) describe(pair.value, option, definitions)
  }
}

/** Of several forms of a section, the one that this node has: by its constant, such as `type`, and else by its keys. */
function branchOf(schema: Schema, node: unknown, definitions: Definitions): Schema | undefined {
  const found = schema.$ref === undefined ? schema : definitions[schema.$ref.replace(/^.*\//, '')]
  const forms = found?.anyOf ?? found?.oneOf
  if (forms === undefined || !isMap(node)) return found
  const fits = ({ properties = {} }: Schema) =>
    node.items.every(({ key, value }) => {
      const option = isScalar(key) ? properties[String(key.value)] : undefined
      return (
        option !== undefined &&
        (option.const === undefined || (isScalar(value) && value.value === option.const))
      )
    })
  return forms.map((form) => branchOf(form, undefined, definitions) ?? form).find(fits)
}

/** Such as `{ file: secrets/token }`. */
function isShort(map: YAMLMap): boolean {
  return (
    map.items.length === 1 &&
    map.items.every(({ value }) => isScalar(value) || value === null) &&
    isSecret(map)
  )
}

function isSecret(map: YAMLMap): boolean {
  return ['file', 'env'].some((key) => map.has(key))
}

/** A list of short texts; several DNs have a line each. */
function isSeqOfLine({ items }: YAMLSeq): boolean {
  return items.every(isScalar) && JSON.stringify(items).length < LINE
}

const LINE = 80

const WIDTH = 100

/** Lines of a comment, without `#`. */
function commentOf(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length > WIDTH) {
      lines.push(line)
      line = ''
    }
    line += ` ${word}`
  }
  return [...lines, line].join('\n')
}
