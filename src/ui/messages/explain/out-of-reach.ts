import type { NoticeCode } from '../../../core/notice.ts'
import { emailFaultText } from '../notices.ts'
import type { FoundEntry, Story } from '../../../operations/story.ts'
import { leaving } from './absent.ts'
import { type Case, deletionOf, inWords, noticeOf, saidOf, titleOf, type VerdictCode } from './case.ts'
import { directoryDown } from './unreadable.ts'

export function outOfReach(facts: Story): Case | undefined {
  const { entries } = facts.source
  if (entries.some(isWithin)) return disabled(facts) ?? unusable(facts)
  const [first] = entries
  if (first?.standing === undefined) return undefined
  if (first.container !== undefined && facts.directory.entry === null) {
    return {
      code: 'not-an-entry',
      why: `"${first.from}" is ${first.container}, no user and no group`,
      next: 'The next run does nothing with it',
      todo: 'Ask for a user or a group, by id, e-mail, name or DN',
    }
  }
  const { bases, filter, inBase } = first.standing
  if (!inBase) {
    const where = bases.map((base) => `"${base}"`).join(' and ')
    const why = `${titleOf(facts)} is at "${first.from}", outside the bases of the sync (${where})`
    return out(facts, why, 'other-base', 'Move the entry in the source, or change the base of the sync')
  }
  const why = `${titleOf(facts)} is outside the sync's filter ${filter}`
  return out(facts, why, 'left-filter', 'Change the entry so that it meets the filter, or change the filter')
}

function isWithin({ standing }: FoundEntry): boolean {
  return standing === undefined || (standing.inBase && standing.inFilter)
}

function out(facts: Story, what: string, code: VerdictCode, todo: string): Case {
  const { error, entry } = facts.directory
  // The directory may still have the entry, and the next run that can read it may delete it.
  if (error !== null) return directoryDown(facts, error, what)
  if (entry !== null) return leaving(facts, what, { code, todo })
  const deletion = deletionOf(facts)
  const why = deletion === undefined ? what : `${what}; it was ${inWords(deletion)}`
  return { code, why, todo, next: 'The next run does nothing' }
}

function disabled(facts: Story): Case | undefined {
  const rules = facts.source.entries.map(({ standing }) => standing?.disabled)
  const [rule] = rules
  if (rule === undefined || rules.includes(undefined)) return undefined
  const effect = rule.action === 'delete' ? 'counts as absent' : 'is left as it is'
  const why = `The account of ${titleOf(facts)} is disabled in the source and so ${effect}: ${rule.rule}`
  return out(facts, why, 'disabled', 'Enable the account in the source')
}

const UNUSABLE: readonly NoticeCode[] = ['unreadable', 'no-name', 'members-hidden']

function unusable(facts: Story): Case | undefined {
  const title = titleOf(facts)
  const next = 'The next run leaves it as it is'
  const { entries } = facts.source
  if (noticeOf(facts, 'duplicate-id') !== undefined) {
    const places = entries.map(({ from }) => `"${from}"`).join(' and ')
    const why = `${entries.length} entries of the source have the id of ${title}, so none of them is used: ${places}`
    return { code: 'duplicate-id', why, next, todo: 'Give each of these entries an id of its own' }
  }
  const excluded = noticeOf(facts, 'excluded')
  if (excluded !== undefined) {
    const list = excluded.params.list === 'exclude' ? 'on the list exclude' : 'not on the list include'
    const why = `${title} is excluded, because it is ${list} of the sync`
    return {
      code: 'excluded',
      why,
      next,
      todo: `Change entries.${facts.kind}s of the sync, if it should be there`,
    }
  }
  const wrong = UNUSABLE.map((code) => saidOf(facts, code)).find((said) => said !== undefined)
  if (wrong !== undefined) {
    const why = `${title} cannot be used as the source has it: ${wrong}`
    return { code: 'unusable', why, next, todo: 'Correct the entry in the source' }
  }
  const said = noticeOf(facts, 'email-not-allowed')
  if (said === undefined) return undefined
  const why = `Nothing is written for ${title}, because ${emailFaultText(said.params)}`
  const orAllow =
    said.params.why === 'no-address' ? '' : ', or add its domain to directory.allowedDomains of the sync'
  const todo = `Correct the e-mail in the source${orAllow}; directory.dropBadEmails: true writes such users without it`
  return { code: 'email-not-allowed', why, next, todo }
}
