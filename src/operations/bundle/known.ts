import type { Kysely } from 'kysely'
import { namingTexts } from '../../store/diagnostics.ts'
import type { Tables } from '../../store/tables.ts'
import { LONGEST_NAME, type Named } from './clean.ts'
import { plainForm, wordsIn } from './words.ts'

/** Which parts of these sentences are an id, a name or an e-mail in the store, by plain form. */
export async function findKnown(
  db: Kysely<Tables>,
  runs: readonly number[],
  sentences: readonly string[],
): Promise<ReadonlyMap<string, Named | 'several'>> {
  const parts = new Set(sentences.flatMap(partsOf))
  const known = new Map<string, Named | 'several'>()
  for await (const rows of namingTexts(db, runs)) {
    for (const { kind, id, texts } of rows) {
      for (const text of [id, ...texts]) {
        const form = text === null ? '' : plainForm(text)
        if (form !== '' && parts.has(form)) remember(known, form, { kind, id })
      }
    }
  }
  return known
}

function partsOf(sentence: string): readonly string[] {
  const words = wordsIn(plainForm(sentence))
  return words.flatMap((_word, start) =>
    words
      .slice(start, start + LONGEST_NAME)
      .map((_last, more) => words.slice(start, start + more + 1).join(' ')),
  )
}

function remember(known: Map<string, Named | 'several'>, form: string, named: Named): void {
  const other = known.get(form)
  const isSame =
    other === undefined || (other !== 'several' && other.id === named.id && other.kind === named.kind)
  known.set(form, isSame ? named : 'several')
}
