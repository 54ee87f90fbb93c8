import { amount } from '../../base/wording.ts'
import type { NoticeCode } from '../../core/entries/snapshot.ts'
import type { DeleteReason } from '../../core/plan/change.ts'
import type { VerdictCode } from '../story.ts'
import {
  afterName,
  type Case,
  deletionOf,
  inWords,
  noticeOf,
  quoted,
  titleOf,
  type VerdictFacts,
} from './case.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** A lagging LDAP server may show users that it has just lost. */
function putBack({ source, sync }: VerdictFacts, deletedAt: string | undefined): string {
  const isRecent = deletedAt !== undefined && Date.now() - Date.parse(deletedAt) < DAY_MS
  const then =
    source.server === null || !isRecent
      ? 'and the next run creates it'
      : `which creates it a day after its delete; sooner, dirsyncd sync ${sync} names the run to approve with --only reborn`
  return `put it back into the source, ${then}`
}

/** An unreadable row may have the entry; nothing where all rows were readable. */
export function maybeUnread([first, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return []
  const more = others.length === 0 ? '' : `, and ${amount(others.length, 'more entry')}`
  return [`it may be in an entry that cannot be read (${first}${more})`]
}

export function absent(facts: VerdictFacts): Case {
  const title = titleOf(facts)
  if (facts.directory.entry !== null)
    return withEmailHolder(facts, leaving(facts, `${title} is not in the source any more`))
  const next = 'The next run does nothing: neither side has it'
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
function otherId({ source: { sameEmail }, sync }: VerdictFacts): { why: string; todo: string } | undefined {
  const holder = sameEmail.find(({ id }) => id !== null)
  if (holder === undefined) return undefined
  return {
    why: `the source has its e-mail at "${holder.from}", with the id ${holder.id}`,
    todo: `Most likely that is the same person: dirsyncd explain ${sync} ${quoted(holder.id ?? '')} tells of that one`,
  }
}

/** Names the present owner of the e-mail in the source: most likely the same user with a changed or missing id. */
function withEmailHolder({ source: { sameEmail } }: VerdictFacts, plain: Case): Case {
  const holder = sameEmail[0]
  if (holder === undefined) return plain
  const named = `the source has its e-mail at "${holder.from}"`
  const why = (what: string) => `${plain.why}; ${named}, with ${what}`
  if (holder.id !== null) return { ...plain, why: why(`the id ${holder.id}`) }
  return {
    code: 'unusable',
    why: why('no id that can be used'),
    next: 'While an entry that the sync reads has no id, a run deletes nobody',
    todo: 'Give that entry its id back in the source',
  }
}

const REASONS: Readonly<Record<DeleteReason | 'unknown', string>> = {
  gone: ', because the source did not have it any more',
  'left-filter': ", because it was outside the sync's filter",
  disabled: ', because its account was disabled in the source',
  undone: '',
  unknown: '',
}

interface Stay {
  readonly notice: NoticeCode
  readonly code: VerdictCode
  /** Follows the reason why the source does not want the entry. */
  readonly words: (detail: string, facts: VerdictFacts) => string
  readonly next?: (facts: VerdictFacts) => string
  /** Default: how to keep the entry. */
  readonly todo?: (facts: VerdictFacts) => string
}

function changeLists({ kind }: VerdictFacts): string {
  return `If it should go, change entries.${kind}s of the sync`
}

const STAYS_THERE = 'The next run leaves it in the directory'

/** The memberships are removed before the delete. */
function leavesGroups({ kind, membership }: VerdictFacts): string {
  if (kind !== 'user' || membership !== 'write') return STAYS_THERE
  return `${STAYS_THERE}, and takes it out of the groups of the sync, unless a guard or the evidence holds that`
}

const STAYS: readonly Stay[] = [
  {
    notice: 'protected',
    code: 'protected',
    words: (_detail, { kind }) =>
      `stays in the directory, because the list entries.${kind}s.protected has it`,
    todo: changeLists,
  },
  {
    notice: 'excluded',
    code: 'excluded',
    words: () => 'stays in the directory, because the lists of the sync leave it out',
    todo: changeLists,
  },
  {
    notice: 'kept-by-policy',
    code: 'kept',
    words: (detail) => `stays in the directory: ${detail.split('; ').at(-1)}`,
    todo: () => 'If it should go, delete it in the service, or change the policy of the sync',
  },
  {
    notice: 'kept-unproved',
    code: 'kept',
    words: (detail) => `stays in the directory, because ${detail.replace(/^is not in the source, but /, '')}`,
    todo: ({ sync }) => `Correct these entries; dirsyncd check ${sync} names them`,
  },
  {
    notice: 'in-grace',
    code: 'in-grace',
    words: (detail, facts) =>
      `waits for its delete: ${facts.isAbsenceKnown ? afterName(facts, detail) : 'no run has found it absent yet, so the wait begins with the next run'}`,
    next: leavesGroups,
  },
]

/** Facts that only a run knows about a delete that it did not make. */
const DOUBTS: ReadonlySet<NoticeCode> = new Set(['unproved', 'seen-again', 'kept-unproved', 'shared-id'])

/**
 * The directory has an entry that the source does not want.
 *
 * @param what why the source does not want it
 * @param known the code and the remedy, where the reason is known
 */
export function leaving(
  facts: VerdictFacts,
  what: string,
  known?: { readonly code: VerdictCode; readonly todo: string },
): Case {
  const todo = known?.todo ?? 'If it should stay, put it back into the source'
  for (const { notice, code, words, next, todo: change } of STAYS) {
    const detail = noticeOf(facts, notice)
    if (detail === undefined) continue
    const why = `${what}, and ${words(detail, facts)}`
    const remedy = known?.todo ?? change?.(facts) ?? todo
    const stays = next?.(facts) ?? STAYS_THERE
    return { code: known?.code ?? code, why, next: stays, todo: remedy }
  }
  const { lastRun } = facts
  const doubt = lastRun?.notices.find(
    ({ code, detail }) => DOUBTS.has(code) && !/not (?:created|updated)/.test(detail),
  )
  if (lastRun !== null && doubt !== undefined && facts.planned !== undefined) {
    return {
      code: known?.code ?? 'unproved',
      why: `${what}, and run ${lastRun.run} did not delete it, because nothing proves that this would be right: ${afterName(facts, doubt.detail)}`,
      next: 'Whether the next run deletes it depends on what it reads then',
      todo,
    }
  }
  return { code: known?.code ?? 'changed', why: `${what}, and is in the directory`, todo }
}
