import type { RawDirectory } from '../../../operations/init/draft.ts'
import { type Init, tellLeft, tellSlow } from './context.ts'
import type { Choice } from './prompts.ts'

export const MEMBERSHIP = '--membership'

export const MEMBERSHIP_TOPIC: Choice<readonly string[]> = {
  value: [MEMBERSHIP],
  name: 'Whether members of groups are written',
}

/** The API describes no way to write members, and few operators know whether their service has one. */
export async function askMembership(init: Init, directory: RawDirectory): Promise<'report' | 'write'> {
  const { answers, options, rights, left, say } = init
  const mayFindOut = rights.mayWrite && left.length === 0
  if (rights.mayWrite && !mayFindOut && options.membership === undefined)
    say('  This is not tried out now, because more would be left in the directory.')
  const how = await answers.choose<'report' | 'write' | 'find-out'>({
    flag: MEMBERSHIP,
    given: options.membership,
    what: 'the members of groups',
    message:
      'Members of groups: the API describes no way to write them, and some services take them as external_member_ids. Does yours?',
    choices: [
      { value: 'report', name: 'No: new groups stay empty, and it is only shown who should be in which' },
      { value: 'write', name: 'Yes, as the service does that comes with dirsyncd: write them' },
      ...(mayFindOut
        ? [
            {
              value: 'find-out' as const,
              name: 'Find out now: a user and a group are made in this directory, and deleted again',
              short: 'Find out now',
            },
          ]
        : []),
    ],
  })
  return how === 'find-out' ? findOut(init, directory) : how
}

async function findOut(init: Init, directory: RawDirectory): Promise<'report' | 'write'> {
  const { steps, say, tell, warnings, place } = init
  const { found, detail, left } = await tellSlow(init, steps.tryMembers(directory, place(), tell))
  if (found === undefined) {
    const open = `Whether the service takes members could not be found out, so they are compared and not written: ${detail}`
    say(`  ${open}`)
    warnings.push(open)
  } else if (found.isShown) say('  The service shows the member: members of groups are written.')
  else if (found.why === undefined)
    say('  The service took the group and does not show the member: members are compared and not written.')
  else say(`  The service refused the member, so members are compared and not written: ${found.why}`)
  tellLeft(init, left)
  return found?.isShown === true ? 'write' : 'report'
}
