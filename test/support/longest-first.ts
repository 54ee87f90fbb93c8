import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Path parts of the slowest files. They start first, because one that starts last would keep a single worker busy. */
const LONGEST = [
  'run-behaviour-',
  'faults/',
  'openldap-evidence',
  'ldap-outage',
  'run-verification',
  'service-admin',
  'integration/lease',
  'request-budget',
  'integration/store',
  'run-refusals',
  'source-ldap-connections',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not the method of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((part) => moduleId.includes(part))
  return at < 0 ? LONGEST.length : at
}
