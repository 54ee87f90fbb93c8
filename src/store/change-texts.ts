import { sql } from 'kysely'
import { foldedName } from '../core/entries/normalize.ts'
import type { Change, Op } from '../core/plan/change.ts'
import type { Fenced } from './fenced-run.ts'
import { storable } from './storable.ts'
import type { Db } from './tables.ts'

/** Of each id, name and e-mail so many characters are searched. */
const SEARCHED = 300

/**
 * The text in which an operator searches changes that are stored together: a line for each with its number, ids, names
 * and e-mails without case and accents. A hundred of these texts are read in the time in which ten thousand changes are.
 */
interface ChangeTexts {
  readonly first: number
  readonly last: number
  readonly ops: readonly Op[]
  readonly texts: string
}

/** @param first the number of the first of them */
export function textsOf(changes: readonly Change[], first: number): ChangeTexts {
  const lines = changes.map(
    (change, place) => `${first + place}\t${foldedText(valuesOf(change).join(' '))}\n`,
  )
  const ops = [...new Set(changes.map(({ op }) => op))]
  return { first, last: first + changes.length - 1, ops, texts: lines.join('') }
}

function foldedText(text: string): string {
  return foldedName(text).replaceAll(/\s+/g, ' ')
}

function valuesOf(change: Change): readonly string[] {
  const sides: readonly Partial<Record<'name' | 'email' | 'employeeId', string | null>>[] =
    change.op === 'set-members'
      ? [{ name: change.name }]
      : ['have' in change ? change.have : {}, 'want' in change ? change.want : {}]
  const values = sides.flatMap(({ name, email, employeeId }) => [name, email, employeeId])
  const otherIds = ['oldId' in change ? change.oldId : null, 'newId' in change ? change.newId : null]
  return [change.id, ...values, ...otherIds].flatMap((text) => (text ? [text.slice(0, SEARCHED)] : []))
}

export async function storeTexts(
  trx: Fenced,
  run: number,
  { first, last, ops, texts }: ChangeTexts,
): Promise<void> {
  await sql`INSERT INTO dirsyncd.change_texts (run, first, last, ops, texts)
    VALUES (${run}, ${first}, ${last}, ${ops}, ${storable(texts)})`.execute(trx)
}

/** Texts that are read at once. */
const AT_ONCE = 5

/**
 * The numbers of a run's changes with this part of an id, a name or an e-mail, in their order or the other way round,
 * and in parts. The conditions are checked in the order in which they are written, and texts take long to unpack.
 *
 * @param op leaves out what is surely of other operations
 */
export async function* numbersFound(
  db: Db,
  run: number,
  { search, op }: { readonly search: string; readonly op?: Op | undefined },
  { from, isBackwards }: { readonly from: number; readonly isBackwards: boolean },
): AsyncGenerator<readonly number[], void> {
  const wanted = foldedText(search)
  const ofOp = op === undefined ? sql`true` : sql`${op} = ANY(ops)`
  for (let at = from; ;) {
    const { rows } = await sql<Pick<ChangeTexts, 'first' | 'last' | 'texts'>>`
      SELECT first, last, texts FROM dirsyncd.change_texts
      WHERE run = ${run} AND ${isBackwards ? sql`first < ${at}` : sql`last > ${at}`} AND ${ofOp}
        AND strpos(texts, ${wanted}) > 0
      ORDER BY first ${isBackwards ? sql`DESC` : sql`ASC`} LIMIT ${AT_ONCE}`.execute(db)
    const found = rows.flatMap(({ texts }) => numbersIn(texts, wanted))
    const numbers = found.filter((number) => (isBackwards ? number < from : number > from))
    if (numbers.length > 0) yield numbers
    if (rows.length < AT_ONCE) return undefined
    const last = rows.at(-1)!
    at = isBackwards ? last.first : last.last
  }
}

function numbersIn(texts: string, wanted: string): readonly number[] {
  return texts.split('\n').flatMap((line) => {
    const tab = line.indexOf('\t')
    return line.includes(wanted, tab + 1) && tab > 0 ? [Number(line.slice(0, tab))] : []
  })
}
