import type { Kind } from '../entries/entry.ts'
import type { Notice } from '../notice.ts'
import { forEachInSteps, PART, type Steps } from '../../base/steps.ts'

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
  let count = 0
  for (const { id } of source) {
    const form = formOf(id)
    if (form === undefined || form !== (common ?? form)) return undefined
    common = form
    count += 1
    if (count % PART === 0) yield
  }
  return common
}

/** Directory servers write 128 bits with hyphens in several places, and some tools with braces around them. */
function formOf(id: string): Form | undefined {
  if (/^[\da-f]{32}$/i.test(id.replaceAll(/[-{}]/g, ''))) return 'guid'
  return /^\d+$/.test(id) ? 'number' : undefined
}
