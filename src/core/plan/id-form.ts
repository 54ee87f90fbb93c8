import type { Kind } from '../entries/entry.ts'
import type { Notice } from '../notice.ts'
import { everyInSteps, forEachInSteps, type Steps } from '../../base/steps.ts'
import { canonicalEmail, foldedName } from '../entries/normalize.ts'
import type { Change } from './change.ts'

type Form = 'guid' | 'number'

interface Identified {
  readonly id: string
}

/**
 * Notices of deleted entries that no sync of this source can have made: all ids of the source have one form, and theirs
 * do not. An operator may have created them, such as an account for emergencies.
 * @param deleted those that are not the same user under a new id
 */
export function* idsOfOtherForm(
  kind: Kind,
  deleted: Iterable<string>,
  source: Iterable<Identified>,
): Steps<readonly Notice[]> {
  const [first] = deleted
  if (first === undefined) return []
  const form = yield* commonForm(source)
  if (form === undefined) return []
  const notices: Notice[] = []
  yield* forEachInSteps(deleted, (id) => {
    if (formOf(id) !== form) notices.push({ kind, id, code: 'other-id-form', params: { form } })
  })
  return notices
}

function* commonForm(source: Iterable<Identified>): Steps<Form | undefined> {
  let common: Form | undefined
  const isOne = yield* everyInSteps(source, ({ id }) => {
    const form = formOf(id)
    common ??= form
    return form !== undefined && form === common
  })
  return isOne ? common : undefined
}

/** Directory servers write 128 bits with hyphens in several places, and some tools with braces around them. */
function formOf(id: string): Form | undefined {
  if (/^[\da-f]{32}$/i.test(id.replaceAll(/[-{}]/g, ''))) return 'guid'
  return /^\d+$/.test(id) ? 'number' : undefined
}

/**
 * Whether the id seems to belong to another person now: the update changes name and e-mail, keeps no word of the name,
 * and changes the part of the e-mail before the `@`. A new surname, spelling or e-mail domain does not count.
 */
export function isMovedId(change: Change): boolean {
  if (change.op !== 'update-user') return false
  const { have, want } = change
  if (!have.name || !have.email || want.name === undefined || want.email === undefined) return false
  if (localPart(have.email) === localPart(want.email)) return false
  const before = new Set(wordsOf(have.name))
  const after = wordsOf(want.name)
  return before.size > 0 && after.length > 0 && !after.some((word) => before.has(word))
}

/** In lower case, without accents and punctuation. */
function wordsOf(name: string): readonly string[] {
  return foldedName(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

function localPart(email: string): string {
  const canonical = canonicalEmail(email)
  return canonical.slice(0, canonical.lastIndexOf('@'))
}
