import type { Decisions } from '../../core/decisions.ts'
import { canonicalEmail, canonicalName } from '../../core/entries/normalize.ts'
import { type Key, keyText, wholeOf } from '../../core/keys.ts'
import { type Change, kindOf, membersDifference } from '../../core/plan/change.ts'
import type { ChangeReason, ChangeRecord } from '../../store/change-list.ts'
import {
  changesOfEntry,
  type EntryKey,
  journalOf,
  lastFailureOfSync,
  lastRunAbout,
  membershipsOfUser,
} from './earlier-runs.ts'
import { findRun } from '../../store/runs.ts'
import type { BlockedMembership, Story, StoryReason } from '../story.ts'
import { type Judged, OWN_CODES } from './judge.ts'
import type { ExplainDeps } from './sides.ts'

const JOURNAL_LINES = 10

/** Notices and changes of earlier runs; without a key, only the runs. */
export async function historyOf(
  { db, target }: Pick<ExplainDeps, 'db' | 'target'>,
  key: EntryKey | undefined,
): Promise<Pick<Story, 'lastRun' | 'lastFailure' | 'journal'>> {
  const lines = key === undefined ? [] : await journalOf(db, target, key, JOURNAL_LINES)
  const changedIn = lines.map(({ run }) => run)
  const last = await lastRunAbout(db, target, key, changedIn)
  const failure = await lastFailureOfSync(db, target)
  return {
    lastRun: last === undefined ? null : { ...last, at: last.at.toISOString() },
    lastFailure: failure === undefined ? null : { ...failure, at: failure.at.toISOString() },
    journal: lines.map((line) => ({ ...line, at: line.at.toISOString() })),
  }
}

interface BlockedInRun {
  readonly rows: readonly ChangeRecord[]
  readonly groups: readonly BlockedMembership[]
}

export async function blockedIn(
  { db }: Pick<ExplainDeps, 'db'>,
  number: number | undefined,
  key: EntryKey | undefined,
): Promise<BlockedInRun> {
  const run = number === undefined ? undefined : await findRun(db, number)
  if (run === undefined || run.undo !== null || key === undefined) return { rows: [], groups: [] }
  const rows = (await changesOfEntry(db, run, key)).filter(isBlocked)
  const memberships = key.kind === 'user' ? await membershipsOfUser(db, run, key.id) : []
  const groups = memberships.filter(isBlocked).flatMap(({ change, reasons }) => {
    if (change.op !== 'set-members') return []
    return [{ run: run.run, group: change.name, comes: change.want.includes(key.id), reasons }]
  })
  return { rows, groups }
}

function isBlocked({ state }: ChangeRecord): boolean {
  return state === 'blocked'
}

/** @param isOfMembers whether the members of the group may differ, which only a run can tell */
export function reasonsOfRun(
  run: number,
  rows: readonly ChangeRecord[],
  { difference, keys }: Judged,
  decisions: Decisions,
  isOfMembers: boolean,
): { readonly reasons: readonly StoryReason[]; readonly question: number | null } {
  const found = new Map<string, StoryReason>()
  let isAsked = false
  for (const { change, reasons } of rows) {
    const isOwn = difference?.op === change.op && isPartOf(keysOf(change), keys)
    const isOnlyOfRun = isOfMembers && change.op === 'set-members'
    if (!isOwn && !isOnlyOfRun) continue
    const all = keysOf(change)
    isAsked ||= all.some((key) => decisions.isOpen(key) || decisions.isOpen(wholeOf(key)))
    for (const reason of reasons)
      if ((isOnlyOfRun || !OWN_CODES.has(reason.code)) && isStill(reason, all, decisions))
        found.set(reason.code, { ...reason, run })
  }
  return { reasons: [...found.values()], question: isAsked ? run : null }
}

function isPartOf(some: readonly Key[], all: readonly Key[]): boolean {
  const texts = new Set(all.map(String))
  return some.every((key) => texts.has(String(key)))
}

function isStill({ code, until }: ChangeReason, keys: readonly Key[], decisions: Decisions): boolean {
  if (code === 'rejected') return keys.some((key) => decisions.rejectionOf(keyText(key)) !== undefined)
  if (until !== 'decision' && until !== 'time') return true
  return !keys.every((key) =>
    [key, wholeOf(key)].some((each) => decisions.approvalOf(each)?.codes.has(code) === true),
  )
}

export function keysOf(change: Change): readonly Key[] {
  const { op, id } = change
  const kind = kindOf(op)
  switch (op) {
    case 'create-user':
    case 'create-group':
      return [[kind, id, 'create']]
    case 'delete-user':
    case 'delete-group':
      return [[kind, id, 'delete']]
    case 'set-members': {
      const { added, removed } = membersDifference(change)
      const keyOf = (field: '+member' | '-member') => (member: string) => [kind, id, field, member] as const
      return [...added.map(keyOf('+member')), ...removed.map(keyOf('-member'))]
    }
    case 'update-user':
    case 'update-group': {
      const want: { readonly name?: string; readonly email?: string } = change.want
      return [
        ...(want.name === undefined ? [] : [[kind, id, 'name', canonicalName(want.name)] as const]),
        ...(want.email === undefined ? [] : [[kind, id, 'email', canonicalEmail(want.email)] as const]),
      ]
    }
  }
}
