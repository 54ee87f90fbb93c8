import { dataDirProblem } from '../../../operations/init/stage.ts'
import type { InitSteps } from '../../../operations/init/init.ts'
import { baseUrl } from '../../../base/yaml/values.ts'
import { domain, syncName } from '../../../config/schema.ts'
import { type Env, misplacedSecret } from '../../../base/secrets/secret.ts'
import { ldapUrl } from '../../../config/source-schema.ts'
import { envName } from '../../../base/yaml/values.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { checkWith } from './check.ts'
import type { Init, InitOptions } from './context.ts'
import { fingerprintDigits } from './fingerprint.ts'
import { checkExpression } from './mapping.ts'
import { checkSchedule } from './sync.ts'
import type { Check } from './prompts.ts'

type Option = keyof InitOptions

const OF_LDAP: readonly Option[] = [
  'url',
  'startTls',
  'ca',
  'trust',
  'bindDn',
  'bindPasswordFile',
  'bindPasswordEnv',
  'usersBase',
  'usersFilter',
  'disabled',
  'groupsBase',
  'groupsFilter',
  'nested',
]
const OF_MEMBERS: readonly Option[] = ['mapMemberGroup', 'mapMemberUser']
const OF_CSV: readonly Option[] = [
  'csvUsers',
  'csvGroups',
  'csvMembers',
  ...OF_MEMBERS,
  'csvDelimiter',
  'csvEncoding',
]
const OF_GROUPS: readonly Option[] = [
  'groupsBase',
  'groupsFilter',
  'nested',
  'csvGroups',
  'csvMembers',
  ...OF_MEMBERS,
  'membership',
]

/** Throws `usage` for invalid options, before anything is asked or read. */
export function checkGiven(options: InitOptions, { filterProblem }: Pick<InitSteps, 'filterProblem'>): void {
  const { url, startTls, trust, csvDelimiter } = options
  const checks: readonly (readonly [flag: string, value: string | undefined, check: Check])[] = [
    ['--url', url, checkWith(ldapUrl)],
    ['--trust', trust, checkFingerprint],
    ['--csv-delimiter', csvDelimiter, checkDelimiter],
    ['--users-filter', options.usersFilter, filterProblem],
    ['--groups-filter', options.groupsFilter, filterProblem],
    ['--map-id', options.mapId, checkPlain],
    ['--map-email', options.mapEmail, checkExpression],
    ['--map-name', options.mapName, checkExpression],
    ['--map-employee-id', options.mapEmployeeId, checkExpression],
    ['--api-url', options.apiUrl, checkWith(baseUrl)],
    ...(options.allowedDomain ?? []).map((each) => ['--allowed-domain', each, checkWith(domain)] as const),
    ['--token-env', options.tokenEnv, checkWith(envName)],
    ['--bind-password-env', options.bindPasswordEnv, checkWith(envName)],
    ['--sync', options.sync, checkWith(syncName)],
    ['--schedule', options.schedule, checkSchedule],
    ['--data-dir', options.dataDir, dataDirProblem],
  ]
  for (const [flag, value, check] of checks) {
    const problem = value === undefined ? undefined : check(value)
    if (problem !== undefined) throw new DirsyncdError('usage', `${flag} ${problem}.`)
  }
  const refuse = (names: readonly Option[], because: string) => {
    const name = names.find((each) => options[each] !== undefined)
    if (name !== undefined) throw new DirsyncdError('usage', `${flagOf(name)} has no use ${because}.`)
  }
  if (options.source === 'csv') refuse(OF_LDAP, 'with --source csv')
  if (options.source === 'ldap') refuse(OF_CSV, 'with --source ldap')
  if (!options.groups) refuse(OF_GROUPS, 'with --no-groups')
  if (options.source === 'csv' && options.csvGroups === undefined)
    refuse(['csvMembers'], 'without --csv-groups')
  if (options.source === 'csv' && options.csvMembers === undefined)
    refuse(OF_MEMBERS, 'without --csv-members')
  if (/^ldaps:/i.test(url ?? '')) refuse(['startTls'], 'with ldaps://, which is encrypted')
  if (/^ldap:/i.test(url ?? '') && startTls !== true)
    refuse(['trust', 'ca'], 'without --start-tls or ldaps://')
  if (options.bindDn === '') refuse(['bindPasswordFile', 'bindPasswordEnv'], 'with an empty --bind-dn')
  refuseBoth(options, 'bindPasswordFile', 'bindPasswordEnv')
  refuseBoth(options, 'tokenFile', 'tokenEnv')
  const { mapMemberGroup, mapMemberUser } = options
  if (mapMemberGroup !== undefined && mapMemberGroup.toLowerCase() === mapMemberUser?.toLowerCase())
    throw new DirsyncdError('usage', '--map-member-user must be another column than --map-member-group.')
}

/** Throws `usage` where an option contains a secret; the message does not repeat it. */
export function refuseSecrets(options: InitOptions, env: Env): void {
  const { tokenEnv, tokenFile, bindPasswordEnv, bindPasswordFile } = options
  const given = [
    ['--token-env', tokenEnv && { env: tokenEnv }],
    ['--token-file', tokenFile && { file: tokenFile }],
    ['--bind-password-env', bindPasswordEnv && { env: bindPasswordEnv }],
    ['--bind-password-file', bindPasswordFile && { file: bindPasswordFile }],
  ] as const
  for (const [flag, source] of given) {
    const problem = source ? misplacedSecret(source, { env, folder: '.' }) : undefined
    if (problem !== undefined) throw new DirsyncdError('usage', `${flag}: ${problem}.`)
  }
}

function refuseBoth(options: InitOptions, one: Option, other: Option): void {
  if (options[one] === undefined || options[other] === undefined) return
  throw new DirsyncdError('usage', `Give ${flagOf(one)} or ${flagOf(other)}, and not both.`)
}

/** `--csv-users` of `csvUsers`. */
function flagOf(name: Option): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

const checkFingerprint: Check = (value) =>
  /^[0-9a-f]{64}$/.test(fingerprintDigits(value))
    ? undefined
    : 'must be a SHA-256 fingerprint: 64 digits from 0 to F'

const checkPlain: Check = (value) =>
  checkExpression(value) && 'must be one plain attribute or column, and no expression'

const checkDelimiter: Check = (value) => (/^.$/su.test(value) ? undefined : 'must be one character')

/** Without a terminal: throws `usage` for the first missing option without which there is no answer. */
export function requireGiven({ answers, options }: Init): void {
  const needs = (flag: string, what: string, ...values: readonly unknown[]) => {
    if (values.every((value) => value === undefined)) answers.refuse({ flag, what })
  }
  needs('--source', 'the kind of the source', options.source)
  if (options.source === 'csv') needs('--csv-users', 'the file of users', options.csvUsers)
  if (options.source === 'ldap') {
    needs('--url', 'the address of the LDAP server', options.url)
    needs('--bind-dn', 'the user that reads', options.bindDn)
    const password = [options.bindPasswordFile, options.bindPasswordEnv]
    if (options.bindDn !== '')
      needs('--bind-password-file', 'the password of the user that reads', ...password)
  }
  needs('--api-url', 'the address of the access-management service', options.apiUrl)
  needs('--organization', 'the number of the organization', options.organization)
  needs('--token-file', 'the access token', options.tokenFile, options.tokenEnv)
}
