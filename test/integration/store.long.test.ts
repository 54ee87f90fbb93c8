import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { OwnerAnswer, OwnerTask } from '../support/data-dir-owner.ts'
import { tempDir } from '../support/temp.ts'

const PROCESSES = 10
const OWNER = fileURLToPath(new URL('../support/data-dir-owner.ts', import.meta.url))

test('of many processes at once exactly one owns a data directory, and the others say who', async () => {
  await using dir = await tempDir()
  const startAt = Date.now() + 1500
  const children = Array.from({ length: PROCESSES }, () =>
    startOwner({ dataDir: dir.path, startAt, write: false }),
  )
  const answers = await Promise.all(children.map((child) => child.next()))
  const owners = answers.flatMap((answer) => ('owns' in answer ? [answer.owns] : []))
  const refusals = answers.flatMap((answer) => ('refused' in answer ? [answer.refused] : []))
  expect(owners).toHaveLength(1)
  expect(refusals).toHaveLength(PROCESSES - 1)
  for (const refusal of refusals) expect(refusal).toContain(`in use by process ${owners[0]} on`)
})

type Owner = { process: ChildProcess; next(): Promise<OwnerAnswer> }

function startOwner(task: OwnerTask): Owner {
  const child = fork(OWNER)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  child.send(task)
  return { process: child, next: async () => (await once(child, 'message'))[0] as OwnerAnswer }
}
