import { expect, test } from 'vitest'
import { type ApiRequest, ask, problem } from './api.ts'
import { during } from '../support/during.ts'
import { FIXTURE } from '../support/fixture.ts'
import { describeService } from './with-service.ts'

/** A form of one entry with as many fields as a body may have. */
function manyUnknown(): string {
  return Array.from({ length: 30_000 }, (_, number) => `users[][x${number}]=1`).join('&')
}

describeService('users', {}, (service) => {
  const create = (form: ApiRequest['form']) =>
    ask(service(), 'createUsers', form === undefined ? {} : { form })
  const get = (externalId: string) => ask(service(), 'getUser', { externalId })
  const update = (externalId: string, form: ApiRequest['form']) => {
    return ask(service(), 'updateUser', form === undefined ? { externalId } : { externalId, form })
  }

  test('a user is created with what the form says and a name in parts', async () => {
    const answer = await create([
      ['users[][external_id]', 'ada'],
      ['users[][email]', 'ada@example.org'],
      ['users[][name]', 'Ada King Lovelace'],
      ['users[][employee_id]', 'E-1'],
    ])
    expect(answer.status).toBe(201)
    const ada = {
      id: expect.any(Number),
      external_id: 'ada',
      name: 'Ada King Lovelace',
      first_name: 'Ada King',
      last_name: 'Lovelace',
      email: 'ada@example.org',
    }
    expect(answer.body).toEqual([ada])
    expect((await get('ada')).body).toEqual(ada)
  })

  test('several users in one form come back in its order', async () => {
    const answer = await create([
      ['users[][external_id]', 'several-1'],
      ['users[][name]', 'One'],
      ['users[][external_id]', 'several-2'],
      ['users[][external_id]', 'several-3'],
      ['users[][name]', 'Three'],
    ])
    expect(answer.body).toMatchObject([
      { external_id: 'several-1', name: 'One', first_name: null, last_name: 'One' },
      { external_id: 'several-2', name: null, first_name: null, last_name: null },
      { external_id: 'several-3', name: 'Three' },
    ])
  })

  test('a user without an external id can be created and is listed', async () => {
    const answer = await create([['users[][email]', 'nobody@example.org']])
    expect(answer.body).toMatchObject([{ external_id: null, email: 'nobody@example.org' }])
  })

  test.each([
    'cn=Ada, dc=example;x?y#z&a=b+c/d',
    'a%2Fb%252F 100%',
    '日本語-ü-🙂',
    'é'.normalize('NFD'),
    '...',
    '__proto__',
    `o'brien\\"\n${'x'.repeat(2000)}`,
  ])('the external id %j can be created, read, changed and deleted', async (externalId) => {
    expect((await create([['users[][external_id]', externalId]])).status).toBe(201)
    expect((await get(externalId)).body).toMatchObject({ external_id: externalId })
    expect((await update(externalId, [['name', 'New']])).body).toMatchObject({ name: 'New' })
    expect((await ask(service(), 'deleteUser', { externalId })).status).toBe(204)
    expect(await get(externalId)).toMatchObject(problem(404))
  })

  test('external ids are compared byte for byte', async () => {
    await create([['users[][external_id]', 'Case']])
    expect((await create([['users[][external_id]', 'case']])).status).toBe(201)
    expect((await create([['users[][external_id]', 'Case ']])).status).toBe(201)
    expect((await get('Case')).body).toMatchObject({ external_id: 'Case' })
  })

  test('every wrong value of a request is named with 422, and nothing of the request is created', async () => {
    const users = [
      { external_id: 'with wrong ones' },
      { name: ' \t', email: 'x' },
      { email: 'a@mail.example.org' },
      {},
      { external_id: '..' },
      { external_id: 'a\0b' },
    ]
    const faults = [
      'users[1].email',
      'users[1].name',
      'users[2].email',
      'users[3]',
      'users[4].external_id',
      'users[5].external_id',
    ]
    expect(await ask(service(), 'createUsers', { json: { users } })).toMatchObject(problem(422, faults))
    expect(await get('with wrong ones')).toMatchObject(problem(404))
  })

  test.each([
    ['nothing', { json: { users: [{}] } }, 'users[0]'],
    ['an unknown name only', { json: { users: [{ name: 'x' }, { exernal_id: 'e1' }] } }, 'users[1]'],
    ['a misspelt field of a form', { form: 'users[][exernal_id]=e1' }, 'users[0]'],
    ['a field without a name', { form: 'users[][]=1' }, 'users[0]'],
    ['an employee id, which no answer shows', { json: { users: [{ employee_id: '7' }] } }, 'users[0]'],
    ['very many unknown names', { form: manyUnknown() }, 'users[0]'],
  ])('refuses an entry with %s, because nobody could find it again', async (_what, request, field) => {
    const before = (await ask(service(), 'listUsers')).headers.get('total')
    expect(await ask(service(), 'createUsers', request)).toMatchObject(problem(422, [field]))
    expect((await ask(service(), 'listUsers')).headers.get('total')).toBe(before)
  })

  test('refuses an entry that is a text', async () => {
    expect(await ask(service(), 'createUsers', { form: 'users[]=x' })).toMatchObject(
      problem(400, ['users[0]']),
    )
  })

  test('takes an entry with the name or the e-mail alone, as it is', async () => {
    const users = [{ name: 'alone' }, { email: "o'brien+ä@EXAMPLE.org" }]
    const answers = await Promise.all(
      users.map((user) => ask(service(), 'createUsers', { json: { users: [user] } })),
    )
    expect(answers).toMatchObject(users.map((user) => ({ status: 201, body: [user] })))
  })

  test('a taken external id is 409, and nothing of the request is created', async () => {
    await create([['users[][external_id]', 'taken']])
    const json = { users: [{ external_id: 'not-taken' }, { external_id: 'taken' }] }
    expect(await ask(service(), 'createUsers', { json })).toMatchObject(
      problem(409, ['users[1].external_id']),
    )
    expect(await get('not-taken')).toMatchObject(problem(404))
  })

  test('an external id that is twice in one request is 409', async () => {
    const json = { users: [{ external_id: 'twice' }, { external_id: 'twice' }] }
    expect(await ask(service(), 'createUsers', { json })).toMatchObject(
      problem(409, ['users[1].external_id']),
    )
  })

  test('of twenty requests for one external id at once exactly one creates it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create([['users[][external_id]', 'race']])),
    )
    const statuses = answers.map((answer) => answer.status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)])
  })

  test('a create waits for another one of the same external id', async () => {
    const inserted = `select access_management.insert_entries(${FIXTURE.directoryId}, 'user', '[{"external_id": "same"}]')`
    const answer = during(service(), [inserted], () => create([['users[][external_id]', 'same']]))
    expect((await answer).status).toBe(409)
  })

  test.each([
    ['no entries', []],
    ['101 entries', Array.from({ length: 101 }, () => ({ name: 'x' }))],
    ['no list', { external_id: 'x' }],
  ])('%s are refused with 400', async (_name, users) => {
    expect(await ask(service(), 'createUsers', { json: { users } })).toMatchObject(problem(400, ['users']))
  })

  test('100 entries are taken', async () => {
    const users = Array.from({ length: 100 }, (_, index) => ({ external_id: `hundred-${index}` }))
    const answer = await ask(service(), 'createUsers', { json: { users } })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject(users)
  })

  test('a name that is a number is refused with 400', async () => {
    const json = { users: [{ name: 3 }] }
    expect(await ask(service(), 'createUsers', { json })).toMatchObject(problem(400, ['users[0].name']))
  })

  test('an update changes only what it names', async () => {
    const form: ApiRequest['form'] = [
      ['users[][external_id]', 'update-me'],
      ['users[][email]', 'old@example.org'],
      ['users[][name]', 'Old Name'],
    ]
    await create(form)
    expect((await update('update-me', [['name', 'New Name']])).body).toMatchObject({
      email: 'old@example.org',
      name: 'New Name',
      first_name: 'New',
      last_name: 'Name',
    })
    expect((await update('update-me', [['email', 'new@example.org']])).body).toMatchObject({
      email: 'new@example.org',
      name: 'New Name',
    })
  })

  test.each([
    ['an empty form', ''],
    ['no body', undefined],
    ['a form of other names', 'external_id=other&id=5'],
  ])('an update with %s is 200 with the unchanged user', async (name, form) => {
    const externalId = `unchanged by ${name}`
    const created = await create([['users[][external_id]', externalId]])
    const answer = await update(externalId, form)
    expect(answer.status).toBe(200)
    expect([answer.body]).toEqual(created.body)
  })

  test('an update with wrong values is refused with 422 and changes nothing', async () => {
    const created = await create([['users[][external_id]', 'refused']])
    const wrong = [
      ['email', 'x@example.com'],
      ['name', ''],
    ] as const
    expect(await update('refused', wrong)).toMatchObject(problem(422, ['email', 'name']))
    expect([(await get('refused')).body]).toEqual(created.body)
  })

  test('a deleted user leaves its groups, and its id can be given again', async () => {
    await create([
      ['users[][external_id]', 'leaver'],
      ['users[][external_id]', 'stayer'],
    ])
    const group = { external_id: 'left', name: 'Left', external_member_ids: ['leaver', 'stayer'] }
    await ask(service(), 'createGroups', { json: { groups: [group] } })
    const answer = await ask(service(), 'deleteUser', { externalId: 'leaver' })
    expect(answer).toMatchObject({ status: 204, body: undefined })
    const left = await ask(service(), 'getGroup', { externalId: 'left' })
    expect(left.body).toMatchObject({ external_member_ids: ['stayer'] })
    expect(await ask(service(), 'deleteUser', { externalId: 'leaver' })).toMatchObject(problem(404))
    expect((await create([['users[][external_id]', 'leaver']])).status).toBe(201)
  })

  test('an id that an older user of another directory has is nobody of this one', async () => {
    const there = {
      token: FIXTURE.otherToken,
      organizationId: FIXTURE.otherOrganizationId,
      directoryId: FIXTURE.otherDirectoryId,
    }
    const twin = { external_id: 'twin', name: 'Theirs' }
    expect(await ask(service(), 'createUsers', { ...there, json: { users: [twin] } })).toMatchObject({
      status: 201,
    })
    const group = { external_id: 'with-twin', name: 'Theirs', external_member_ids: ['twin'] }
    await ask(service(), 'createGroups', { ...there, json: { groups: [group] } })
    const theirs = async () => [
      (await ask(service(), 'getUser', { ...there, externalId: 'twin' })).body,
      (await ask(service(), 'getGroup', { ...there, externalId: 'with-twin' })).body,
    ]
    const before = await theirs()
    const theirDirectory = { directoryId: FIXTURE.otherDirectoryId, externalId: 'twin' }
    const changes = { ...theirDirectory, json: { name: 'Ours' } }
    expect(await ask(service(), 'updateUser', changes)).toMatchObject(problem(404))
    expect(await ask(service(), 'deleteUser', theirDirectory)).toMatchObject(problem(404))

    expect(await update('twin', [['name', 'Ours']])).toMatchObject(problem(404))
    expect(await ask(service(), 'deleteUser', { externalId: 'twin' })).toMatchObject(problem(404))
    expect(await create([['users[][external_id]', 'twin']])).toMatchObject({ status: 201 })
    expect(await update('twin', [['name', 'Ours']])).toMatchObject({ status: 200, body: { name: 'Ours' } })
    expect(await ask(service(), 'deleteUser', { externalId: 'twin' })).toMatchObject({ status: 204 })
    expect(await get('twin')).toMatchObject(problem(404))
    expect(await theirs()).toEqual(before)
  })
})
