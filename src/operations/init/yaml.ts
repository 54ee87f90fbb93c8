import { isDeepStrictEqual } from 'node:util'
import { Document, Scalar, visit } from 'yaml'
import { configJsonSchema, type RawSync } from '../../config/schema.ts'

export interface RawConfiguration {
  readonly dataDir: string
  readonly admin: { readonly listen: string }
  readonly syncs: readonly [RawSync]
}

const HEAD = `# Written by dirsyncd init. Each comment describes the option below it. What is left out has its default;
# config/example.yaml, which comes with the program, explains every option.
`

/** YAML with a comment above each option: its description in the schema. */
export function configurationText(configuration: RawConfiguration): string {
  return [HEAD, ...sectionLines(configJsonSchema(), { ...configuration }), ''].join('\n')
}

/**
 * An example of every option. Options missing in `values` are commented out (`#name: value`), with the value of `#name`
 * in `values` or the default. A description is written once.
 */
export function exampleText(schema: object, head: string, values: Values): string {
  return [head, ...sectionLines(schema, values, new Set()), ''].join('\n')
}

interface Schema {
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

type Values = Readonly<Record<string, unknown>>

/** @param written the descriptions so far, where every option is shown */
function sectionLines(schema: Schema, values: Values, written?: Set<string>): readonly string[] {
  const form = formOf(schema, values)
  const blocks: (readonly string[])[] = []
  const repeated: string[] = []
  for (const [name, option] of Object.entries(form.properties ?? {})) {
    const isGiven = values[name] !== undefined
    if (written === undefined && !isGiven) continue
    const key = JSON.stringify([name, option.description, option.default])
    const isRepeated = written?.has(key) === true
    if (isRepeated && !isGiven && !(`#${name}` in values)) {
      repeated.push(name)
      continue
    }
    written?.add(key)
    const candidates = [values[name], values[`#${name}`], option.default, isSection(option) ? {} : undefined]
    const value = candidates.find((candidate) => candidate !== undefined)
    if (value === undefined) throw new Error(`The example has no value for ${name}.`)
    const description = written === undefined ? option.description : withDefault(option, value, form, name)
    const own = optionLines(name, option, value, written)
    blocks.push([...(isRepeated ? [] : comment(description)), ...(isGiven ? own : own.map(off))])
  }
  if (repeated.length > 0) blocks.push(comment(`As above: ${repeated.join(', ')}.`))
  if (written === undefined) return blocks.flat()
  return [...(form === schema ? [] : comment(form.description)), ...spaced(blocks)]
}

function isLong(block: readonly string[] = []): boolean {
  return block.length > 4
}

function spaced(blocks: readonly (readonly string[])[]): readonly string[] {
  return blocks.flatMap((block, at) =>
    at > 0 && (isLong(block) || isLong(blocks[at - 1])) ? ['', ...block] : block,
  )
}

function optionLines(name: string, option: Schema, value: unknown, written?: Set<string>): readonly string[] {
  if (isSection(option)) return [`${name}:`, ...sectionLines(option, value as Values, written).map(indent)]
  const { items } = option
  if (items === undefined || !isSection(items)) return valueLines(name, value)
  const elements = (value as Values[]).map((each) => asElement(sectionLines(items, each, written)))
  return [`${name}:`, ...(written === undefined ? elements.flat() : spaced(elements))]
}

function isSection({ properties, oneOf, anyOf }: Schema): boolean {
  return properties !== undefined || (oneOf ?? anyOf)?.every((form) => form.properties !== undefined) === true
}

/** The form of a union that has these options: by its constant, such as `type`, and by their names. */
function formOf(schema: Schema, values: Values): Schema {
  const fits = ({ properties = {} }: Schema) =>
    Object.entries(values).every(([key, value]) => {
      const option = properties[key.replace('#', '')]
      return option !== undefined && (option.const === undefined || option.const === value)
    })
  return (schema.oneOf ?? schema.anyOf)?.find(fits) ?? schema
}

function withDefault(option: Schema, value: unknown, section: Schema, name: string): string | undefined {
  const { description = '', default: byDefault } = option
  if (section.required?.includes(name) === true || description.includes('Left out')) return option.description
  if (value === (byDefault ?? false) || isSection(option) || isDeepStrictEqual(value, byDefault))
    return option.description
  const [shown = ''] = Array.isArray(byDefault ?? []) ? ['none'] : valueLines('', byDefault)
  return `${description} Default: ${shown.replace(/^.*: /, '')}.`
}

function valueLines(name: string, value: unknown): readonly string[] {
  const document = new Document({ [name]: value })
  visit(document, {
    Map: (_key, map, { length }) => {
      if (length > 1) map.flow = true
    },
    Seq: (_key, seq) => {
      if (JSON.stringify(seq).length < LINE) seq.flow = true
    },
    Scalar: (key, scalar) => {
      // As docs/mapping.md writes expressions.
      if (key === 'value' && typeof scalar.value === 'string' && scalar.value.startsWith('='))
        scalar.type = Scalar.QUOTE_SINGLE
    },
  })
  return document.toString({ lineWidth: 0 }).trimEnd().split('\n')
}

const LINE = 80

function indent(line: string): string {
  return line === '' ? '' : `  ${line}`
}

function asElement(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => !line.startsWith('# '))
  return lines.map((line, at) => {
    if (at === first) return indent(line.replace(/^#?/, '$&- '))
    return at < first ? indent(line) : indent(indent(line))
  })
}

function off(line: string): string {
  return line.replace(/^( *)(?=[^ #])/, '$1#')
}

function comment(text = ''): string[] {
  return (text.match(/\S.{0,107}(?=\s|$)/g) ?? []).map((line) => `# ${line}`)
}
