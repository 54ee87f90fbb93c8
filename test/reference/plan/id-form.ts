import type { Kind } from '../directory/entry.ts'
import type { Notice } from '../directory/snapshot.ts'
import { PART, type Steps } from '../directory/steps.ts'

type Form = 'GUIDs' | 'numbers'

interface Identified {
  readonly id: string
}

/**
 * Says of deleted entries that no sync of this source can have made them: all ids of the source have one form, and
 * theirs has not. Perhaps somebody made them by hand, such as an account for emergencies.
 *
 * @param deleted those that are not the same person under a new id
 */
export function* idsOfOtherForm(
  kind: Kind,
  deleted: Iterable<string>,
  source: Iterable<Identified>,
): Steps<readonly Notice[]> {
  const ids = [...deleted]
  if (ids.length === 0) return []
  const form = yield* commonForm(source)
  if (form === undefined) return []
  const detail = `is deleted in this plan; all ids of ${kind}s in the source are ${form}, and this one is not: unless an earlier read had it, it was made by hand or by another program; entries.${kind}s.protected keeps it`
  return ids.filter((id) => formOf(id) !== form).map((id) => ({ kind, id, code: 'other-id-form', detail }))
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
  if (/^[\da-f]{32}$/i.test(id.replaceAll(/[-{}]/g, ''))) return 'GUIDs'
  return /^\d+$/.test(id) ? 'numbers' : undefined
}
