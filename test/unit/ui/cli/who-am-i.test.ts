import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { type Account, whoAmI } from '../../../../src/ui/cli/who-am-i.ts'

const NAMES: Readonly<Record<number, string>> = { 0: 'root', 999: 'dirsyncd', 1000: 'ada' }

function nameOf(uid: number): string {
  const name = NAMES[uid]
  if (name === undefined) throw new Error(`no such user: ${uid}`)
  return name
}

/** @param login whose login it is */
function account(uid: number, login?: number): Account {
  return { uid, name: () => nameOf(uid), loginUid: () => login, nameOf }
}

test.each([
  ['root by sudo', { SUDO_USER: 'ada' }, account(0, 1000), 'ada'],
  ['root by sudo, where nothing knows of a login', { SUDO_USER: 'ada' }, account(0), 'ada'],
  ['root by su', {}, account(0, 1000), 'ada'],
  ['root who logged in', {}, account(0, 0), 'root'],
  ['root of a container', {}, account(0), 'root'],
  ['the user of the daemon by su', {}, account(999, 1000), 'ada'],
  ['who sets SUDO_USER without sudo', { SUDO_USER: 'boss' }, account(1000, 1000), 'ada'],
  ['who has an empty SUDO_USER', { SUDO_USER: '' }, account(0, 1000), 'ada'],
  ['a login without a name', {}, account(0, 4711), 'uid 4711'],
  ['a user of a container without a name', {}, account(4711), 'uid 4711'],
])('%s decides under the name of whoever logged in', (_who, env, who, name) => {
  expect(whoAmI(env, who)).toBe(name)
})

test('outside of sudo and of a login, this process decides under the name of its account', () => {
  const names = [userInfo().username, process.env['SUDO_USER'] ?? userInfo().username]
  expect(names).toContain(whoAmI({}))
})
