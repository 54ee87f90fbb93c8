import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest, mostly waiting: they begin first, so that no worker is left alone with one at the end. */
const LONGEST = [
  'run-behaviour-',
  'faults/store-outage',
  'faults/directory-outage',
  'faults/crash',
  'faults/service-faults',
  'service-admin',
  'request-budget',
  'ldap-outage',
  'integration/store',
  'source-ldap-connections',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((part) => moduleId.includes(part))
  return at < 0 ? LONGEST.length : at
}
