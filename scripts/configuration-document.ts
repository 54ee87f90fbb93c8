import { configJsonSchema } from '../src/config/schema.ts'

const HEAD = `# Every option of dirsyncd

<!-- Made from src/config/schema.ts by \`npm run configuration\`. -->

[config/example.yaml](../config/example.yaml) shows them in their place
([config/access-service.yaml](../config/access-service.yaml) those of access-service); [setup.md](setup.md) says which of them you
need. An unknown option and a wrong value are errors with their place ([config-invalid](errors.md#config-invalid)); each
command names all of them at once. An editor checks the file while you write when its first line is
\`# yaml-language-server: $schema=PATH\`, with the path of \`config/schema.json\`.

*Required* holds where its section is there. An option without a default may be left out. \`[]\` in the name of an option
stands for each element of a list. A relative path starts in the folder of the configuration file. A duration has a
unit (\`500ms\`, \`30s\`, \`15m\`, \`2h\`, \`7d\`), and so has a size (\`512KiB\`, \`100MiB\`, \`2GiB\`); an address has a port
(\`127.0.0.1:8080\`).
`

/** What this page needs of a JSON schema. */
interface Schema {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: string | number | boolean
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

interface Row {
  readonly path: string
  readonly values: string
  readonly byDefault: string
  readonly description: string
}

/** The text of `docs/configuration.md`. */
export function configurationDocument(): string {
  const schema: Schema = configJsonSchema()
  const { own, parts } = rowsOf('', schema)
  const forms = Object.entries(schema.$defs ?? {}).map(([name, value]) => formsOf(name, value))
  return [HEAD, `## At the top\n\n${table(own)}`, ...parts, ...forms].join('\n')
}

/** A section with a heading of its own: those at the top, those of a sync, and each type of a source or channel. */
function sectionText(title: string, path: string, schema: Schema): string {
  const { own, parts } = rowsOf(path, schema)
  const level = path.startsWith('syncs[].') || title.includes(' of type ') ? '###' : '##'
  const text = [`${level} ${title}\n`, ...(schema.description ? [`${plain(schema.description)}\n`] : [])]
  if (own.length > 0) text.push(table(own))
  return [text.join('\n'), ...parts].join('\n')
}

/** The rows of a section, and the texts of those of its options that are sections with a heading. */
function rowsOf(
  path: string,
  schema: Schema,
): { readonly own: readonly Row[]; readonly parts: readonly string[] } {
  const own: Row[] = []
  const parts: string[] = []
  for (const [name, option] of Object.entries(schema.properties ?? {})) {
    const child = path === '' ? name : `${path}.${name}`
    const section = option.items ?? option
    const sectionPath = option.items === undefined ? child : `${child}[]`
    if (section.oneOf?.every(hasType) === true) parts.push(...typesOf(sectionPath, section.oneOf))
    else if (section.properties !== undefined && (path === '' || path === 'syncs[]'))
      parts.push(sectionText(`\`${sectionPath}\``, sectionPath, section))
    else own.push(...optionRows(child, option, schema.required?.includes(name) === true ? '*required*' : ''))
  }
  return { own, parts }
}

function hasType(branch: Schema): boolean {
  return branch.properties?.type?.const !== undefined
}

function typesOf(path: string, branches: readonly Schema[]): readonly string[] {
  return branches.map((branch) =>
    sectionText(`\`${path}\` of type \`${String(branch.properties?.type?.const)}\``, path, branch),
  )
}

/** The row of an option, and those of the options that it has itself. */
function optionRows(path: string, option: Schema, otherwise: string): readonly Row[] {
  const row: Row = {
    path,
    values: valuesOf(option),
    byDefault: defaultOf(option) ?? otherwise,
    description: option.description ?? (path.endsWith('.type') ? 'Which kind of section this is.' : ''),
  }
  return [row, ...innerRows(path, option)]
}

function innerRows(path: string, option: Schema): readonly Row[] {
  if (option.items !== undefined) return innerRows(`${path}[]`, option.items)
  if (option.properties !== undefined) {
    return Object.entries(option.properties).flatMap(([name, inner]) =>
      optionRows(`${path}.${name}`, inner, option.required?.includes(name) === true ? '*required*' : ''),
    )
  }
  const forms = (option.oneOf ?? option.anyOf ?? []).filter(({ $ref }) => $ref === undefined)
  return merged(forms.flatMap((form) => innerRows(path, form)))
}

/** An option that several forms of a section have is one row. */
function merged(rows: readonly Row[]): readonly Row[] {
  const byPath = new Map<string, Row>()
  for (const row of rows) {
    const other = byPath.get(row.path)
    const byDefault = row.byDefault === '*required*' ? '*required* in this form' : row.byDefault
    if (other === undefined) byPath.set(row.path, { ...row, byDefault })
    else if (other.values !== row.values)
      byPath.set(row.path, { ...other, values: `${other.values} or ${row.values}` })
  }
  return [...byPath.values()]
}

function valuesOf(schema: Schema): string {
  if (schema.$ref !== undefined) return linkTo(schema.$ref)
  if ('const' in schema) return code(schema.const)
  if (schema.enum !== undefined) return inWords(schema.enum.map(code))
  const forms = schema.oneOf ?? schema.anyOf
  if (schema.title !== undefined) return schema.title
  if (forms !== undefined) return forms.map(formOf).join(', or ')
  if (schema.items !== undefined) return `list of ${valuesOf(schema.items)}`
  if (schema.type === 'boolean') return '`true` or `false`'
  if (schema.type === 'integer' || schema.type === 'number') return numberIn(schema)
  if (schema.type === 'null') return '`null`'
  return schema.properties === undefined ? 'text' : 'section'
}

/** One of several forms: of a section, what makes it this one. */
function formOf(schema: Schema): string {
  if (schema.properties === undefined) return valuesOf(schema)
  const keys = Object.entries(schema.properties)
    .filter(([name]) => schema.required?.includes(name) === true)
    .map(([name, { const: only }]) => (only === undefined ? `${name}: …` : `${name}: ${String(only)}`))
  return `\`{ ${keys.join(', ')} }\``
}

function numberIn({ type, minimum, maximum = Number.MAX_SAFE_INTEGER }: Schema): string {
  const name = type === 'integer' ? 'whole number' : 'number'
  if (minimum === undefined) return name
  return maximum === Number.MAX_SAFE_INTEGER
    ? `${name}, ${minimum} or more`
    : `${name}, ${minimum} to ${maximum}`
}

function defaultOf(schema: Schema): string | undefined {
  const value = schema.default
  if (value === undefined || JSON.stringify(value) === '{}') return undefined
  if (Array.isArray(value)) return value.length === 0 ? 'none' : 'all'
  return typeof value === 'object' && value !== null
    ? `\`{ ${Object.entries(value)
        .map(([key, each]) => `${key}: ${String(each)}`)
        .join(', ')} }\``
    : code(value)
}

/** The forms of a value that many options take. */
function formsOf(name: string, schema: Schema): string {
  const rows = (schema.anyOf ?? []).map((form) => {
    const inner = Object.entries(form.properties ?? {})
    const said = form.description ?? inner.map(([, option]) => option.description ?? '').join(' ')
    return `| ${form.properties === undefined ? valuesOf(form) : formOf(form)} | ${plain(said.trim())} |`
  })
  return `## ${name}\n\n| form | |\n| --- | --- |\n${rows.join('\n')}\n`
}

function linkTo(ref: string): string {
  const name = ref.split('/').at(-1) ?? ''
  return `[${name}](#${name})`
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ path, values, byDefault, description }) =>
      `| \`${path}\` | ${values} | ${byDefault} | ${plain(description)} |`,
  )
  return `| option | values | default | |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`
}

/** Text whose signs mean nothing to Markdown. */
function plain(text: string): string {
  return text.replaceAll(/[<>|*\\[\]]/g, String.raw`\$&`)
}

function code(value: unknown): string {
  return `\`${String(value)}\``
}

function inWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
