import { startSlapd } from '../test/support/slapd.ts'
import { compare, type Comparison } from './compare.ts'
import type { LdapTask } from './contenders/bare-ldap.ts'
import type { BenchOptions } from './options.ts'
import { startContender } from './processes.ts'

const PEOPLE = 100_000
const GROUPS = 2_000

/** Reads people from slapd, without groups and with them. */
export async function benchLdap(options: BenchOptions): Promise<Comparison[]> {
  const results: Comparison[] = []
  await using slapd = await startSlapd({ people: PEOPLE, groups: GROUPS, tls: false })
  for (const groups of [0, GROUPS]) {
    const { url, base, readers } = slapd
    const task: LdapTask = { url, base, ...readers.reader, people: PEOPLE, groups }
    await using floor = await startContender('bare-ldap', task)
    await using ours = await startContender('ldap-source', task, options)
    const comparison = await compare({
      id: `ldap-${groups}`,
      title: `${PEOPLE} people${groups > 0 ? ` and ${groups} groups` : ''} from slapd`,
      floorTitle: 'ldapts pages, stored by id',
      service: 'none',
      count: PEOPLE + groups,
      ours,
      floor,
      repetitions: options.repetitions ?? 7,
    })
    results.push(comparison)
  }
  return results
}
