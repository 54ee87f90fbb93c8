import { describe, expect, test } from 'vitest'
import { changedKeys, changeSince, hashOptions } from '../../../../src/core/plan/configuration.ts'

const BEFORE = {
  url: '"ldap://a"',
  'users.base': '"ou=people"',
  'users.map.email': '"mail"',
  'groups.base': '"ou=groups"',
  'groups.map.name': '"cn"',
}

describe('which options were changed', () => {
  test.each([
    ['nothing', BEFORE, []],
    ['one value', { ...BEFORE, 'users.map.email': '"upn"' }, ['users.map.email']],
    ['an option is new', { ...BEFORE, 'users.filter': '"(uid=*)"' }, ['users.filter']],
    ['a section is new', { ...BEFORE, 'entries.users.exclude': '["x"]' }, ['entries']],
    ['a section is gone', { url: '"ldap://b"', ...onlyUsers() }, ['groups', 'url']],
    ['an option is gone', without('users.map.email'), ['users.map']],
  ])('%s', (_case, now, keys) => {
    expect(changedKeys(BEFORE, now)).toEqual(keys)
  })

  test('are compared by hashes, which show nothing of the values and differ from store to store', () => {
    const [here, there] = [hashOptions(BEFORE, 'salt 1'), hashOptions(BEFORE, 'salt 2')]
    expect(Object.keys(here)).toEqual(Object.keys(BEFORE))
    expect(JSON.stringify(here)).not.toContain('ldap:')
    expect(here['users.base']).not.toBe(there['users.base'])
    expect(changedKeys(here, hashOptions({ ...BEFORE, url: '"ldap://b"' }, 'salt 1'))).toEqual(['url'])
  })

  test('are named with the run since which they differ; without such a run nothing counts as changed', () => {
    expect(changeSince({ run: 12, options: BEFORE }, without('url'))).toEqual({ since: 12, keys: ['url'] })
    expect(changeSince({ run: 12, options: BEFORE }, BEFORE)).toBeUndefined()
    expect(changeSince(undefined, BEFORE)).toBeUndefined()
  })
})

function onlyUsers(): Record<string, string> {
  return { 'users.base': BEFORE['users.base'], 'users.map.email': BEFORE['users.map.email'] }
}

function without(key: keyof typeof BEFORE): Record<string, string> {
  return Object.fromEntries(Object.entries(BEFORE).filter(([each]) => each !== key))
}
