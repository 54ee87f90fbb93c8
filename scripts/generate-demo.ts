import { writeFile } from 'node:fs/promises'
import { makeGroups } from './demo/groups.ts'
import { sampleLdif } from './demo/ldif.ts'
import { makePeople } from './demo/people.ts'
import { seededRandom } from './demo/random.ts'

/**
 * The demo's data, by path: the same text every time. The CSV files are the demo's; the people are written as a European
 * spreadsheet does it, with semicolons, the other two with commas. The LDIF file is for the compose file's LDAP server.
 */
export function demoFiles(): Readonly<Record<string, string>> {
  const random = seededRandom(20_260_101)
  const people = makePeople(random)
  const groups = makeGroups(people, random)
  return {
    'config/demo/users.csv': csv(';', [
      'person_id given_name family_name display_name mail employee_no title department site'.split(' '),
      ...people.map((person) => [
        person.id,
        person.givenName,
        person.familyName,
        person.displayName,
        person.mail,
        person.employeeNumber,
        person.title,
        person.department,
        person.site,
      ]),
    ]),
    'config/demo/groups.csv': csv(',', [['group_id', 'title'], ...groups.map(({ id, name }) => [id, name])]),
    'config/demo/members.csv': csv(',', [
      ['group_id', 'person_id'],
      ...groups.flatMap(({ id, members }) => members.map((member) => [id, member])),
    ]),
    'deploy/openldap/people.ldif': sampleLdif(people, groups),
  }
}

function csv(delimiter: string, rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map((value) => field(value, delimiter)).join(delimiter)}\n`).join('')
}

/** RFC 4180: quoted only where it must be. */
function field(value: string, delimiter: string): string {
  return value.includes(delimiter) || /["\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

/** Writes the files. A test fails when they are stale. */
if (import.meta.main) {
  for (const [path, text] of Object.entries(demoFiles())) {
    await writeFile(new URL(`../${path}`, import.meta.url), text)
  }
}
