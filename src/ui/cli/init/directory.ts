import { resolve } from 'node:path'
import { LEFT_BEHIND } from '../../../operations/check.ts'
import type { LeftBehind } from '../../../operations/init/left-behind.ts'
import type { ListedDirectory } from '../../../operations/init/directories.ts'
import type { RawDirectory } from '../../../operations/init/draft.ts'
import { baseUrl } from '../../../base/yaml/values.ts'
import { amount } from '../../../base/wording.ts'
import { DirsyncdError, type ErrorCode } from '../../../base/errors.ts'
import { printable } from '../../../base/printable.ts'
import { renderCheckItem } from '../render/check.ts'
import { checkNumber, checkWith } from './check.ts'
import { type Init, isAsked, tellLeft, tellSlow } from './context.ts'
import type { Choice } from './prompts.ts'
import { askSecret } from './secret.ts'

export async function askDirectory(init: Init): Promise<RawDirectory> {
  const { answers } = init
  const { directory, listed } = await answers.untilItWorks(whatToAskAgain, () => listDirectories(init))
  const directoryId = await askWhich(init, directory, listed)
  const chosen = { ...directory, directoryId }
  const left = await tellRights(init, chosen)
  if (left !== undefined) await askLeftBehind(init, chosen, left)
  return chosen
}

function whatToAskAgain(code: ErrorCode): readonly string[] {
  if (code === 'directory-unknown') return ['--organization']
  return OF_TOKEN.has(code) ? ['--token-file'] : ['--api-url', '--api-ca']
}

export const WHICH: readonly string[] = ['--organization', '--directory']

export const DIRECTORY_TOPICS: readonly Choice<readonly string[]>[] = [
  { value: WHICH, name: 'Which directory' },
  { value: ['--api-url', '--token-file', ...WHICH], name: 'The service and its token' },
]

const OF_TOKEN: ReadonlySet<ErrorCode> = new Set(['token-refused', 'scope-missing', 'secret-unavailable'])

interface Listed {
  readonly directory: RawDirectory
  readonly listed: readonly ListedDirectory[]
}

async function listDirectories(init: Init): Promise<Listed> {
  const { answers, options, steps, say, place } = init
  const url = await answers.text({
    flag: '--api-url',
    given: options.apiUrl,
    what: 'the address of the access-management service',
    message: 'Address of the access-management service (without /api/v2):',
    check: checkWith(baseUrl),
  })
  await requirePrivacy(init, url)
  const organization = await answers.text({
    flag: '--organization',
    given: options.organization?.toString(),
    what: 'the number of the organization',
    message: 'Number of the organization:',
    check: checkNumber,
  })
  const token = await askSecret(init, {
    key: 'token',
    flag: '--token',
    file: options.tokenFile,
    env: options.tokenEnv,
    what: 'the access token',
    message: 'Access token:',
    name: 'access-token',
  })
  const ca = await askCa(init, url)
  const directory: RawDirectory = {
    baseUrl: url,
    organizationId: Number(organization),
    directoryId: 1,
    token,
    ...(ca !== undefined && { ca }),
  }
  say(`Asking ${url} for the directories of organization ${organization} …`)
  return { directory, listed: await tellSlow(init, steps.listDirectories(directory, place())) }
}

/** A token read from the network gives write access to the directory. */
async function requirePrivacy({ answers, steps }: Init, url: string): Promise<void> {
  if (!answers.hasPerson || !/^http:/i.test(url) || !steps.crossesNetwork(url)) return
  const isRight = await answers.confirm({
    flag: '--api-url (unencrypted)',
    given: undefined,
    what: 'sending the token unencrypted',
    message: `${url} is not encrypted: everybody on the way can read the token and use it. Send it all the same?`,
    proposed: false,
  })
  if (isRight) return
  answers.forget(['--api-url (unencrypted)'])
  throw new DirsyncdError('directory-unreachable', 'Then give an address that begins with https://.')
}

/** Asked only after a failed connection: most services have a certificate that every machine trusts. */
async function askCa({ answers, options }: Init, url: string): Promise<string | undefined> {
  const flag = '--api-ca'
  const isQuestion = !answers.isOpen(flag) && url.startsWith('https:')
  const path = isQuestion
    ? await answers.text({
        flag,
        given: options.apiCa,
        what: 'the CA of the service',
        message: 'PEM file with the CA of the service (empty: the CAs of this machine):',
        proposed: options.apiCa,
      })
    : options.apiCa
  return path === undefined || path === '' ? undefined : resolve(path)
}

const NONE = 0

async function askWhich(
  { answers, options, say }: Init,
  { organizationId }: RawDirectory,
  listed: readonly ListedDirectory[],
): Promise<number> {
  const { directory: given } = options
  if (listed.length === 0)
    throw new DirsyncdError(
      'directory-unknown',
      `Organization ${organizationId} has no external directory; create one in the service first.`,
    )
  if (given !== undefined && !listed.some(({ id }) => id === given)) {
    const known = listed.map(({ id, name }) => `${id} (${printable(name)})`).join(', ')
    throw new DirsyncdError(
      'directory-unknown',
      `Organization ${organizationId} has no directory ${given}; it has ${known}.`,
    )
  }
  const [only, ...others] = listed
  if (only !== undefined && others.length === 0 && given === undefined && !answers.hasPerson) return only.id
  const id = await answers.choose({
    flag: '--directory',
    given,
    what: 'the directory',
    message: 'Which directory becomes equal to the source?',
    choices: [
      // The cursor stands on the first choice, so that one Enter too many does not empty a directory.
      { value: NONE, name: 'None of these: end here, and write nothing' },
      ...listed.map((each) => {
        const users = each.users === undefined ? '' : `, ${amount(each.users, 'user')}`
        return {
          value: each.id,
          name: `${printable(each.name)}  (number ${each.id}, ${printable(each.type)}${users})`,
        }
      }),
    ],
    hasProposal: false,
  })
  if (id === NONE) throw new DirsyncdError('interrupted', 'Ended without a directory.')
  if (given !== undefined)
    say(`  ${printable(listed.find((each) => each.id === id)?.name ?? '')}, number ${id}`)
  return id
}

interface Left {
  readonly entries: readonly LeftBehind[]
  readonly detail: string
}

/** Returns what was left in the directory. A read-only token is enough for a plan. */
async function tellRights(
  { steps, say, warnings, rights, columns, place }: Init,
  directory: RawDirectory,
): Promise<Left | undefined> {
  let entries: readonly LeftBehind[] = []
  let left: Left | undefined
  const onLeftBehind = (found: readonly LeftBehind[]) => (entries = found)
  for await (const item of steps.checkDirectory(directory, place(), onLeftBehind)) {
    say(...renderCheckItem(item, columns))
    if (item.type !== 'line' || (item.level !== 'fail' && item.level !== 'warn')) continue
    if (item.label === LEFT_BEHIND) {
      left = { entries, detail: item.detail }
      continue
    }
    warnings.push(item.detail)
    if (item.level === 'warn') continue
    if (item.label !== 'writing') throw new DirsyncdError('scope-missing', item.detail)
    say('  With this token plans can be made, but a sync will stop.')
    rights.mayWrite = false
  }
  return left
}

const DELETE_LEFT = '--directory (left behind)'

/** Offers to delete what a killed process has left, because the first plan would be held for it. */
async function askLeftBehind(init: Init, directory: RawDirectory, { entries, detail }: Left): Promise<void> {
  const { answers, steps, say, warnings, rights, place } = init
  const ask = () =>
    answers.confirm({
      flag: DELETE_LEFT,
      given: undefined,
      what: 'deleting what was left behind',
      message: `Delete ${entries.length === 1 ? 'it' : 'them'} now? The first sync would be held for that.`,
      proposed: true,
    })
  answers.forgetAnswer(DELETE_LEFT)
  if (!rights.mayWrite || !isAsked(init) || !(await ask())) {
    warnings.push(detail)
    return
  }
  const left = await tellSlow(init, steps.deleteLeftBehind(entries, directory, place()))
  if (left.length === 0) say('  Deleted.')
  tellLeft(init, left)
}
