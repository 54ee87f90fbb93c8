import type { CheckItem } from '../../../operations/check.ts'
import type { EmailTally } from '../../../source/email-tally.ts'
import type { RawSource } from '../../../operations/init/draft.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { renderCheckItem } from '../render/check.ts'
import type { Init } from './context.ts'
import { tellEmails } from './emails.ts'

/** `--yes` answers it. */
export const RIGHT = '--yes (mapping)'

/** Throws `source-refused` where the operator refuses the source, or where it is unusable. */
export async function preview(init: Init, source: RawSource): Promise<void> {
  const { steps, answers, say, warnings, columns, place, emails } = init
  say('', 'Reading all of it, as a run would …')
  const failures: string[] = []
  const onEmails = (tally: EmailTally) => (emails.found = tally)
  for await (const item of steps.preview(source, place(), onEmails)) {
    if (item.type === 'line' && item.level === 'fail') failures.push(item.detail)
    else if (isShown(item)) {
      if (item.type === 'samples') tellEmails(init)
      say(...renderCheckItem(item, columns))
    }
    if (item.type === 'finding' && item.level === 'fail') failures.push(item.sentence)
    if (item.type === 'finding' && item.level === 'warn') warnings.push(item.sentence)
    if (isShown(item) && item.type === 'line' && item.level === 'warn')
      warnings.push(`${item.label}: ${item.detail}`)
  }
  if (failures.length > 0) throw new DirsyncdError('source-refused', failures.join('; '))
  say('')
  if (!answers.hasPerson) return
  const isRight = await answers.confirm({
    flag: RIGHT,
    given: undefined,
    what: 'the mapping',
    message: 'Are these the right people, and are they mapped as they should be?',
    proposed: true,
  })
  if (isRight) return
  throw new DirsyncdError('source-refused', 'Then some of the questions once more.')
}

/** Good results and mapping traces belong to `dirsyncd check`; its e-mail findings are questions here. */
function isShown(item: CheckItem): boolean {
  if (item.type === 'line' && ['domains', 'e-mail'].includes(item.label)) return false
  if (item.type === 'line') return item.level === 'warn' || item.label === 'names'
  return item.type !== 'trace'
}
