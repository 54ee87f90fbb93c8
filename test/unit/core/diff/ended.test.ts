import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../../src/base/steps.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import { endsIn } from '../../../../src/core/diff/ended.ts'
import type { DiffRules } from '../../../../src/core/diff/rules.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import type { Key } from '../../../../src/core/keys.ts'
import { directoryOf, haveGroup, haveUser, sourceOf, wantGroup, wantUser } from './build.ts'

const RULES: DiffRules = { policy: 'mirror', membership: 'write', allowedDomains: [] }
const NAME: Key = ['user', 'a', 'name', 'New']
const EMAIL: Key = ['user', 'a', 'email', 'new@example.org']
const CREATE: Key = ['user', 'n', 'create']
const LEAVE: Key = ['user', 'a', 'leave']
const DELETE: Key = ['group', 'g', 'delete']
const RENAME: Key = ['group', 'g', 'name', 'New']
const JOIN: Key = ['group', 'g', '+member', 'a']
const REMOVAL: Key = ['group', 'g', '-member', 'a']

const a = haveUser('a')
const directory = directoryOf([a], [haveGroup('g', 'G')])
const withMember = directoryOf([a], [haveGroup('g', 'G', ['a'])])
const source = (users: Parameters<typeof sourceOf>[0], ...members: readonly string[]) =>
  sourceOf(users, [wantGroup('g', 'G', members)])
const uncovered = (covers: Partial<SourceSnapshot['covers']>) =>
  sourceOf([wantUser('a')], [], { covers: { groups: true, members: true, ...covers } })

const ended = (key: Key, want: SourceSnapshot, have: DirectorySnapshot, rules: Partial<DiffRules> = {}) => {
  const wanted = atOnce(diff({ source: want, directory: have }, { ...RULES, ...rules }))
  return atOnce(endsIn(wanted))(key)
}

type Case = readonly [title: string, key: Key, source: SourceSnapshot, directory: DirectorySnapshot]

describe('nothing ends where the read does not show it, or the configuration leaves it out', () => {
  test.each<Case>([
    ['a name of a user whom the read does not show', NAME, source([]), directory],
    ['a name that is not read', NAME, source([{ ...wantUser('a'), name: undefined }]), directory],
    ['an e-mail of a user whom the read does not show', EMAIL, source([]), directory],
    ['an e-mail that is not read', EMAIL, source([{ ...wantUser('a'), email: undefined }]), directory],
    ['the delete of a group without source.groups', DELETE, uncovered({ groups: false }), directory],
    ['the name of a group without source.groups', RENAME, uncovered({ groups: false }), directory],
    [
      'the create of a group without source.groups',
      ['group', 'n', 'create'],
      uncovered({ groups: false }),
      directory,
    ],
    ['a removal without members', REMOVAL, uncovered({ members: false }), withMember],
    ['a removal from a group that the read does not show', REMOVAL, sourceOf([wantUser('a')]), withMember],
    ['a new member of a group that shows no members', JOIN, source([wantUser('a')]), directory],
    ['a new member whom the read does not show', JOIN, source([wantUser('b')], 'b'), directory],
  ])('%s', (_title, key, want, have) => expect(ended(key, want, have)).toBe(undefined))

  test.each(['off', 'report'] as const)('memberships with membership: %s', (membership) => {
    expect(ended(REMOVAL, source([wantUser('a')]), withMember, { membership })).toBe(undefined)
    expect(ended(JOIN, source([wantUser('a')], 'a'), directory, { membership })).toBe(undefined)
  })

  test('an e-mail of a domain that is not allowed any more', () => {
    const want = source([wantUser('a', 'A', 'new@example.org')])
    expect(ended(EMAIL, want, directory, { allowedDomains: ['example.com'] })).toBe(undefined)
  })
})

test('a user who is seen without a usable e-mail, or is excluded, is not judged', () => {
  const seen = { user: new Set(['a']), group: new Set<string>() }
  expect(ended(LEAVE, sourceOf([], [], { seen }), directory)).toBe('unjudged')
  const entries = { users: { exclude: ['a'] } }
  expect(ended(LEAVE, source([wantUser('a')]), directory, { entries })).toBe('unjudged')
  expect(ended(NAME, source([wantUser('a', 'Other')]), directory, { entries })).toBe('unjudged')
})

describe('where the source shows something else, all ends', () => {
  test.each<Case>([
    ['another name', NAME, source([wantUser('a', 'Other')]), directory],
    ['another e-mail', EMAIL, source([wantUser('a')]), directory],
    ['the user again', LEAVE, source([wantUser('a')]), directory],
    ['the group again', DELETE, source([]), directory],
    ['the member again', REMOVAL, source([wantUser('a')], 'a'), withMember],
    ['other members', JOIN, source([wantUser('a'), wantUser('b')], 'b'), directory],
  ])('%s', (_title, key, want, have) => expect(ended(key, want, have)).toBe('source'))
})

describe('where the directory has it, or neither side the entry, a rejection holds', () => {
  test.each<Case>([
    ['the name', NAME, source([wantUser('a', 'New')]), directoryOf([haveUser('a', 'New')])],
    ['a user who is deleted', LEAVE, source([]), directoryOf([])],
    ['a group that is deleted', DELETE, sourceOf([]), directoryOf([])],
    ['a member', JOIN, source([wantUser('a')], 'a'), withMember],
    ['a removal', REMOVAL, source([wantUser('a')]), directory],
    ['a new user', CREATE, source([wantUser('n')]), directoryOf([haveUser('n')])],
    ['a new user whom the read does not show', CREATE, source([]), directory],
    ['a membership of such a user', ['group', 'g', '+member', 'n'], source([wantUser('a')], 'a'), directory],
    [
      'a member of a group with a name that is not resolved',
      JOIN,
      sourceOf([wantUser('a'), wantUser('b')], [wantGroup('g', 'G', ['b'])], {
        notices: [
          {
            kind: 'group',
            id: 'g',
            code: 'unknown-members',
            params: {
              examples: ['uid=c'],
              total: 1,
              groups: 0,
              from: null,
              shared: { examples: [], total: 0 },
            },
          },
        ],
      }),
      directory,
    ],
    ['a value of such a user', ['user', 'n', 'name', 'N'], source([]), directory],
  ])('%s', (_title, key, want, have) => expect(ended(key, want, have)).toBe('directory'))
})
