import { DirsyncdError } from '../../base/errors.ts'
import type { CsvFormat } from './options.ts'
import type { CsvInput, CsvListener } from './input.ts'
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

const DELIMITERS = [',', ';', '\t', '|']

export type Wanted = Pick<CsvFormat, 'path'> & Partial<Pick<CsvFormat, 'delimiter' | 'encoding'>>

/** Reads the beginning of a file. `key` names it in the configuration. Rejects like `Source.read`. */
export async function discoverCsv(wanted: Wanted, key: string, signal: AbortSignal): Promise<FoundCsv> {
  const path = [wanted.path].flat().join(', ')
  const { columns, delimiter, encoding } = await findHeader(wanted, key, signal)
  const address = columns.find((name) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(name.trim()))
  if (address !== undefined)
    throw new DirsyncdError(
      'source-refused',
      `${path}, line 1: "${address}" is no name of a column; the first line must name the columns.`,
    )
  const tallies = columns.filter(isUsable).map((name) => new Tally(name))
  const names = tallies.map(({ name }) => name)
  let rows = 0
  await readBeginning({ path: wanted.path, delimiter, encoding, columns: names, key }, signal, {
    onRow({ cells }) {
      rows += 1
      for (const tally of tallies) tally.add(cells(tally.name)[0]?.trim() ?? '')
      if (rows === MOST_ROWS) throw new Enough('interrupted', 'enough')
    },
  })
  return {
    path,
    delimiter,
    encoding,
    rows,
    isCut: rows === MOST_ROWS,
    repeated: [...new Set(columns.filter((name, at) => name !== '' && columns.indexOf(name) !== at))],
    columns: tallies.map((tally) => tally.column(rows)),
  }
}

interface FoundHeader extends Pick<FoundCsv, 'delimiter' | 'encoding'> {
  readonly columns: readonly string[]
}

/** With the delimiter that gives the most columns, unless it is set. */
async function findHeader(wanted: Wanted, key: string, signal: AbortSignal): Promise<FoundHeader> {
  const delimiters = wanted.delimiter === undefined ? DELIMITERS : [wanted.delimiter]
  let best: FoundHeader | undefined
  let failure: unknown
  for (const delimiter of delimiters) {
    try {
      const found = await readHeader({ ...wanted, delimiter }, key, signal)
      if (best === undefined || found.columns.length > best.columns.length) best = found
    } catch (error) {
      failure ??= error
    }
  }
  if (best === undefined) throw failure
  return best
}

async function readHeader(
  format: Wanted & Pick<CsvFormat, 'delimiter'>,
  key: string,
  signal: AbortSignal,
): Promise<FoundHeader> {
  let columns: readonly string[] = []
  let encoding = format.encoding ?? 'auto'
  await readBeginning({ ...format, encoding, columns, key }, signal, {
    onFile: (file) => (encoding = file.encoding),
    onHeader(header) {
      columns = header
      throw new Enough('interrupted', 'enough')
    },
  })
  return { columns, delimiter: format.delimiter, encoding }
}

/** Thrown by a listener to end the read. */
class Enough extends DirsyncdError {}

async function readBeginning(
  input: CsvInput,
  signal: AbortSignal,
  listener: Partial<CsvListener>,
): Promise<void> {
  const ignored = { onRow: () => undefined, onUnreadable: () => undefined }
  await readCsv(input, signal, { ...ignored, ...listener }).catch((error: unknown) => {
    if (!(error instanceof Enough)) throw error
  })
}

/** Leaves out names that no mapping can use: repeated ones, and those that look like an expression. */
function isUsable(name: string, _at: number, all: readonly string[]): boolean {
  return name !== '' && !name.startsWith('=') && all.indexOf(name) === all.lastIndexOf(name)
}

class Tally {
  readonly name: string
  readonly #values = new Set<string>()
  #filled = 0
  #addresses = 0

  constructor(name: string) {
    this.name = name
  }

  add(value: string): void {
    if (value === '') return
    this.#filled += 1
    this.#values.add(value)
    if (/^[^\s@]+@[^\s@]+$/.test(value)) this.#addresses += 1
  }

  column(rows: number): FoundColumn {
    const least = CALLED_EMAIL.test(this.name) ? 0 : this.#filled * MOST
    return {
      name: this.name,
      filled: this.#filled,
      isUnique: rows > 0 && this.#values.size === rows,
      values: this.#values,
      hasAddresses: this.#addresses > least,
    }
  }
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
