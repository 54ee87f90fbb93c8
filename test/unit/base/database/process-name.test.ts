import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { describeProcess, isCertainlyDead, processName } from '../../../../src/base/database/process-name.ts'

test('a name says host and pid, for people too', () => {
  expect(processName()).toMatch(new RegExp(`^${hostname()}:${process.pid}:\\w+(:[0-9a-f]{12})?$`))
  expect(describeProcess(processName())).toBe(`${process.pid} on ${hostname()}`)
  expect(describeProcess('somebody')).toBe('somebody')
})

describe.runIf(process.platform === 'linux')('whether a process is certainly dead', () => {
  const [host, pid, started, place] = processName().split(':')
  const other = '0123456789ab'

  test('one that has ended is', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    expect(isCertainlyDead(`${host}:${child.pid}:${started}:${place}`)).toBe(true)
  })

  test.each([
    ['this one is not', `${host}:${pid}:${started}:${place}`, false],
    ['one whose pid another process has now is', `${host}:${pid}:1${started}:${place}`, true],
    [
      'one of another container, or from before the machine began, is not known',
      `${host}:${pid}:1${started}:${other}`,
      false,
    ],
    ['one of another machine is not known', `${host}.example.org:${pid}:1${started}:${place}`, false],
    ['one that does not say where its pid counts is not known', `${host}:999999999:mjulw2f4`, false],
    ['a name of another kind is not known', 'somebody', false],
    ['nor is one without a pid', `${host}:x:${started}:${place}`, false],
    ['nor is one whose pid would be a group of processes', `${host}:-1:${started}:${place}`, false],
  ])('%s', (_case, name, dead) => {
    expect(isCertainlyDead(name)).toBe(dead)
  })
})
