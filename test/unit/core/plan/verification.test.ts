import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NoticeParams } from '../../../../src/core/notice.ts'
import {
  type VerifiedChange,
  judgeVerification,
  type ReadBack,
  type Shown,
} from '../../../../src/core/plan/verification.ts'

const NOTHING: Shown = { id: undefined, email: null, name: null, members: [] }

function created(
  id: string,
  want: { readonly email?: string; readonly name?: string },
  shows: Partial<Shown> = {},
): ReadBack {
  const { email = null, name = null } = want
  return {
    change: { op: 'create-user', id, want },
    status: 201,
    shown: { ...NOTHING, id, email, name, ...shows },
  }
}

function updated(id: string, [from, to, shows]: readonly [string, string, string]): ReadBack {
  const have = { email: `${id}@x.org`, name: from }
  return {
    change: { op: 'update-user', id, have, want: { name: to } },
    status: 200,
    shown: { ...NOTHING, id, email: have.email, name: shows },
  }
}

function createdGroup(id: string, name: string, shows: string): ReadBack {
  return {
    change: { op: 'create-group', id, want: { name } },
    status: 201,
    shown: { ...NOTHING, id, name: shows },
  }
}

function withMembers(id: string, want: readonly string[], members: readonly string[]): ReadBack {
  const change: VerifiedChange = { op: 'set-members', id, name: id, have: ['old'], want }
  return { change, status: 200, shown: { ...NOTHING, id, name: id, members } }
}

const judge = (readBacks: readonly ReadBack[]) => judgeVerification(readBacks, { mayPass: true })

const ada = created('a', { email: 'ada@x.org', name: 'Ada' })
const ben = created('b', { email: 'ben@x.org', name: 'Ben' })

describe('what stops a run', () => {
  test.each<[string, readonly ReadBack[], RegExp]>([
    [
      'an entry that is not there',
      [ada, { ...ben, shown: undefined }],
      /user "b" was created \(answer 201\), and is not there\. Nothing/,
    ],
    [
      'an entry with another id',
      [created('A', {}, { id: 'a' }), ben],
      /"A" was created .*, and is there under the id "a".*Map external_id/,
    ],
    [
      'an entry without an id',
      [created('a', {}, { id: null }), ben],
      /"a" was created .*, and is there without an id/,
    ],
    [
      'the e-mail of another one',
      [created('a', { email: 'ada@x.org' }, { email: 'BEN@x.org' }), ben],
      /"a" was created .* with the e-mail "ada@x\.org", and shows the e-mail "BEN@x\.org", which was sent for user "b"/,
    ],
    [
      'an e-mail of another one where none was sent',
      [created('a', { name: 'Ada' }, { email: 'ben@x.org' }), ben],
      /with no e-mail, and shows the e-mail "ben@x\.org"/,
    ],
    [
      'the name of another one',
      [created('a', { name: 'Ada' }, { name: 'Ben' }), ben],
      /with the name "Ada", and shows the name "Ben"/,
    ],
    [
      'the name of another group',
      [createdGroup('g', 'Sales', 'Labs'), createdGroup('h', 'Labs', 'Labs')],
      /group "g" was created \(answer 201\) with the name "Sales", and shows the name "Labs"/,
    ],
    [
      'members of another one',
      [withMembers('g', ['u1', 'u2'], ['u3', 'u4']), withMembers('h', ['u3', 'u4'], ['u3', 'u4'])],
      /group "g" was updated \(answer 200\) with 2 members, and shows 2 members, which was sent for group "h"/,
    ],
    [
      'five updates that all show the old value',
      ['a', 'b', 'c', 'd', 'e'].map((id) => updated(id, ['Old', 'New', 'Old'])),
      /user "a" got the name "New", and shows the name "Old"\. So it is with 5 of the first 5 changes of the kind update-user/,
    ],
    [
      'five creates that show no value at all',
      ['a', 'b', 'c', 'd', 'e'].map((id) => created(id, { name: id }, { name: null })),
      /user "a" got the name "a", and shows no name/,
    ],
  ])('%s', (_, readBacks, words) => {
    expect(judge(readBacks)).toMatchObject({ failure: expect.stringMatching(words), passed: false })
  })
})

describe('what is noticed, and stops nothing', () => {
  test.each<
    [string, readonly ReadBack[], NoticeParams['rewritten']['field'], string | number, string | number | null]
  >([
    [
      'a name in capital letters, although somebody else has it so',
      [created('a', { name: 'ada' }, { name: 'Ada' }), ada],
      'name',
      'ada',
      'Ada',
    ],
    [
      'a name without its second word, although somebody else has just the first',
      [created('a', { name: 'Ada Maria' }, { name: 'Ada' }), ada],
      'name',
      'Ada Maria',
      'Ada',
    ],
    ['no name', [created('c', { email: 'c@x.org', name: 'C' }, { name: null }), ada], 'name', 'C', null],
    [
      'an e-mail that nobody else has',
      [created('a', { email: 'ada+1@x.org' }, { email: 'ada@y.org' }), ben],
      'email',
      'ada+1@x.org',
      'ada@y.org',
    ],
    [
      'an e-mail without its tag, although somebody else has just that',
      [created('a', { email: 'box+1@x.org' }, { email: 'Box@x.org' }), created('b', { email: 'box@x.org' })],
      'email',
      'box+1@x.org',
      'Box@x.org',
    ],
    [
      'a name that was cut off within a word, although somebody else has just that',
      [created('a', { name: 'Maximilian Ada' }, { name: 'Maxi' }), created('b', { name: 'Maxi' })],
      'name',
      'Maximilian Ada',
      'Maxi',
    ],
    [
      'members without those whom the service does not know',
      [withMembers('g', ['u1', 'u2', 'u3'], ['u1', 'u2']), withMembers('h', ['u1', 'u2'], ['u1', 'u2'])],
      'members',
      3,
      2,
    ],
    [
      'a single update that shows the old value',
      [updated('a', ['Old', 'New', 'Old']), updated('b', ['Old', 'New', 'New'])],
      'name',
      'New',
      'Old',
    ],
    [
      'an old value that was sent for somebody else',
      [updated('a', ['Ben', 'Ada', 'Ben']), updated('b', ['Ada', 'Ben', 'Ben'])],
      'name',
      'Ada',
      'Ben',
    ],
  ])('%s', (_, readBacks, field, sent, shown) => {
    const { failure, passed, notices } = judge(readBacks)
    expect(failure).toBeUndefined()
    expect(passed).toBe(true)
    expect(notices.map(({ code }) => code)).toEqual(['read-back', 'rewritten'])
    expect(notices[1]?.params).toEqual({ field, sent, shown })
  })
})

describe('updates of a service that always keeps its own form of a name', () => {
  test.each([
    ['cut off', 'Ada Lovelace of the long name', 'Ada Lovelace of the lo'],
    ['in capitals', 'Ada Lovelace', 'ADA LOVELACE'],
    ['without accents', 'Zoë Nuñez', 'Zoe Nunez'],
    ['spelled out', 'Jürgen Groß', 'Juergen Gross'],
    ['turned round', 'Ada Lovelace', 'Lovelace, Ada'],
  ])('%s: stop nothing, and pass', (_, name, kept) => {
    const readBacks = Array.from({ length: 20 }, (_each, index) => updated(`p${index}`, [kept, name, kept]))
    const { failure, passed, notices } = judge(readBacks)
    expect({ failure, passed }).toEqual({ failure: undefined, passed: true })
    expect(notices.filter(({ code }) => code === 'rewritten')).toHaveLength(20)
  })

  test('are no excuse for other values that it does not store', () => {
    const readBacks = ['a', 'b', 'c', 'd', 'e'].map((id): ReadBack => {
      const have = { email: 'old@x.org', name: 'ADA' }
      const want = { email: `${id}@x.org`, name: 'Ada' }
      const shown = { ...NOTHING, id, ...have }
      return { change: { op: 'update-user', id, have, want }, status: 200, shown }
    })
    expect(judge(readBacks).failure).toContain('So it is with 5 of the first 5')
  })
})

test.each([
  ['one change', [ada], false],
  ['two changes', [ada, ben], true],
  ['two updates that show nothing', ['a', 'b'].map((id) => updated(id, ['Old', 'New', 'Old'])), false],
  ['one of two updates', [updated('a', ['Old', 'New', 'Old']), updated('b', ['Old', 'New', 'New'])], true],
] as const)('%s: whether it passes is %s', (_, readBacks, passes) => {
  expect(judge(readBacks)).toMatchObject({ failure: undefined, passed: passes })
})

const asStored = (value: string | undefined, change: (text: string) => string) =>
  value === undefined || value === '' ? null : change(value)

test('what may not pass is judged all the same', () => {
  expect(judgeVerification([ada, ben], { mayPass: false })).toEqual({ passed: false, notices: [] })
  expect(judgeVerification([ada, { ...ben, shown: undefined }], { mayPass: false }).failure).toContain(
    'is not there',
  )
})

describe('whatever the entries are', () => {
  const name = fc.constantFrom('Ana', 'Zoë', 'Zoe\u0308', ' Bo ', 'ana maria', '李', '')
  const people = fc
    .array(fc.record({ name: fc.option(name, { nil: undefined }), hasEmail: fc.boolean() }), {
      minLength: 2,
      maxLength: 20,
    })
    .map((list) =>
      list.map(({ name: text, hasEmail }, index) => ({
        ...(text !== undefined && { name: text }),
        ...(hasEmail && { email: `P${index}@X.org` }),
      })),
    )

  test('a service that shows them as sent, or canonically the same, passes without a word', () => {
    fc.assert(
      fc.property(people, fc.constantFrom('NFC', 'NFD'), (wants, form) => {
        const readBacks = wants.map((want, index) =>
          created(`p${index}`, want, {
            email: asStored(want.email, (email) => ` ${email.toLowerCase()}`),
            name: asStored(want.name, (text) => text.normalize(form).trim()),
          }),
        )
        expect(judge(readBacks)).toMatchObject({
          failure: undefined,
          passed: true,
          notices: [{ code: 'read-back' }],
        })
      }),
    )
  })

  test('a service that shows one of them with an e-mail that was sent for another one never passes', () => {
    fc.assert(
      fc.property(people, fc.nat(), fc.nat(), (wants, to, from) => {
        const taker = to % wants.length
        const owner = from % wants.length
        const email = wants[owner]?.email
        fc.pre(taker !== owner)
        if (email === undefined) return fc.pre(false)
        const readBacks = wants.map((want, index) =>
          created(`p${index}`, want, index === taker ? { email } : {}),
        )
        const failure = expect.stringContaining(`user "p${taker}" was created`)
        expect(judge(readBacks)).toMatchObject({ failure, passed: false })
      }),
    )
  })

  test('a service that lacks one of them never passes', () => {
    fc.assert(
      fc.property(people, fc.nat(), (wants, which) => {
        const lost = which % wants.length
        const readBacks = wants.map((want, index) => {
          const shown = created(`p${index}`, want)
          return index === lost ? { ...shown, shown: undefined } : shown
        })
        const failure = expect.stringContaining(`user "p${lost}" was created (answer 201), and is not there`)
        expect(judge(readBacks)).toMatchObject({ failure, passed: false })
      }),
    )
  })
})
