import * as fc from 'fast-check'
import { decodeStream, entryMessage } from '../../test/support/ldap-entry.ts'
import { serveContender } from '../contender.ts'

export interface MessagesTask {
  readonly messages: number
  /** Whether one byte of each is another one. */
  readonly isBroken: boolean
}

/** Our reader of LDAP messages: each message comes alone, as on a connection of its own. */
serveContender(async ({ messages, isBroken }: MessagesTask) => {
  const whole = entryMessage(7, 'uid=anna,ou=people,dc=example,dc=com', {
    objectClass: ['top', 'person', 'organizationalPerson', 'inetOrgPerson'],
    uid: ['anna'],
    cn: ['Anna Weiß'],
    mail: ['anna@example.com', 'anna.weiss@example.com'],
    memberOf: Array.from({ length: 50 }, (_, index) => `cn=team-${index},ou=groups,dc=example,dc=com`),
  })
  const received = isBroken ? brokenOf(whole, messages) : Array.from({ length: messages }, () => whole)
  return {
    run() {
      let entries = 0
      for (const message of received) entries += entriesIn(message)
      if (!isBroken && entries !== messages) throw new Error(`${entries} entries were read`)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
})

/** The same ones in each run. */
function brokenOf(whole: Buffer, messages: number): Buffer[] {
  const edit = fc.record({ at: fc.nat(whole.length - 1), to: fc.nat(255) })
  return fc.sample(edit, { numRuns: messages, seed: 1 }).map(({ at, to }) => {
    const broken = Buffer.from(whole)
    broken[at] = to
    return broken
  })
}

function entriesIn(message: Buffer): number {
  try {
    return decodeStream(message).length
  } catch {
    return 0
  }
}
