import type { Story } from '../../../operations/story.ts'
import { type Case, quoted, titleOf } from './case.ts'

/** A user equal on both sides, with memberships that need approval. */
export function waitingGroups(facts: Story): Case | undefined {
  const { waitingMemberships: all, id } = facts
  const [first] = all
  if (first === undefined) return undefined
  const { run, isRejected } = first
  const some = all.filter((other) => other.run === run && other.isRejected === isRejected)
  const into = some.filter(({ comes }) => comes).map(({ group }) => group)
  const outOf = some.filter(({ comes }) => !comes).map(({ group }) => group)
  const parts = [
    ...(into.length === 0 ? [] : [`is added to ${groupsText(into)}`]),
    ...(outOf.length === 0 ? [] : [`is removed from ${groupsText(outOf)}`]),
  ]
  const what = `that ${titleOf(facts)} ${parts.join(' and ')}`
  if (!isRejected)
    return {
      code: 'held',
      why: `Run ${run} needs a decision, also about ${what}`,
      next: 'The next run plans again, and changes the groups unless a check still blocks that',
      todo: `See dirsyncd runs ${run}, then dirsyncd approve ${run} --id ${quoted(id ?? '')} or dirsyncd reject ${run}`,
    }
  const groups = some.map(({ group }) => `--id ${quoted(group)}`).join(' ')
  return {
    code: 'rejected',
    why: `An operator rejected in run ${run} ${what}`,
    next: 'The next run leaves these groups as they are',
    todo: `dirsyncd approve ${run} ${groups} releases what was to be changed in ${some.length === 1 ? 'this group' : 'these groups'}`,
  }
}

function groupsText(groups: readonly string[]): string {
  return `${groups.length === 1 ? 'the group' : 'the groups'} ${groups.join(', ')}`
}

/** Neither side can list the groups of one user. */
export function sameUser(facts: Story): Case {
  const { membership, sync } = facts
  const why = `${titleOf(facts)} is in the directory as the source has it`
  if (membership === 'off') return { code: 'unchanged', why: `${why}, so look for the cause in the service` }
  if (membership === 'report')
    return {
      code: 'unchanged',
      why: `${why}, and the sync only reports members of groups, so look for the cause in the service`,
    }
  return {
    code: 'unchanged',
    why: `${why}; only a run compares the groups of a user`,
    todo: `dirsyncd plan ${sync} shows the changed members of groups; if they are right, look for the cause in the service`,
  }
}
