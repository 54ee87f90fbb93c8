import { expect, test } from 'vitest'
import { type ApiRequest, ask, problem } from './api.ts'
import { FIXTURE } from '../support/fixture.ts'
import { describeService } from './with-service.ts'

describeService('groups', {}, (service) => {
  const create = (form: ApiRequest['form']) =>
    ask(service(), 'createGroups', form === undefined ? {} : { form })
  const get = async (externalId: string) => (await ask(service(), 'getGroup', { externalId })).body
  const update = (externalId: string, form: string) => ask(service(), 'updateGroup', { externalId, form })

  test('groups are created with their members, sorted and without duplicates', async () => {
    const answer = await create([
      ['groups[][external_id]', 'g1'],
      ['groups[][name]', 'Group One'],
      ['groups[][external_member_ids][]', 'b'],
      ['groups[][external_member_ids][]', 'a'],
      ['groups[][external_member_ids][]', 'B'],
      ['groups[][external_member_ids][]', 'b'],
      ['groups[][external_id]', 'g2'],
      ['groups[][name]', 'Group Two'],
    ])
    const groups = [
      { external_id: 'g1', name: 'Group One', external_member_ids: ['B', 'a', 'b'] },
      { external_id: 'g2', name: 'Group Two', external_member_ids: [] },
    ]
    expect(answer).toMatchObject({ status: 201, body: groups })
    expect(await get('g1')).toEqual(groups[0])
    const list = await ask(service(), 'listGroups', { query: '?per_page=100' })
    expect(list.body).toEqual(expect.arrayContaining(groups))
  })

  test.each([
    ['no external id', 'groups[][name]=x', 400, 'groups[0].external_id'],
    ['no name', 'groups[][external_id]=x', 400, 'groups[0].name'],
    [
      'an empty member',
      'groups[][external_id]=x&groups[][name]=x&groups[][external_member_ids][]=&groups[][external_member_ids][]=a',
      422,
      'groups[0].external_member_ids[0]',
    ],
  ])('refuses %s', async (_name, form, status, field) => {
    expect(await create(form)).toMatchObject(problem(status, [field]))
  })

  test('a taken external id is 409, also when a user has it there is none', async () => {
    const form = 'groups[][external_id]=taken&groups[][name]=x'
    await ask(service(), 'createUsers', { form: 'users[][external_id]=taken' })
    expect((await create(form)).status).toBe(201)
    expect(await create(form)).toMatchObject(problem(409, ['groups[0].external_id']))
  })

  test('an update of the name leaves the members alone', async () => {
    await create('groups[][external_id]=named&groups[][name]=x&groups[][external_member_ids][]=a')
    const answer = await update('named', 'name=New+Name')
    expect(answer).toMatchObject({ status: 200, body: { name: 'New Name', external_member_ids: ['a'] } })
  })

  test('an update sets the members, and a single empty one clears them', async () => {
    await create('groups[][external_id]=set&groups[][name]=x&groups[][external_member_ids][]=old')
    const set = await update(
      'set',
      'name=x&external_member_ids[]=b&external_member_ids[]=a&external_member_ids[]=b',
    )
    expect(set.body).toMatchObject({ external_member_ids: ['a', 'b'] })
    const cleared = await update('set', 'name=x&external_member_ids[]=')
    expect(cleared.body).toMatchObject({ external_member_ids: [] })
    expect(await get('set')).toEqual({ external_id: 'set', name: 'x', external_member_ids: [] })
  })

  test('an update without the name is refused with 400, with an empty one with 422', async () => {
    await create('groups[][external_id]=nameless&groups[][name]=x')
    expect(await update('nameless', 'external_member_ids[]=a')).toMatchObject(problem(400, ['name']))
    expect(await update('nameless', 'name=+')).toMatchObject(problem(422, ['name']))
    expect(await get('nameless')).toMatchObject({ name: 'x', external_member_ids: [] })
  })

  test('a group of 20,000 members is written and read', async () => {
    const members = Array.from({ length: 20_000 }, (_, index) => `member-${String(index).padStart(6, '0')}`)
    await create('groups[][external_id]=large&groups[][name]=x')
    const form = new URLSearchParams({ name: 'x' })
    for (const id of members) form.append('external_member_ids[]', id)
    expect((await update('large', form.toString())).status).toBe(200)
    expect(await get('large')).toMatchObject({ external_member_ids: members })
    const json = { name: 'x', external_member_ids: members.slice(1) }
    await ask(service(), 'updateGroup', { externalId: 'large', json })
    expect(await get('large')).toMatchObject({ external_member_ids: members.slice(1) })
  })

  test('a deleted group is gone with its members', async () => {
    await create('groups[][external_id]=gone&groups[][name]=x&groups[][external_member_ids][]=a')
    expect(await ask(service(), 'deleteGroup', { externalId: 'gone' })).toMatchObject({
      status: 204,
      body: undefined,
    })
    expect(await ask(service(), 'deleteGroup', { externalId: 'gone' })).toMatchObject(problem(404))
    await create('groups[][external_id]=gone&groups[][name]=x')
    expect(await get('gone')).toMatchObject({ external_member_ids: [] })
  })

  test('an id that an older group of another directory has is no group of this one', async () => {
    const there = {
      token: FIXTURE.otherToken,
      organizationId: FIXTURE.otherOrganizationId,
      directoryId: FIXTURE.otherDirectoryId,
    }
    const twin = { external_id: 'twin', name: 'Theirs', external_member_ids: ['a'] }
    expect(await ask(service(), 'createGroups', { ...there, json: { groups: [twin] } })).toMatchObject({
      status: 201,
    })

    expect(await update('twin', 'name=Ours')).toMatchObject(problem(404))
    expect(await ask(service(), 'deleteGroup', { externalId: 'twin' })).toMatchObject(problem(404))
    expect(await create('groups[][external_id]=twin&groups[][name]=x')).toMatchObject({ status: 201 })
    expect(await update('twin', 'name=Ours')).toMatchObject({ status: 200, body: { name: 'Ours' } })
    expect(await ask(service(), 'deleteGroup', { externalId: 'twin' })).toMatchObject({ status: 204 })
    expect(await get('twin')).toMatchObject({ status: 404 })
    expect((await ask(service(), 'getGroup', { ...there, externalId: 'twin' })).body).toEqual(twin)
  })
})
