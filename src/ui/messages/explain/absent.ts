import type { Story } from '../../../operations/story.ts'
import { amount } from '../../../base/wording.ts'
import { type Faulty, isNotice, type NoticeCode, type NoticeOf, type NotMade } from '../../../core/notice.ts'
import { noticeTextAlone, notUnderstoodText } from '../notices.ts'
import type { DeleteReason } from '../../../core/plan/change.ts'
import { type Case, deletionOf, inWords, noticeOf, quoted, titleOf, type VerdictCode } from './case.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** A lagging LDAP server may show users that it has just lost. */
function putBack({ source, sync }: Story, deletedAt: string | undefined): string {
  const isRecent = deletedAt !== undefined && Date.now() - Date.parse(deletedAt) < DAY_MS
  const then =
    source.server === null || !isRecent
      ? 'and the next run creates it'
      : `which creates it a day after its delete; sooner, dirsyncd sync ${sync} names the run to approve with --only reborn`
  return `put it back into the source, ${then}`
}

/** An unreadable row may have the entry; nothing where all rows were readable. */
export function maybeUnread([first, ...others]: readonly Faulty[]): readonly string[] {
  if (first === undefined) return []
  const more = others.length === 0 ? '' : `, and ${amount(others.length, 'more entry')}`
  return [`it may be in an entry that cannot be read (${first.from}: ${first.fault}${more})`]
}

export function absent(facts: Story): Case {
  const title = titleOf(facts)
  if (facts.directory.entry !== null)
    return withEmailHolder(facts, leaving(facts, `${title} is not in the source`))
  const next = 'The next run does nothing: neither the source nor the directory has it'
  const deletion = deletionOf(facts)
  const why =
    deletion === undefined
      ? `${title} is neither in the source nor in the directory; only earlier runs knew it`
      : `${title} was ${inWords(deletion)}${REASONS[deletion.why ?? 'unknown']}`
  const other = otherId(facts)
  const todo = other?.todo ?? `If it should be there, ${putBack(facts, deletion?.at)}`
  const [unread] = maybeUnread(facts.source.unreadable)
  return {
    code: deletion === undefined ? 'absent' : 'deleted',
    why: [
      why,
      ...(other === undefined ? [] : [other.why]),
      ...(unread === undefined ? [] : [`but ${unread}`]),
    ].join('; '),
    next,
    todo,
  }
}

/** Restoring the user in the source would give two accounts. */
function otherId({ source: { sameEmail }, sync }: Story): { why: string; todo: string } | undefined {
  const holder = sameEmail.find(({ id }) => id !== null)
  if (holder === undefined) return undefined
  return {
    why: `the source has its e-mail at "${holder.from}", with the id ${holder.id}`,
    todo: `Most likely that is the same user: dirsyncd explain ${sync} ${quoted(holder.id ?? '')}`,
  }
}

/** Names the present owner of the e-mail in the source: most likely the same user with a changed or missing id. */
function withEmailHolder({ source: { sameEmail } }: Story, plain: Case): Case {
  const holder = sameEmail[0]
  if (holder === undefined) return plain
  const named = `the source has its e-mail at "${holder.from}"`
  const why = (what: string) => `${plain.why}; ${named}, with ${what}`
  if (holder.id !== null) return { ...plain, why: why(`the id ${holder.id}`) }
  return {
    code: 'unusable',
    why: why('no id that can be used'),
    next: 'While an entry that the sync reads has no id, a run deletes no entry',
    todo: 'Give that entry its id back in the source',
  }
}

const REASONS: Readonly<Record<DeleteReason | 'unknown', string>> = {
  gone: ', because it was not in the source',
  'left-filter': ", because it was outside the sync's filter",
  disabled: ', because its account was disabled in the source',
  undone: '',
  unknown: '',
}

type Stays = 'protected' | 'excluded' | 'kept-by-policy' | 'kept-unproved' | 'in-grace'

interface Stay<Code extends Stays> {
  readonly code: VerdictCode
  /** Follows the reason why the source does not want the entry. */
  readonly words: (notice: NoticeOf<Code>, facts: Story) => string
  readonly next?: (facts: Story) => string
  /** Default: how to keep the entry. */
  readonly todo?: (facts: Story) => string
}

function changeLists({ kind }: Story): string {
  return `If it should go, change entries.${kind}s of the sync`
}

const STAYS_THERE = 'The next run leaves it in the directory'

/** The memberships are removed before the delete. */
function leavesGroups({ kind, membership }: Story): string {
  if (kind !== 'user' || membership !== 'write') return STAYS_THERE
  return `${STAYS_THERE}, and takes it out of the groups of the sync, unless a check blocks that`
}

const STAYS: { readonly [Code in Stays]: Stay<Code> } = {
  protected: {
    code: 'protected',
    words: (_notice, { kind }) =>
      `stays in the directory, because the list entries.${kind}s.protected has it`,
    todo: changeLists,
  },
  excluded: {
    code: 'excluded',
    words: () => 'stays in the directory, because the lists of the sync leave it out',
    todo: changeLists,
  },
  'kept-by-policy': {
    code: 'kept',
    words: ({ params }) => `stays in the directory: policy ${params.policy} does not delete`,
    todo: () => 'If it should go, delete it in the service, or change the policy of the sync',
  },
  'kept-unproved': {
    code: 'kept',
    words: ({ params }) => `stays in the directory, because ${notUnderstoodText(params)}`,
    todo: ({ sync }) => `Correct these entries; dirsyncd check ${sync} names them`,
  },
  'in-grace': {
    code: 'in-grace',
    words: (notice, facts) =>
      `is in its grace period: ${facts.isAbsenceKnown ? noticeTextAlone(notice) : 'no run has found it absent yet, so it begins with the next run'}`,
    next: leavesGroups,
  },
}

function stay(facts: Story, code: Stays): Case | undefined {
  const notice = noticeOf(facts, code)
  if (notice === undefined) return undefined
  // The row of a code takes the notices with that code.
  const { words, next, todo, code: verdict } = STAYS[code] as Stay<Stays>
  return {
    code: verdict,
    why: words(notice, facts),
    next: next?.(facts) ?? STAYS_THERE,
    ...(todo !== undefined && { todo: todo(facts) }),
  }
}

/** Facts that only a run knows about a delete that it did not make. */
const DOUBTS: ReadonlySet<NoticeCode> = new Set(['unproved', 'seen-again', 'kept-unproved', 'shared-id'])

function isDelete({ op }: NotMade): boolean {
  return op === 'delete-user' || op === 'delete-group'
}

/**
 * The directory has an entry that the source does not want.
 *
 * @param what why the source does not want it
 * @param known the code and the remedy, where the reason is known
 */
export function leaving(
  facts: Story,
  what: string,
  known?: { readonly code: VerdictCode; readonly todo: string },
): Case {
  const todo = known?.todo ?? 'If it should stay, put it back into the source'
  for (const code of Object.keys(STAYS) as Stays[]) {
    const stays = stay(facts, code)
    if (stays !== undefined) return { todo, ...stays, ...known, why: `${what}, and ${stays.why}` }
  }
  const { lastRun } = facts
  const doubt = lastRun?.notices.find(
    (notice) => DOUBTS.has(notice.code) && !(isNotice(notice, 'unproved') && !isDelete(notice.params)),
  )
  if (lastRun !== null && doubt !== undefined && facts.planned !== undefined) {
    return {
      code: known?.code ?? 'unproved',
      why: `${what}, and run ${lastRun.run} did not delete it, because the read does not confirm it: ${noticeTextAlone(doubt)}`,
      next: 'Whether the next run deletes it depends on what it reads',
      todo,
    }
  }
  return { code: known?.code ?? 'changed', why: `${what}, and is in the directory`, todo }
}
