import { DirsyncdError } from '../../../base/errors.ts'

/** Option paths as `init` options; a name stands before another one that it ends with. */
const NAMES: readonly (readonly [inConfiguration: string, option: string])[] = [
  ['users.map.external_id', '--map-id'],
  ['users.map.email', '--map-email'],
  ['users.map.name', '--map-name'],
  ['users.map.employee_id', '--map-employee-id'],
  ['users.filter', '--users-filter'],
  ['users.base', '--users-base'],
  ['users.path', '--csv-users'],
  ['users.encoding', '--csv-encoding'],
  ['users.delimiter', '--csv-delimiter'],
  ['groups.filter', '--groups-filter'],
  ['groups.base', '--groups-base'],
  ['groups.path', '--csv-groups'],
  ['members.map.group', '--map-member-group'],
  ['members.map.user', '--map-member-user'],
  ['members.path', '--csv-members'],
  ['tls.ca', '--ca'],
  ['tls.startTls', '--start-tls'],
  ['bind.dn', '--bind-dn'],
  ['bind.password', '--bind-password-file'],
  ['directory.baseUrl', '--api-url'],
  ['baseUrl', '--api-url'],
  ['directory.ca', '--api-ca'],
  ['directory.token', '--token-file'],
  ['organizationId', '--organization'],
  ['directoryId', '--directory'],
]

const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/ and directory\.proxy/g, ''],
  [/Check directory\.proxy; NO_PROXY/g, 'NO_PROXY'],
  [/, or allow it with bind\.allowPlainText: true/g, ''],
  [/; the next run reads (?:it again|again from the beginning)/g, '; begin again'],
  [/\bset encoding: /g, 'give --csv-encoding '],
  [/\bset (?:its|the) encoding\b/g, 'give with --csv-encoding the one'],
]

/** Replaces configuration paths in a sentence by options of `dirsyncd init`. */
export function inOptions(text: string): string {
  const said = ELSEWHERE.reduce((rest, [pattern, words]) => rest.replaceAll(pattern, words), text)
  return NAMES.reduce((rest, [key, option]) => rest.replaceAll(nameOf(key), option), said)
}

/** A whole name: no part of another one, nor of an address. */
function nameOf(key: string): RegExp {
  return new RegExp(
    String.raw`(?<![\w./-])(?:source\.)?${key.replaceAll('.', String.raw`\.`)}(?![\w.]\w)`,
    'g',
  )
}

export function errorInOptions(error: DirsyncdError): DirsyncdError {
  const code = error.code === 'config-invalid' ? 'usage' : error.code
  return new DirsyncdError(code, inOptions(error.message), { cause: error })
}
