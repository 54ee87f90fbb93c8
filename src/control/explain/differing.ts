import { amount, digits } from '../../directory/wording.ts'
import type { Change } from '../../plan/change.ts'
import type { NoticeCode } from '../../directory/snapshot.ts'
import type { DirectorySide } from '../story.ts'
import {
  afterName,
  answerIn,
  type Case,
  noticeOf,
  quoted,
  titleOf,
  type VerdictFacts,
  withoutStop,
} from './case.ts'

/** The source wants something else than the directory has, or cannot have what it wants. */
export function differing(facts: VerdictFacts): Case | undefined {
  return emailTaken(facts) ?? doubted(facts) ?? keptByPolicy(facts) ?? changed(facts)
}

function emailTaken(facts: VerdictFacts): Case | undefined {
  const said = noticeOf(facts, 'duplicate-email')
  if (said === undefined) return emailKept(facts)
  return {
    code: 'email-taken',
    why: `${titleOf(facts)} does not get its e-mail: ${said.replace(/; the rest of this user .*/, '')}`,
    todo: 'Give one of the two another e-mail in the source',
  }
}

/** Only a run knows everybody who may have the e-mail, such as somebody whose delete waits. */
function emailKept(facts: VerdictFacts): Case | undefined {
  const { planned, lastRun } = facts
  if (planned?.op !== 'create-user' && planned?.op !== 'update-user') return undefined
  const { email } = planned.want
  const said = lastRun?.notices.find(({ code }) => code === 'duplicate-email')?.detail
  if (lastRun === null || email === undefined || said?.includes(email) !== true) return undefined
  return {
    code: 'email-taken',
    why: `${titleOf(facts)} did not get its e-mail in run ${lastRun.run}: ${said.replace(/; the rest of this user .*/, '')}`,
    next: 'The next run gives it the e-mail if nobody has it then',
    todo: 'Look at who has the e-mail: dirsyncd explain tells why that one keeps it',
  }
}

/** A change that waits because the read does not prove it. */
function doubted(facts: VerdictFacts): Case | undefined {
  const { lastRun, planned } = facts
  const reborn = noticeOf(facts, 'reborn')
  const notMade = planned?.op.startsWith('create') === true ? 'not created' : 'not updated'
  const unproved = lastRun?.notices.find(
    ({ code, detail }) => code === 'unproved' && detail.includes(notMade),
  )
  const doubt = reborn ?? (planned === undefined ? undefined : unproved?.detail)
  if (doubt === undefined) return undefined
  return {
    code: 'unproved',
    why: `${titleOf(facts)} waits, because nothing proves yet that the source is right: ${afterName(facts, doubt)}`,
    next: 'Whether the next run changes it depends on what it reads then',
    todo: remedyOfDoubt(facts),
  }
}

/** What a run says of changes that wait for a better read. */
const DOUBTS: ReadonlySet<NoticeCode> = new Set(['reborn', 'unproved', 'members-kept'])

/** Only a run that holds it can be approved. */
function remedyOfDoubt({ lastRun, sync }: VerdictFacts): string {
  const held = lastRun?.notices.some(({ code }) => DOUBTS.has(code)) === true
  const run = held ? `dirsyncd runs ${lastRun.run}` : `dirsyncd sync ${sync}`
  return `${run} names what waits, and the number of the run with which dirsyncd approve releases it`
}

function keptByPolicy(facts: VerdictFacts): Case | undefined {
  const said = noticeOf(facts, 'kept-by-policy')
  if (said === undefined) return undefined
  return { code: 'kept', why: `${titleOf(facts)} ${said}`, next: 'The next run leaves it as it is' }
}

function changed(facts: VerdictFacts): Case | undefined {
  const { planned } = facts
  if (planned === undefined) return undefined
  const title = titleOf(facts)
  const what = planned.op.startsWith('create')
    ? `${title} is in the source, and not in the directory yet`
    : `${title} is in the directory with other values than in the source: ${differenceOf(planned)}`
  const trouble = troubleOf(facts, planned)
  return {
    code: trouble === undefined ? 'changed' : 'failed',
    why: trouble === undefined ? what : `${what}; ${trouble}`,
    todo: remedyOf(facts, trouble === undefined ? 'done' : 'tried again'),
  }
}

/** Why it was not done before: the last try failed, or the last run. */
function troubleOf({ journal, lastFailure }: VerdictFacts, { op }: Change): string | undefined {
  const [last] = journal
  if (last?.op === op && last.outcome !== null && FAILED.has(last.outcome)) {
    const why = last.detail === null ? '' : ` (${withoutStop(answerIn(last.detail))})`
    return `run ${last.run} tried it, and it failed${why}`
  }
  if (lastFailure === null) return undefined
  return `run ${lastFailure.run} failed: ${withoutStop(lastFailure.error)}`
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'unknown'])

function remedyOf({ sync, kind, id, paused }: VerdictFacts, what: string): string {
  if (paused !== null) return `dirsyncd resume ${sync} lets the sync run again`
  return `With dirsyncd sync ${sync} --${kind} ${quoted(id ?? '')} it is ${what} now`
}

/** `the name is "Ana" there and "Anna" in the source` */
function differenceOf(change: Change): string {
  if (change.op !== 'update-user' && change.op !== 'update-group') return ''
  const have: { readonly email?: string | null; readonly name: string | null } = change.have
  const want: { readonly email?: string; readonly name?: string } = change.want
  const parts = (['name', 'email'] as const).flatMap((field) => {
    if (want[field] === undefined) return []
    const there = have[field] ? `"${have[field]}"` : 'missing'
    return `the ${field === 'email' ? 'e-mail' : field} is ${there} there and "${want[field]}" in the source`
  })
  return parts.join(', ')
}

/** Nothing is to be changed. */
export function same(facts: VerdictFacts): Case {
  const title = titleOf(facts)
  const failed = noticeOf(facts, 'value-failed')
  if (failed !== undefined) {
    const why = `${title} has a value that cannot be used: ${failed}`
    return { code: 'unusable', why, todo: 'Correct the entry in the source, or the mapping of the sync' }
  }
  if (facts.kind === 'user' && hasNoEmail(facts.directory)) {
    const why = `${title} is in the directory without an e-mail, because the source has none that can be used`
    return {
      code: 'no-email',
      why,
      todo: 'Give it an e-mail in the source, or correct users.map.email of the sync',
    }
  }
  if (facts.kind === 'group') return sameGroup(facts)
  const kept = noticeOf(facts, 'value-kept')
  if (kept !== undefined) return { code: 'value-kept', why: `${title} is in the directory, and ${kept}` }
  const why = `${title} is in the directory as the source has it, so look for the cause in the service`
  return { code: 'unchanged', why }
}

/** Who is a member, only a run knows, because it takes all users of both sides. */
function sameGroup(facts: VerdictFacts): Case {
  const { source, directory } = facts
  const title = titleOf(facts)
  const listed = source.entries[0]?.members
  const there = directory.entry !== null && 'members' in directory.entry ? directory.entry.members.length : 0
  if (listed === undefined || listed === there)
    return { code: 'unchanged', why: `${title} is in the directory as the source has it` }
  const numbers = `the source lists ${amount(listed, 'member')}, and the directory has ${digits(there)}`
  const kept = facts.lastRun?.notices.find(({ code }) => code === 'members-kept')
  if (kept !== undefined)
    return {
      code: 'unproved',
      why: `${title} keeps its members, because nothing proves yet that the source is right: ${numbers}; ${kept.detail}`,
      next: 'The next run takes nobody out of it, unless somebody approves it or a better read proves it',
      todo: remedyOfDoubt(facts),
    }
  return {
    code: 'unchanged',
    why: `${title} is in the directory; ${numbers}`,
    next: 'The next run compares the members: only those who are users of the directory count',
  }
}

function hasNoEmail({ entry }: DirectorySide): boolean {
  return entry !== null && 'email' in entry && !entry.email
}
