import { compare, type Comparison } from './compare.ts'
import type { MessagesTask } from './contenders/ldap-messages.ts'
import type { BenchOptions } from './options.ts'
import { startContender } from './processes.ts'

const MESSAGES = 20_000

/** Decodes LDAP messages of which one byte is another one: a server that sends them must not keep us busy. */
export async function benchMessages(options: BenchOptions): Promise<Comparison[]> {
  const task: MessagesTask = { messages: MESSAGES, isBroken: false }
  await using floor = await startContender('ldap-messages', task)
  await using ours = await startContender('ldap-messages', { ...task, isBroken: true }, options)
  const comparison = await compare({
    id: 'messages',
    title: `${MESSAGES} broken LDAP messages`,
    floorTitle: 'the same reader, whole messages',
    service: 'none',
    count: MESSAGES,
    ours,
    floor,
    repetitions: options.repetitions ?? 7,
  })
  return [comparison]
}
