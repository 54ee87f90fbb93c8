import { baseUrl, syncName } from '../../config/schema.ts'
import { ldapUrl } from '../../config/source-schema.ts'
import { DirsyncdError } from '../../errors.ts'
import { checkWith } from './check.ts'
import type { Init, InitOptions } from './context.ts'
import { checkSchedule } from './sync.ts'
import type { Check } from './prompts.ts'

/** Throws `usage` for options that cannot be right, before anything is asked or read. */
export function checkGiven(options: InitOptions): void {
  const checks: readonly (readonly [flag: string, value: string | undefined, check: Check])[] = [
    ['--url', options.url, checkWith(ldapUrl)],
    ['--api-url', options.apiUrl, checkWith(baseUrl)],
    ['--sync', options.sync, checkWith(syncName)],
    ['--schedule', options.schedule, checkSchedule],
  ]
  for (const [flag, value, check] of checks) {
    const problem = value === undefined ? undefined : check(value)
    if (problem !== undefined) throw new DirsyncdError('usage', `${flag} ${problem}.`)
  }
}

/** Throws `usage` for the first thing that only an option can say where there is nobody to ask. */
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
