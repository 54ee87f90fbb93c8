import { execFile } from 'node:child_process'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect, promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DirsyncdError } from '../../src/base/errors.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { createCommandSource } from '../../src/source/command/command-source.ts'
import type { CommandSourceOptions } from '../../src/source/command/options.ts'
import type { Source } from '../../src/source/source.ts'
import { type TempDir, tempDir } from '../support/temp.ts'
import { statesOf } from '../support/states-of.ts'

const NEVER = new AbortController().signal
let dir: TempDir

beforeEach(async () => {
  dir = await tempDir()
})

afterEach(() => dir[Symbol.asyncDispose]())

const PATH = process.env.PATH ?? ''

function optionsOf(
  command: readonly string[],
  more: Partial<CommandSourceOptions> = {},
): CommandSourceOptions {
  return {
    command,
    folder: dir.path,
    timeoutMs: 20_000,
    environment: () => ({ PATH }),
    secretNames: [],
    maxOutput: 100 * 1024 * 1024,
    maxEntries: 1_000_000,
    users: { map: { external_id: 'id', email: 'mail', name: '{first} {last}', employee_id: 'number' } },
    groups: { map: { external_id: 'id', name: 'title', members: 'members' } },
    ...more,
  }
}

const source = (command: readonly string[], more?: Partial<CommandSourceOptions>): Source =>
  createCommandSource(optionsOf(command, more), silentLog())

/** Runs a little program for sh. */
const shell = (script: string, more?: Partial<CommandSourceOptions>) => source(['sh', '-c', script], more)

/** Prints these lines, as the file that it is. */
async function printing(
  lines: readonly (string | object)[],
  more?: Partial<CommandSourceOptions>,
): Promise<Source> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  await writeFile(join(dir.path, 'output'), text)
  return source(['cat', 'output'], more)
}

async function refusalOf(promise: Promise<unknown>): Promise<DirsyncdError> {
  const outcome = await promise.catch((error: unknown) => error)
  if (outcome instanceof DirsyncdError) return outcome
  return expect.fail(`this did not end with an error of ours: ${inspect(outcome)}`)
}

const ada = { user: { id: 'u1', mail: 'Ada@example.org', first: 'Ada', last: 'King', number: '007' } }
const bob = {
  user: { id: 'u2', mail: ['bob@example.org', 'b@example.org'], first: 'Bob', last: 'Ray', number: 8 },
}
const team = { group: { id: 'g1', title: 'Team', members: ['u2', 'nobody', 'u1', 'u1'] } }
const end = (users: number, groups?: number) => ({
  complete: true,
  users,
  ...(groups !== undefined && { groups }),
})

describe('a complete output', () => {
  test('becomes a snapshot, and groups may stand before their members', async () => {
    const snapshot = await (await printing([team, ada, bob, end(2, 1), ''])).read(NEVER)
    expect([...snapshot.users.values()]).toEqual([
      { id: 'u1', email: 'Ada@example.org', name: 'Ada King', employeeId: '007', from: 'cat, line 2' },
      { id: 'u2', email: 'b@example.org', name: 'Bob Ray', employeeId: '8', from: 'cat, line 3' },
    ])
    expect([...snapshot.groups.values()]).toEqual([
      { id: 'g1', name: 'Team', members: ['u1', 'u2'], from: 'cat, line 1' },
    ])
    expect(snapshot.notices).toMatchObject([{ code: 'unknown-members', id: 'g1' }])
    expect(snapshot).toMatchObject({ unreadable: 0, covers: { groups: true, members: true } })
  })

  test('with groups and no field of their members says nothing about members', async () => {
    const groups = { map: { external_id: 'id', name: 'title' } }
    const snapshot = await (await printing([ada, team, end(1, 1)], { groups })).read(NEVER)
    expect(snapshot.covers).toEqual({ groups: true, members: false })
    expect(snapshot.groups.get('g1')?.members).toEqual([])
  })

  test('may be empty: that is for the guards to judge', async () => {
    expect((await (await printing([end(0)])).read(NEVER)).users.size).toBe(0)
  })

  test('with an entry without an id goes on, and forbids deletes', async () => {
    const snapshot = await (
      await printing([ada, { user: { mail: 'x@example.org' } }, { user: { id: ['a', 'b'] } }, end(3)])
    ).read(NEVER)
    expect(snapshot).toMatchObject({ unreadable: 2 })
    expect([...snapshot.seen.user]).toEqual(['u1', 'a', 'b'])
  })
})

describe('no snapshot is made of', () => {
  test.each<[string, readonly (string | object)[], string]>([
    ['nothing', [], 'it printed nothing without the last line'],
    ['an output that stops', [ada, bob], 'its output stops after line 2 without the last line'],
    [
      'an output that is cut in a line',
      [ada, '{"user": {"id": "u2", "ma'],
      'line 2 of its output is not JSON, or was cut off',
    ],
    ['too few users', [ada, end(2, 0)], 'its last line says 2 users, and it printed 1'],
    ['too many groups', [ada, team, end(1)], 'its last line says 0 groups, and it printed 1'],
    [
      'something behind the last line',
      [ada, end(1), bob],
      'line 3 of its output comes after {"complete": true, …}',
    ],
    ['two last lines', [ada, end(1), end(1)], 'line 3 of its output comes after {"complete": true, …}'],
    [
      'a line that is not JSON',
      [ada, 'NOTICE: slow query', end(1)],
      'line 2 of its output is not JSON, it begins with "NOTICE: slow query"',
    ],
    ['a line of another form', [ada, { person: {} }, end(1)], 'line 2 of its output is neither {"user"'],
    [
      'a nested value',
      [{ user: { id: 'u1', mail: { work: 'a@b' } } }, end(1)],
      'line 1 of its output has a value of "mail"',
    ],
  ])('%s', async (_, lines, why) => {
    const error = await refusalOf((await printing(lines)).read(NEVER))
    expect(error.message).toBe(
      `The command "cat" cannot be used as a source: ${error.message.split('source: ')[1]}`,
    )
    expect(error.message).toContain(why)
    expect(error.code).toBe('source-incomplete')
  })

  test('Latin-1', async () => {
    const error = await refusalOf(
      shell(`printf '{"user": {"id": "1", "last": "M\\374ller"}}\\n'`).read(NEVER),
    )
    expect(error).toMatchObject({ code: 'source-incomplete' })
    expect(error.message).toContain('line 1 of its output is not UTF-8')
  })

  test('a good output and exit code 1; what it said last is shown, without secrets', async () => {
    const script = `echo '${JSON.stringify(end(0))}'; echo "connected with $SECRET" >&2; echo 'lost the tape' >&2; exit 1`
    const secret = { environment: () => ({ PATH, SECRET: 'hunter2' }), secretNames: ['SECRET'] }
    const error = await refusalOf(shell(script, secret).read(NEVER))
    expect(error.message).toContain('it ended with exit code 1 and said: connected with *** / lost the tape')
    expect(error.code).toBe('source-incomplete')
  })

  test('a line that is not JSON; what is shown of it is without secrets', async () => {
    const secret = { environment: () => ({ PATH, SECRET: 'hunter2' }), secretNames: ['SECRET'] }
    const error = await refusalOf(shell(`echo "connected with $SECRET"`, secret).read(NEVER))
    expect(error.message).toContain('it begins with "connected with ***"')
  })

  test('a half output and exit code 1: the exit code is the reason', async () => {
    const error = await refusalOf(
      shell(`printf '{"user": {'; echo 'out of memory' >&2; exit 137`).read(NEVER),
    )
    expect(error.message).toContain('it ended with exit code 137 and said: out of memory')
  })

  test('a program that was killed', async () => {
    const error = await refusalOf(shell(`echo '${JSON.stringify(end(0))}'; kill -SEGV $$`).read(NEVER))
    expect(error.message).toContain('it was ended by SIGSEGV')
  })

  test('too much', async () => {
    const blank = await refusalOf(shell(`yes ''`, { maxOutput: 100_000 }).read(NEVER))
    expect(blank.message).toContain('it printed more than 100000 bytes (maxOutput)')
    const entries = await refusalOf(shell(`yes '{"user": {"id": "1"}}'`, { maxEntries: 1000 }).read(NEVER))
    expect(entries.message).toContain('it printed more than 1000 entries (maxEntries)')
    const line = await refusalOf(shell(`tr '\\0' 'x' < /dev/zero`).read(NEVER))
    expect(line.message).toContain('line 1 of its output is longer than 16777216 bytes')
  })

  test('a great deal on standard error is read and forgotten', async () => {
    const script = `head -c 30000000 /dev/zero | tr '\\0' 'e' >&2; echo '${JSON.stringify(end(0))}'`
    expect((await shell(script).read(NEVER)).users.size).toBe(0)
  })
})

describe('a program that cannot be run', () => {
  test('is not found', async () => {
    for (const command of ['no-such-program-at-all', './no-such-program', '/no/such/program']) {
      const error = await refusalOf(source([command]).read(NEVER))
      expect(error).toMatchObject({ code: 'source-unreachable' })
      expect(error.message).toContain('it was not found')
    }
  })

  test.each([
    ['of a path through a file', ['/bin/sh/export'], 'a part of its path is not a folder'],
    ['of a path that is too long', [`/${'x'.repeat(5000)}`], 'its path is too long'],
    ['of arguments that are too long', ['echo', 'x'.repeat(300_000)], 'too long'],
    ['of a NUL in an argument', ['echo', 'a\0b'], 'NUL'],
  ])('because %s', async (_, command, why) => {
    const error = await refusalOf(source(command).read(NEVER))
    expect(error).toMatchObject({ code: 'source-unreachable' })
    expect(error.message).toContain(why)
  })

  test('because a secret has a NUL, which nobody gets to see', async () => {
    const error = await refusalOf(
      shell('true', { environment: () => ({ PATH, SECRET: 'hunter2\0' }) }).read(NEVER),
    )
    expect(error).toMatchObject({ code: 'source-unreachable' })
    expect(error.message).not.toContain('hunter2')
  })

  test('has no environment', async () => {
    expect(await refusalOf(shell('true', { environment: notSet }).read(NEVER))).toMatchObject({
      code: 'secret-unavailable',
    })
  })
})

function notSet(): never {
  throw new DirsyncdError('secret-unavailable', 'X is not set')
}

/** Waits for a file that a program writes. */
async function appeared(name: string): Promise<string> {
  const path = join(dir.path, name)
  for (const started = Date.now(); Date.now() - started < 10_000; await delay(10)) {
    const text = await readFile(path, 'utf8').catch(() => '')
    if (text.endsWith('\n')) return text.trim()
  }
  return expect.fail(`${name} did not appear`)
}

/** Whether a process is there that is no zombie. */
async function alive(pid: string): Promise<boolean> {
  return access(`/proc/${pid}/stat`).then(
    async () => !/^\d+ \(.*\) Z/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '0 (x) Z')),
    () => false,
  )
}

async function gone(pid: string): Promise<void> {
  for (const started = Date.now(); Date.now() - started < 5000; await delay(10)) {
    if (!(await alive(pid))) return
  }
  expect.fail(`the process ${pid} is still there`)
}

describe('a program that does not end', () => {
  test('is ended with everything that it started', async () => {
    const script = `sleep 1000 & echo $! > child; echo "waiting for the tape" >&2; wait`
    const error = await refusalOf(shell(script, { timeoutMs: 500 }).read(NEVER))
    expect(error).toMatchObject({ code: 'source-incomplete' })
    expect(error.message).toContain('it did not end within 0.5 s and said: waiting for the tape')
    await gone(await appeared('child'))
  })

  test.each([
    ['does not end either', `(trap '' TERM; sleep 1000 >/dev/null 2>&1) & echo $! > child; wait`],
    ['is left behind by a program that failed', `sleep 1000 >/dev/null 2>&1 & echo $! > child; exit 1`],
  ])('leaves nothing behind that %s and holds no output', async (_, script) => {
    await refusalOf(shell(script, { timeoutMs: 500 }).read(NEVER))
    await gone(await appeared('child'))
  })

  test('counts as not ended while something of it holds the output open', async () => {
    const script = `echo '${JSON.stringify(end(0))}'; sleep 1000 & exit 0`
    const error = await refusalOf(shell(script, { timeoutMs: 500 }).read(NEVER))
    expect(error.message).toContain('it did not end within 0.5 s')
  })

  test('is killed when the process that reads it exits', async () => {
    const folder = new URL('../../src/', import.meta.url)
    const options = { ...optionsOf(['sh', '-c', 'echo $$ > self; exec sleep 1000']), environment: undefined }
    await writeFile(
      join(dir.path, 'reader.mjs'),
      `import { existsSync } from 'node:fs'
      import { setTimeout as delay } from 'node:timers/promises'
      import { runProgram } from ${JSON.stringify(new URL('source/command/program.ts', folder))}
      const options = { ...${JSON.stringify(options)}, environment: () => ({ PATH: process.env.PATH }) }
      void runProgram(options, new AbortController().signal, async (output) => { for await (const _ of output); })
      do await delay(50)
      while (!existsSync('self'))
      process.exit(0)`,
    )
    await promisify(execFile)(process.execPath, ['reader.mjs'], { cwd: dir.path })
    const pid = await appeared('self')
    try {
      await gone(pid)
    } finally {
      if (await alive(pid)) process.kill(Number(pid), 'SIGKILL')
    }
  })

  test('is ended when the run is', async () => {
    const controller = new AbortController()
    const reading = refusalOf(shell('echo $$ > self; exec sleep 1000').read(controller.signal))
    const pid = await appeared('self')
    controller.abort()
    expect(await reading).toMatchObject({ code: 'interrupted' })
    await gone(pid)
    expect(await refusalOf(shell('true').read(AbortSignal.abort()))).toMatchObject({ code: 'interrupted' })
  })
})

describe('what a program gets', () => {
  test('is no shell, no input, its folder and no more environment than it is given', async () => {
    await writeFile(
      join(dir.path, 'look.mjs'),
      `const { argv, env } = process
      let input = ''
      for await (const chunk of process.stdin) input += chunk
      const told = { id: 'x', first: JSON.stringify({ argv: argv.slice(2), env: Object.keys(env).sort(), input }), last: process.cwd() }
      console.log(JSON.stringify({ user: told }))
      console.log('{"complete":true,"users":1}')`,
    )
    const command = [process.execPath, 'look.mjs', '$HOME; `id`', '*']
    const snapshot = await source(command, { environment: () => ({ PATH, TZ: 'UTC' }) }).read(NEVER)
    const told = snapshot.users.get('x')?.name ?? ''
    expect(told).toContain(dir.path)
    expect(JSON.parse(told.slice(0, told.lastIndexOf('}') + 1))).toEqual({
      argv: ['$HOME; `id`', '*'],
      env: ['PATH', 'TZ'],
      input: '',
    })
  })
})

describe('the second look', () => {
  test('runs the program again', async () => {
    const script = `if [ -e again ]; then echo '{"user": {"id": "u2"}}'; else echo '{"user": {"id": "u1"}}'; touch again; fi
      echo '{"complete": true, "users": 1}'`
    const changing = shell(script)
    expect([...(await changing.read(NEVER)).seen.user]).toEqual(['u1'])
    expect(await statesOf(changing.readIds('user', ['u1', 'u2', 'u3'], NEVER))).toEqual(
      new Map([
        ['u1', 'absent'],
        ['u2', 'present'],
        ['u3', 'absent'],
      ]),
    )
  })

  test('keeps users and groups apart, and ids byte for byte', async () => {
    const printed = await printing([ada, team, end(1, 1)])
    expect(await statesOf(printed.readIds('group', ['g1', 'u1', 'G1'], NEVER))).toEqual(
      new Map([
        ['g1', 'present'],
        ['u1', 'absent'],
        ['G1', 'absent'],
      ]),
    )
    expect(await statesOf(printed.readIds('user', [], NEVER))).toEqual(new Map())
  })

  test('proves no group absent where the source is not asked for groups', async () => {
    await printing([ada, end(1)])
    const { groups: _, ...withoutGroups } = optionsOf(['cat', 'output'])
    const usersOnly = createCommandSource(withoutGroups, silentLog())
    expect(await statesOf(usersOnly.readIds('group', ['g1'], NEVER))).toEqual(new Map([['g1', 'present']]))
  })

  test('proves nobody absent when it is not complete', async () => {
    const cut = await printing([ada, end(2)])
    expect(await refusalOf(cut.readIds('user', ['u9'], NEVER))).toMatchObject({ code: 'source-incomplete' })
    const nameless = await printing([ada, { user: { mail: 'x@example.org' } }, end(2)])
    const error = await refusalOf(nameless.readIds('user', ['u9'], NEVER))
    expect(error.message).toContain('no entry can be proved absent, because of cat, line 2: there is no id')
  })
})

test('an entry is found by its id, e-mail or name in one run of the program', async () => {
  const counted = shell(
    `echo ran >> runs; ${[team, bob, end(1, 1)].map((line) => `echo '${JSON.stringify(line)}'`).join('; ')}`,
  )
  const { entries, searched } = await counted.find({ who: 'u2', kinds: ['user', 'group'] }, NEVER)
  expect(await readFile(join(dir.path, 'runs'), 'utf8')).toBe('ran\n')
  expect(searched).toBe('in what sh prints')
  const [trace] = entries
  expect(trace).toMatchObject({ kind: 'user', ids: ['u2'], from: 'sh, line 2' })
  expect(trace?.fields.map(({ field, value }) => [field, value])).toEqual([
    ['email', 'b@example.org'],
    ['name', 'Bob Ray'],
    ['employee_id', '8'],
  ])
  for (const { steps } of trace?.fields ?? []) expect(steps.at(-1)?.kind).toBe('result')
  for (const who of ['B@Example.org', 'bob ray', 'Ray Bob', 'sh, line 2'])
    expect((await counted.find({ who, kinds: ['user'] }, NEVER)).entries).toEqual([trace])
  expect((await counted.find({ who: 'g1', kinds: ['group'] }, NEVER)).entries).toMatchObject([
    { ids: ['g1'], fields: [{ value: 'Team' }] },
  ])
  expect((await counted.find({ who: 'g1', kinds: ['user'] }, NEVER)).entries).toEqual([])
})

test('a probe finds the program without running it', async () => {
  const lines = await source(['sh', '-c', 'touch ran'], {
    environment: () => ({ PATH, TOKEN: 'hunter2' }),
  }).probe(NEVER)
  expect(lines).toMatchObject([
    { label: 'command', level: 'ok' },
    { label: 'environment' },
    { label: 'limits', detail: expect.stringMatching(/^20 s, 1,000,000 entries, 100 MiB$/) },
  ])
  expect(lines[0]?.detail).toMatch(/^\/\S+\/sh with 2 arguments, in /)
  expect(lines[1]?.detail).toBe('PATH, TOKEN')
  await expect(access(join(dir.path, 'ran'))).rejects.toThrow('ENOENT')
  await writeFile(join(dir.path, 'export'), '')
  for (const [command, why] of [
    ['no-such-program-at-all', 'it was not found'],
    ['./export', 'is not executable'],
  ] as const) {
    const error = await refusalOf(source([command]).probe(NEVER))
    expect(error).toMatchObject({ code: 'source-unreachable' })
    expect(error.message).toContain(why)
  }
})
