import type { Nobody, Story } from '../../../operations/story.ts'
import { undone } from './decisions.ts'
import { nextOf, whilePaused } from './next.ts'
import { emailHolder, outcome } from './outcomes.ts'
import { type Part, type VerdictCode, withoutStop } from './part.ts'
import { maybeUnread, stopped, unusable } from './reasons.ts'
import { placeOf, whereText } from './where.ts'

export interface Verdict {
  readonly code: VerdictCode
  /** One sentence, as the next two. */
  readonly sentence: string
}

export interface Judgement {
  readonly verdict: Verdict
  /** What the next run would do; null where no entry is known. */
  readonly next: string | null
  /** What the operator can do; null where nothing has to be done. */
  readonly todo: string | null
}

export function judgementOf(explanation: Story | Nobody): Judgement {
  return explanation.result === 'one' ? judgementOfStory(explanation) : unknown(explanation)
}

function unknown({ sync, who, searched, error, directoryError, unreadable }: Nobody): Judgement {
  const inSource =
    error === null
      ? `not in the source${searched === null ? '' : ` (searched ${searched})`}`
      : `the source cannot be read now (${withoutStop(error)})`
  const inDirectory =
    directoryError === null
      ? 'not in the directory under this id'
      : `the directory cannot be asked now (${withoutStop(directoryError)})`
  const unread = maybeUnread(unreadable)
  const doubt = unread === undefined ? '' : `; ${unread}`
  const code =
    error !== null ? 'source-unreadable' : directoryError !== null ? 'directory-unreadable' : 'never-seen'
  return {
    verdict: {
      code,
      sentence: `"${who}" is unknown: ${inSource}, ${inDirectory}, not in the kept runs of ${sync}${doubt}.`,
    },
    next: null,
    todo:
      code === 'never-seen' && unread === undefined
        ? 'Try the id, the e-mail, the full name or the DN.'
        : `dirsyncd check ${sync} shows what can be read again.`,
  }
}

function judgementOfStory(facts: Story): Judgement {
  const parts = partsOf(facts)
  const first = <Key extends keyof Part>(key: Key) => parts.find((part) => part[key] !== undefined)?.[key]
  const texts = parts.map(({ text }) => text).filter((text) => text !== undefined)
  const todo = first('todo')
  return {
    verdict: { code: first('code') ?? 'changed', sentence: `${withoutStop(texts.join('; '))}.` },
    next: `${whilePaused(facts, first('next') ?? nextOf(facts))}.`,
    todo: todo === undefined ? null : `${withoutStop(todo)}.`,
  }
}

function partsOf(facts: Story): readonly Part[] {
  const { source, directory, sync } = facts
  if (source.error !== null)
    return [
      {
        code: 'source-unreadable',
        text: `The source cannot be read now, so only what earlier runs saw is known: ${source.error}`,
        next: 'While the source cannot be read, a run changes nothing',
        todo: `dirsyncd check ${sync} shows whether the source can be read again`,
      },
    ]
  const [first] = source.entries
  if (first?.container !== undefined && directory.entry === null)
    return [
      {
        code: 'not-an-entry',
        text: `"${first.from}" is ${first.container}, no user and no group`,
        next: 'The next run does nothing with it',
        todo: 'Ask for a user or a group, by id, e-mail, name or DN',
      },
    ]
  const where = { text: whereText(facts) }
  if (directory.error !== null) return [where, ...unusable(facts), directoryDown(facts)]
  const { code, todo } = placeOf(facts)
  const stop = stopped(facts) ?? undone(facts)
  const reasons = stop === undefined ? outcome(facts) : [stop]
  return [where, { code, todo }, emailHolder(facts), ...reasons]
}

function directoryDown({ sync }: Story): Part {
  return {
    code: 'directory-unreadable',
    next: 'While the directory cannot be read, a run changes nothing',
    todo: `dirsyncd check ${sync} shows whether the directory can be read again`,
  }
}
