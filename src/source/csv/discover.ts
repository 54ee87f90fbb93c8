import { DirsyncdError } from '../../base/errors.ts'
import type { CsvFormat } from './options.ts'
import type { CsvInput } from './input.ts'
import { readCsv } from './read-csv.ts'

export interface FoundCsv {
  readonly path: string
  readonly delimiter: string
  /** The WHATWG's name. */
  readonly encoding: string
  readonly columns: readonly FoundColumn[]
  /** Repeated column names, which no mapping can use. */
  readonly repeated: readonly string[]
  /** At most `MOST_ROWS`. */
  readonly rows: number
  readonly isCut: boolean
}

export interface FoundColumn {
  readonly name: string
  readonly filled: number
  /** Every row has a value, and no value comes twice. */
  readonly isUnique: boolean
  /** Without empty ones. */
  readonly values: ReadonlySet<string>
  /** Most values look like e-mail addresses; in a column with such a name, some do. */
  readonly hasAddresses: boolean
}

const MOST_ROWS = 50_000

/** Many rows have "none" instead of an address. */
const MOST = 0.5

const DELIMITERS = [';', ',', '\t', '|']

export type Wanted = Pick<CsvFormat, 'path'> & Partial<Pick<CsvFormat, 'delimiter' | 'encoding'>>

/** Reads the beginning of a file. `key` names it in the configuration. Rejects like `Source.read`. */
export async function discoverCsv(wanted: Wanted, key: string, signal: AbortSignal): Promise<FoundCsv> {
  const { delimiter: tried, first } = await readHeader(wanted, key, signal)
  const delimiter = wanted.delimiter ?? (tried === ',' ? delimiterOf(first.columns.join(',')) : tried)
  const format = { ...wanted, delimiter, encoding: first.encoding }
  const { columns } = delimiter === tried ? first : await readSome(format, key, [], 1, signal)
  const address = columns.find((name) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(name.trim()))
  if (address !== undefined)
    throw new DirsyncdError(
      'source-refused',
      `${[wanted.path].flat().join(', ')}, line 1: "${address}" is no name of a column; the first line must name the columns.`,
    )
  const named = columns.filter(isUsable)
  const { rows, filled, values, addresses } = await readSome(format, key, named, MOST_ROWS, signal)
  return {
    path: [wanted.path].flat().join(', '),
    delimiter,
    encoding: first.encoding,
    rows,
    isCut: rows === MOST_ROWS,
    repeated: [...new Set(columns.filter((name, at) => name !== '' && columns.indexOf(name) !== at))],
    columns: named.map((name) => ({
      name,
      filled: filled.get(name) ?? 0,
      isUnique: rows > 0 && values.get(name)?.size === rows,
      values: values.get(name) ?? new Set(),
      hasAddresses:
        (addresses.get(name) ?? 0) > (filled.get(name) ?? 0) * (CALLED_EMAIL.test(name) ? 0 : MOST),
    })),
  }
}

/** Excel may write another delimiter into its own first line (`sep=;`), and then no comma is valid. */
async function readHeader(wanted: Wanted, key: string, signal: AbortSignal) {
  const read = async (delimiter: string) => ({
    delimiter,
    first: await readSome({ ...wanted, delimiter }, key, [], 1, signal),
  })
  try {
    return await read(wanted.delimiter ?? ',')
  } catch (error) {
    const isOther = error instanceof DirsyncdError && error.code === 'config-invalid'
    if (wanted.delimiter !== undefined || !isOther) throw error
    return Promise.any(DELIMITERS.map(read)).catch(() => {
      throw error
    })
  }
}

/** Leaves out names that no mapping can use: repeated ones, and those that look like an expression. */
function isUsable(name: string, _at: number, all: readonly string[]): boolean {
  return name !== '' && !name.startsWith('=') && all.indexOf(name) === all.lastIndexOf(name)
}

function delimiterOf(header: string): string {
  const [most = ','] = DELIMITERS.toSorted((a, b) => header.split(b).length - header.split(a).length)
  return header.includes(most) ? most : ','
}

interface Some {
  readonly columns: readonly string[]
  readonly encoding: string
  readonly rows: number
  readonly filled: ReadonlyMap<string, number>
  readonly values: ReadonlyMap<string, ReadonlySet<string>>
  /** The columns with a value that is no e-mail address. */
  readonly addresses: ReadonlyMap<string, number>
}

class Enough extends DirsyncdError {}

async function readSome(
  format: Wanted & Pick<CsvFormat, 'delimiter'>,
  key: string,
  columns: readonly string[],
  most: number,
  signal: AbortSignal,
): Promise<Some> {
  const input: CsvInput = { ...format, encoding: format.encoding ?? 'auto', columns, key }
  const filled = new Map<string, number>()
  const values = new Map<string, Set<string>>(columns.map((name) => [name, new Set()]))
  const addresses = new Map<string, number>()
  let header: readonly string[] = columns
  let encoding = 'utf-8'
  let rows = 0
  try {
    const totals = await readCsv(input, signal, {
      onFile: (file) => (encoding = file.encoding),
      onUnreadable: () => undefined,
      onRow: ({ cells }) => {
        rows += 1
        for (const name of columns) {
          const value = cells(name)[0]?.trim() ?? ''
          if (value === '') continue
          filled.set(name, (filled.get(name) ?? 0) + 1)
          values.get(name)?.add(value)
          if (/^[^\s@]+@[^\s@]+$/.test(value)) addresses.set(name, (addresses.get(name) ?? 0) + 1)
        }
        if (rows === most && columns.length > 0) throw new Enough('interrupted', 'enough')
      },
    })
    header = totals.columns
  } catch (error) {
    if (!(error instanceof Enough)) throw error
  }
  return { columns: header, encoding, rows, filled, values, addresses }
}

/** Names of columns in exports, the best first. */
const ID = /^(external|person|personnel|user|employee|staff|member)?[ _-]?(id|guid|uuid|no|nr|number|key)$/i
const CALLED_EMAIL = /^(primary|work|business)?[ _-]?e?-?mail([ _-]?(address|adresse))?$/i
const EMAIL = /mail/i
const NAMES = [/^(display|full)[ _-]?name$/i, /^name$/i, /^cn$/i]
const GIVEN = /^(given|first|fore)[ _-]?name$|^(vorname|prénom|prenom|nombre|ime|imię)$/i
const FAMILY = /^(family|last|sur)[ _-]?name$|^(sn|nachname|familienname|nom|apellido|prezime|nazwisko)$/i
const EMPLOYEE = /^(employee|personnel|staff)[ _-]?(id|no|nr|number)$/i

/** Proposals for the columns of a file of users; empty where none fits. */
export interface ProposedColumns {
  /** Unique columns, those with a typical name of an id first. */
  readonly id: readonly string[]
  readonly isIdLikely: boolean
  /** Columns with a typical name whose values are no ids, with the reason. */
  readonly noIds: readonly (readonly [name: string, because: string])[]
  readonly email: readonly string[]
  readonly name: readonly (string | readonly string[])[]
  readonly employeeId: readonly string[]
}

export function proposeColumns({
  columns,
  repeated,
  rows,
}: Pick<FoundCsv, 'columns' | 'repeated' | 'rows'>): ProposedColumns {
  const names = columns.map(({ name }) => name)
  const unique = columns.filter(({ isUnique }) => isUnique)
  const ids = unique.filter(({ hasAddresses }) => !hasAddresses).map(({ name }) => name)
  const addresses = columns.filter(({ hasAddresses }) => hasAddresses).map(({ name }) => name)
  const mails = bestFirst(addresses, (name) => EMAIL.test(name))
  const whole = NAMES.flatMap((pattern) => names.filter((name) => pattern.test(name)))
  const given = names.find((name) => GIVEN.test(name))
  const family = names.find((name) => FAMILY.test(name))
  const joined = given === undefined || family === undefined ? [] : [`{${given}} {${family}}`]
  const single = [...whole, ...joined]
  const id = bestFirst(ids, (name) => ID.test(name))
  return {
    id,
    isIdLikely: ID.test(id[0] ?? ''),
    noIds: [
      ...columns.filter(({ name, isUnique }) => ID.test(name) && !isUnique).map(whyNoId(rows)),
      ...repeated
        .filter((name) => ID.test(name))
        .map((name) => [name, 'several columns have this name'] as const),
    ],
    email: bestFirst(mails, (name) => CALLED_EMAIL.test(name)),
    name: joined.length > 0 && whole.length > 0 ? [single, ...single] : single,
    employeeId: names.filter((name) => EMPLOYEE.test(name) && name !== id[0]),
  }
}

function whyNoId(rows: number) {
  return ({ name, filled }: FoundColumn): readonly [name: string, because: string] => [
    name,
    filled < rows ? 'it is empty in a row' : 'a value of it comes in several rows',
  ]
}

export function proposeGroupColumns({ columns }: Pick<FoundCsv, 'columns'>): {
  readonly id: readonly string[]
  readonly name: readonly string[]
} {
  const ids = columns.filter(({ isUnique }) => isUnique).map(({ name }) => name)
  const id = bestFirst(ids, (name) => /id$|^id|no$|key/i.test(name))
  const names = columns.map(({ name }) => name)
  return { id, name: bestFirst(names, (name) => /name|title|label/i.test(name)) }
}

function bestFirst(names: readonly string[], isBest: (name: string) => boolean): readonly string[] {
  return [...names.filter(isBest), ...names.filter((name) => !isBest(name))]
}
