import type { Notice, NoticeCode } from '../../directory/snapshot.ts'
import { pointInTime } from '../../directory/wording.ts'
import type { Change } from '../../plan/change.ts'
import type { DirectorySide, JournalEntry, SourceSide, Story, Verdict, VerdictCode } from '../story.ts'

/** What a verdict is made of. */
export interface VerdictFacts extends Pick<
  Story,
  'sync' | 'kind' | 'id' | 'name' | 'hold' | 'journal' | 'lastRun' | 'notices' | 'change'
> {
  readonly source: SourceSide
  readonly directory: DirectorySide
  /** What a run would plan from this entry alone. */
  readonly planned: Change | undefined
  /** The run whose guards hold everything, so that nothing is changed before a person decides. */
  readonly heldRun: number | null
}

/** Why, what the next run does, and what a person can do. */
export interface Judgement extends Pick<Story, 'next' | 'todo'> {
  readonly verdict: Verdict
}

interface Case {
  readonly code: VerdictCode
  readonly why: string
  readonly next?: string
  readonly todo?: string
}

/** The first of these that fits is the reason. */
export function judgementOf(facts: VerdictFacts): Judgement {
  const found =
    unreadable(facts) ??
    kept(facts) ??
    (facts.source.entries.length === 0 ? absentFromSource(facts) : outOfReach(facts)) ??
    differing(facts) ??
    same(facts)
  const { code, why, next = nextOf(facts), todo = null } = found
  return { verdict: { code, sentence: `${why}.` }, next: `${next}.`, todo: todo === null ? null : `${todo}.` }
}

/** `Ana Šimić (user u1)` */
function titleOf({ kind, id, name }: Pick<VerdictFacts, 'kind' | 'id' | 'name'>): string {
  const named = id === null ? `${kind} without an id` : `${kind} ${id}`
  return name === null ? `The ${named}` : `${name} (${named})`
}

function unreadable(facts: VerdictFacts): Case | undefined {
  const { source, sync } = facts
  if (source.error === null) return undefined
  return {
    code: 'source-unreadable',
    why: `The source cannot be read now, so only what earlier runs saw is known: ${withoutStop(source.error)}`,
    next: 'The next run changes nothing while the source cannot be read',
    todo: `dirsyncd check ${sync} shows whether the source can be read again`,
  }
}

/** Where a person or an earlier answer of the service keeps the change back. */
function kept(facts: VerdictFacts): Case | undefined {
  const { sync, kind, id, hold } = facts
  const title = titleOf(facts)
  const rejected = noticeOf(facts, 'rejected')
  if (rejected !== undefined) {
    const release = /dirsyncd approve [^.]*(?= releases it)/.exec(rejected)?.[0]
    const [what = '', ...more] = rejected.split(';')
    return {
      code: 'rejected',
      why: `${title} stays as it is, because a person said so: ${what}${release === undefined ? more.join(';') : ''}`,
      ...(release !== undefined && { todo: `${release} releases the change` }),
    }
  }
  const refused = noticeOf(facts, 'quarantined') ?? noticeOf(facts, 'does-not-converge')
  if (refused !== undefined) {
    return {
      code: 'quarantined',
      why: `The service refused to ${verbOf(facts.change)} ${title}: ${withoutStop(refused)}`,
      next: 'The next run leaves it alone: the change is tried again when the entry changes, or a day after the last try',
      todo: `Mend the entry in the source, or have it tried again: dirsyncd quarantine release --sync ${sync} --${kind} ${quoted(id ?? '')}`,
    }
  }
  if (hold !== null) {
    const { run, guards } = hold
    return {
      code: 'held',
      why: `Run ${run} wants to ${verbOf(facts.change)} ${title}, and waits for a person because of ${guards.join(' and ')}`,
      next: `The next run does not ${verbOf(facts.change)} it before somebody has decided about run ${run}`,
      todo: `Look at it with dirsyncd runs ${run}, then dirsyncd approve ${run} or dirsyncd reject ${run}`,
    }
  }
  return undefined
}

/** The source was asked, and does not have it. */
function absentFromSource(facts: VerdictFacts): Case | undefined {
  const { directory, journal } = facts
  const title = titleOf(facts)
  if (directory.error !== null) return directoryDown(facts, `The source does not have ${title}`)
  if (directory.entry !== null) return leaving(facts, `${title} is not in the source any more`)
  const deleted = journal.find(isDone)
  if (deleted?.op.startsWith('delete') === true) {
    return {
      code: 'deleted',
      why: `${title} was deleted from the directory ${deletedBy(deleted)}${REASONS[deleted.why ?? 'unknown']}`,
      next: 'The next run does nothing: neither side has it',
      todo: 'If it should be there, put it back into the source; the next run then creates it',
    }
  }
  return {
    code: 'absent',
    why: `${title} is neither in the source nor in the directory; only earlier runs knew it`,
    next: 'The next run does nothing: neither side has it',
    todo: 'If it should be there, put it into the source; the next run then creates it',
  }
}

const REASONS = {
  gone: ', because the source did not have it any more',
  'left-filter': ", because it was outside the sync's filter",
  disabled: ', because its account was disabled in the source',
  unknown: '',
} as const

/** Where this run was undone since, the story will say so here. */
function deletedBy({ at, run, approvedBy }: JournalEntry): string {
  const by =
    approvedBy === null ? '' : approvedBy === '' ? ', approved by a person' : `, approved by ${approvedBy}`
  return `${pointInTime(at)} by run ${run}${by}`
}

function isDone({ outcome }: JournalEntry): boolean {
  return outcome === 'applied' || outcome === 'found' || outcome === 'already'
}

/** The directory has an entry that the source does not want there. */
function leaving(facts: VerdictFacts, what: string, code: VerdictCode = 'changed', todo?: string): Case {
  const reasons: readonly (readonly [NoticeCode, VerdictCode])[] = [
    ['protected', 'protected'],
    ['excluded', 'excluded'],
    ['kept-by-policy', 'kept'],
    ['kept-unproved', 'kept'],
    ['in-grace', 'in-grace'],
    ['disabled', 'disabled'],
  ]
  for (const [notice, reason] of reasons) {
    const detail = noticeOf(facts, notice)
    if (detail === undefined) continue
    const isGrace = reason === 'in-grace'
    const waits = isGrace
      ? `and waits for its delete: ${afterName(facts, detail)}`
      : `and stays in the directory: ${detail}`
    return {
      code: code === 'changed' ? reason : code,
      why: `${what}, ${waits}`,
      next: 'The next run leaves it in the directory',
      ...(isGrace && {
        todo: `To delete it now, nothing has to be done; to keep it, put it back into the source`,
      }),
      ...(todo !== undefined && { todo }),
    }
  }
  const unproved = facts.lastRun?.notices.find(
    ({ code: said }) => said === 'unproved' || said === 'seen-again',
  )
  if (unproved !== undefined) {
    const { run } = facts.lastRun!
    return {
      code: 'unproved',
      why: `${what}, and run ${run} did not delete it, because nothing proved that it left: ${afterName(facts, unproved.detail)}`,
      next: 'Whether the next run deletes it depends on what it reads of everybody',
      todo: `Look at it with dirsyncd runs ${run}; dirsyncd approve ${run} has it deleted`,
    }
  }
  return { code, why: what, ...(todo !== undefined && { todo }) }
}

/** What keeps the entry of the source out of the sync. */
function outOfReach(facts: VerdictFacts): Case | undefined {
  const { source, directory } = facts
  const title = titleOf(facts)
  const inside = source.entries.filter(
    ({ standing }) => standing === undefined || (standing.inBase && standing.inFilter),
  )
  const [first] = source.entries
  const standing = first?.standing
  const out = (code: VerdictCode, why: string, todo: string): Case =>
    directory.entry === null
      ? { code, why, todo, next: 'The next run does nothing' }
      : leaving(facts, why, code, todo)
  if (inside.length === 0 && standing?.inBase === false) {
    const where = standing.bases.map((base) => `"${base}"`).join(' and ')
    return out(
      'other-base',
      `${title} is at ${first!.from}, outside of where the sync looks: ${where}`,
      'Move the entry in the source, or change the base of the sync',
    )
  }
  if (inside.length === 0 && standing !== undefined) {
    return out(
      'left-filter',
      `The sync's filter keeps ${title} out: ${standing.filter}`,
      'Change the entry in the source so that it meets the filter, or change the filter of the sync',
    )
  }
  const disabled = inside.map((entry) => entry.standing?.disabled).find((rule) => rule !== undefined)
  if (disabled !== undefined) {
    const effect = disabled.action === 'delete' ? 'counts as gone' : 'is left as it is'
    return out(
      'disabled',
      `The account of ${title} is disabled in the source and so ${effect}: ${disabled.rule}`,
      'Enable the account in the source',
    )
  }
  return unusable(facts)
}

/** What is wrong with the entry itself. */
function unusable(facts: VerdictFacts): Case | undefined {
  const title = titleOf(facts)
  const { entries } = facts.source
  const duplicate = noticeOf(facts, 'duplicate-id')
  if (duplicate !== undefined) {
    return {
      code: 'duplicate-id',
      why: `${entries.length} entries of the source have the id of ${title}, so none of them is used: ${entries.map(({ from }) => from).join('; ')}`,
      next: 'The next run leaves it as it is',
      todo: 'Give each of these entries an id of its own',
    }
  }
  const excluded = noticeOf(facts, 'excluded')
  if (excluded !== undefined) {
    return {
      code: 'excluded',
      why: `The lists of the sync leave ${title} out: it ${excluded}`,
      next: 'The next run leaves it as it is',
      todo: `Change entries.${facts.kind}s of the sync, if it should not be left out`,
    }
  }
  const wrong =
    noticeOf(facts, 'unreadable') ?? noticeOf(facts, 'no-name') ?? noticeOf(facts, 'members-hidden')
  if (wrong !== undefined) {
    return {
      code: 'unusable',
      why: `${title} cannot be used as the source has it: ${wrong}`,
      next: 'The next run leaves it as it is',
      todo: 'Correct the entry in the source',
    }
  }
  const domain = noticeOf(facts, 'email-not-allowed')
  if (domain === undefined) return undefined
  return {
    code: 'email-not-allowed',
    why: `${title} is not written, because ${domain.split(';')[0]}`,
    next: 'The next run leaves it as it is',
    todo: 'Correct the e-mail in the source, or add its domain to directory.allowedDomains',
  }
}

/** The source wants something else than the directory has, or cannot have what it wants. */
function differing(facts: VerdictFacts): Case | undefined {
  const { directory, planned, sync, kind, id, lastRun } = facts
  const title = titleOf(facts)
  if (directory.error !== null)
    return directoryDown(facts, `The source has ${title}, and nothing there keeps it out`)
  const taken = noticeOf(facts, 'duplicate-email')
  if (taken !== undefined) {
    return {
      code: 'email-taken',
      why: `The e-mail of ${title} belongs to somebody else: ${taken}`,
      todo: 'Give one of the two another e-mail in the source',
    }
  }
  const waits = noticeOf(facts, 'reborn') ?? lastRun?.notices.find(({ code }) => code === 'unproved')?.detail
  if (waits !== undefined && (planned !== undefined || hasNotice(facts, 'reborn'))) {
    return {
      code: 'unproved',
      why: `${title} waits, because nothing proves yet that the source is right: ${afterName(facts, waits)}`,
      next: 'Whether the next run changes it depends on what it reads of everybody',
      ...(lastRun !== null && {
        todo: `Look at it with dirsyncd runs ${lastRun.run}; dirsyncd approve ${lastRun.run} releases it`,
      }),
    }
  }
  const policy = noticeOf(facts, 'kept-by-policy')
  if (policy !== undefined) return { code: 'kept', why: `${title} ${policy}` }
  if (planned === undefined) return undefined
  return {
    code: 'changed',
    why: planned.op.startsWith('create')
      ? `${title} is in the source, and not in the directory yet`
      : `${title} is not in the directory as the source has it: ${differenceOf(planned)}`,
    todo: `To have it done now: dirsyncd sync ${sync} --${kind} ${quoted(id ?? '')}`,
  }
}

function same(facts: VerdictFacts): Case {
  const title = titleOf(facts)
  const failed = noticeOf(facts, 'value-failed')
  const email = noticeOf(facts, 'no-email')
  const keptValue = noticeOf(facts, 'value-kept')
  if (failed !== undefined)
    return {
      code: 'unusable',
      why: `${title} has a value that cannot be used: ${failed}`,
      todo: 'Correct the entry in the source',
    }
  if (email !== undefined || (facts.kind === 'user' && hasNoEmail(facts.directory)))
    return {
      code: 'no-email',
      why: `${title} is in the directory without an e-mail, because the source has none that can be used`,
      todo: 'Give it an e-mail in the source, or correct users.map.email of the sync',
    }
  if (keptValue !== undefined)
    return { code: 'value-kept', why: `${title} is in the directory, and ${keptValue}` }
  return {
    code: 'unchanged',
    why: `${title} is in the directory as the source has it, so dirsyncd is not what keeps it out`,
  }
}

function hasNoEmail({ entry }: DirectorySide): boolean {
  return entry !== null && 'email' in entry && !entry.email
}

function directoryDown({ directory, sync }: VerdictFacts, what: string): Case {
  return {
    code: 'directory-unreadable',
    why: `${what}; what the directory has is not known now: ${withoutStop(directory.error ?? '')}`,
    next: 'The next run changes nothing while the directory cannot be read',
    todo: `dirsyncd check ${sync} shows whether the directory can be read again`,
  }
}

function nextOf({ planned, heldRun, change }: VerdictFacts): string {
  if (planned === undefined) return 'The next run does nothing'
  if (heldRun !== null) return `The next run changes nothing before somebody has decided about run ${heldRun}`
  const unless = change?.op.startsWith('delete') === true ? ', unless a guard or the evidence holds it' : ''
  return `The next run ${DOES[planned.op]}${unless}`
}

const DOES: Readonly<Record<Change['op'], string>> = {
  'create-user': 'creates it',
  'create-group': 'creates it',
  'update-user': 'updates it',
  'update-group': 'updates it',
  'delete-user': 'deletes it',
  'delete-group': 'deletes it',
  'set-members': 'changes its members',
}

function verbOf(change: Change | null): string {
  return change === null ? 'change' : (change.op.split('-')[0] ?? 'change')
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

function noticeOf({ notices }: VerdictFacts, code: NoticeCode): string | undefined {
  return notices.find((notice: Notice) => notice.code === code)?.detail
}

function hasNotice(facts: VerdictFacts, code: NoticeCode): boolean {
  return noticeOf(facts, code) !== undefined
}

/** Details of notices may begin with the name, which the sentence has already. */
function afterName({ name }: VerdictFacts, detail: string): string {
  return name !== null && detail.startsWith(name) ? detail.slice(detail.indexOf(': ') + 2) : detail
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

/** An id as one word of a shell's command line. */
function quoted(id: string): string {
  return /^[\w@%+=:,./-]+$/.test(id) && !id.startsWith('-') ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`
}
