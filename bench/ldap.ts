import { startSlapd } from '../test/support/slapd.ts'
import { type BenchOptions, compare, type Comparison } from './compare.ts'
import type { BareReadingTask, LdapTask } from './contenders/bare-reading.ts'
import { startContender } from './processes.ts'

const PEOPLE = 100_000
const GROUPS = 2_000

/** Reads people from slapd, without groups and with them. */
export async function benchLdap({ repetitions = 7, people = PEOPLE }: BenchOptions): Promise<Comparison[]> {
  const results: Comparison[] = []
  await using slapd = await startSlapd({ people, groups: GROUPS, tls: false })
  for (const groups of [0, GROUPS]) {
    const { url, base, readers } = slapd
    const task: LdapTask = { url, base, ...readers.reader, people, groups }
    const floorTask: BareReadingTask = { ldap: task, concurrency: 1 }
    await using floor = await startContender('bare-reading', floorTask)
    await using ours = await startContender('ldap-source', task)
    const comparison = await compare({
      title: `${people} people${groups > 0 ? ` and ${groups} groups` : ''} from slapd`,
      floorTitle: 'ldapts pages, stored by id',
      service: 'none',
      count: people + groups,
      ours,
      floor,
      repetitions,
    })
    results.push(comparison)
  }
  return results
}
