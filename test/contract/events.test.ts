import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Event } from '../../src/api/contract/event.ts'
import { deleteOldEvents } from '../../src/service/events/retention.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type ApiAnswer, type ApiRequest, ask, filterQuery, linksOf, problem } from './api.ts'
import { describeService } from './with-service.ts'

const eventsOf = (answer: ApiAnswer) => answer.body as Event[]
const idsOf = (answer: ApiAnswer) => eventsOf(answer).map((event) => event.id)
const sentencesOf = (answer: ApiAnswer) => eventsOf(answer).map((event) => event.description.en)

describeService('the history of the fixture', {}, (service) => {
  const list = (query = '', request: ApiRequest = {}) => ask(service(), 'listEvents', { query, ...request })

  test('is shown newest first, with every field of the description', async () => {
    const answer = await list()
    const context = 'https://schema.org'
    const contacts = `${service().baseUrl}/api/v2/organizations/1/contacts`
    const party = { type: 'contact', '@context': context }
    const ada = { ...party, id: 11, name: 'Ada Admin', email: 'ada@example.org', '@id': `${contacts}/11` }
    const ben = { ...party, id: 12, name: 'Ben Miller', email: 'ben@example.org', '@id': `${contacts}/12` }
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.headers.get('total')).toBe('2')
    expect(answer.body).toEqual([
      {
        id: expect.any(Number),
        type: 'update_policy',
        operation: 'update',
        created_at: '2026-01-11T08:00:00.000+00:00',
        description: {
          en: 'Ben Miller changed the password policy.',
          de: 'Ben Miller änderte die Passwortregel.',
        },
        actor: ben,
        subject: null,
      },
      {
        id: expect.any(Number),
        type: 'enable_contact_admin',
        operation: 'enable',
        created_at: '2026-01-10T08:00:00.000+00:00',
        description: { en: 'Ada Admin made Ben Miller an administrator.' },
        actor: ada,
        subject: ben,
      },
    ])
  })

  test.each([
    ['several types, one unknown', 'filters[type]=nothing,%20enable_contact_admin', [0]],
    ['part of a type', 'filters[type]=update', []],
    ['the time of the first', 'filters[time_to]=2026-01-10T08:00:00.000%2B00:00', [0]],
    ['one millisecond less', 'filters[time_to]=2026-01-10T07:59:59.999Z', []],
    ['an IPv4 bound, which no IPv6 address matches', 'filters[ip_from]=0.0.0.0', [0]],
    ['an IPv6 bound, which no IPv4 address matches', 'filters[ip_from]=::', [1]],
    ['a group of both', `filters[group_id]=${FIXTURE.groupId}`, [1, 0]],
    ["another organization's group", `filters[group_id]=${FIXTURE.otherGroupId}`, []],
    ["another organization's contact", 'filters[contact_id]=21', []],
    [
      'all seven',
      'filters[type]=update_policy&filters[time_from]=2026-01-11&filters[time_to]=2026-01-11&filters[ip_from]=2001:db8::1&filters[ip_to]=2001:db8::12&filters[group_id]=52&filters[contact_id]=12',
      [1],
    ],
    ['names that are percent-encoded', 'filters%5Bcontact_id%5D=12', [1]],
    [
      'the first and the last time that can be said',
      'filters[time_from]=0000-01-01&filters[time_to]=9999-12-31',
      [1, 0],
    ],
    ['an offset beyond the first year', 'filters[time_from]=0000-01-01T00:00%2B23:59', [1, 0]],
    ['an offset beyond the last year', 'filters[time_to]=9999-12-31T23:59-23:59', [1, 0]],
  ])('is filtered by %s', async (_name, query, which) => {
    const oldestFirst = idsOf(await list()).toReversed()
    const answer = await list(`?${query}`)
    expect(answer.status).toBe(200)
    expect(idsOf(answer)).toEqual(which.map((index) => oldestFirst[index]))
    expect(answer.headers.get('total')).toBe(String(which.length))
  })

  test('values that are no filters are refused with 400, and a range that can hold nothing with 422', async () => {
    const wrong = { time_from: 'yesterday', ip_to: 'localhost', contact_id: '-1' }
    const fields = Object.keys(wrong).map((name) => `filters[${name}]`)
    expect(await list(filterQuery(wrong))).toMatchObject(problem(400, fields))
    const ends = { ip_from: '192.0.2.2', ip_to: '192.0.2.1' }
    const bounds = ['filters[ip_from]', 'filters[ip_to]']
    expect(await list(filterQuery(ends))).toMatchObject(problem(422, bounds))
  })

  test.each([
    ['filters[typ]=update_policy', 'filters[typ]'],
    ['filters[__proto__]=x', 'filters[__proto__]'],
    ['filters[type][]=update_policy', 'filters[type]'],
    ['filters=update_policy', 'filters'],
  ])('%s is refused with 400, not left out', async (query, field) => {
    expect(await list(`?${query}`)).toMatchObject(problem(400, [field]))
  })

  test('links keep the filters', async () => {
    const filters = 'filters[type]=update_policy,enable_contact_admin&filters%5Bgroup_id%5D=51'
    const answer = await list(`?${filters}&per_page=1&page=1`)
    expect(linksOf(answer)).toEqual({
      next: `?${filters}&page=2&per_page=1`,
      last: `?${filters}&page=2&per_page=1`,
    })
    expect(idsOf(await list(linksOf(answer)['next']))).toEqual(idsOf(await list()).slice(1))
  })

  test("is not the other organization's, whatever is asked for", async () => {
    const theirs = await list('', { organizationId: 2, token: FIXTURE.otherToken })
    expect(sentencesOf(theirs)).toEqual(['Otto Other changed a policy.'])
    expect(await list('', { organizationId: 2 })).toMatchObject(problem(404))
    for (const filters of [
      { contact_id: '21' },
      { group_id: '61' },
      { type: 'update_policy' },
      { time_from: '2020-01-01' },
    ]) {
      expect(idsOf(await list(filterQuery(filters)))).not.toContain(idsOf(theirs)[0])
    }
  })
})

describeService('what happens in a directory', {}, (service) => {
  const create = (users: object[]) => ask(service(), 'createUsers', { json: { users } })
  const latest = async (many: number) =>
    eventsOf(await ask(service(), 'listEvents', { query: `?per_page=${many}` }))
  const total = async () =>
    Number((await ask(service(), 'listEvents', { query: '?per_page=1' })).headers.get('total'))

  /** The events that `work` adds, the newest first. */
  async function eventsBy(work: () => Promise<unknown>): Promise<Event[]> {
    const before = await total()
    await work()
    const added = (await total()) - before
    return added === 0 ? [] : latest(added)
  }

  test('a user that is created, renamed and deleted leaves three events', async () => {
    const externalId = 'p/17 ü'
    const [created] = await eventsBy(() =>
      create([{ external_id: externalId, name: 'Zoë Keller', email: 'zoe@example.org' }]),
    )
    const { body } = await ask(service(), 'getUser', { externalId })
    expect(created).toMatchObject({
      type: 'create_directory_user',
      operation: 'create',
      description: { en: 'Ada Admin created the user Zoë Keller (p/17 ü) in the directory Corporate.' },
      actor: { type: 'contact', id: 11, name: 'Ada Admin', email: 'ada@example.org' },
      subject: {
        type: 'directory_user',
        id: (body as { id: number }).id,
        name: 'Zoë Keller',
        email: 'zoe@example.org',
        '@context': 'https://schema.org',
        '@id': `${service().baseUrl}/api/v2/organizations/1/admin/directories/7/users/p%2F17%20%C3%BC`,
      },
    })
    expect(Math.abs(Date.parse(created!.created_at) - Date.now())).toBeLessThan(60_000)

    const change = { name: 'Zoë Meier', email: 'meier@example.org' }
    const [updated] = await eventsBy(() => ask(service(), 'updateUser', { externalId, json: change }))
    expect(updated).toMatchObject({
      type: 'update_directory_user',
      operation: 'update',
      description: {
        en: 'Ada Admin updated the user Zoë Meier (p/17 ü) in the directory Corporate: name (before: Zoë Keller), email.',
      },
      subject: { name: 'Zoë Meier', email: 'meier@example.org' },
    })

    const [deleted] = await eventsBy(() => ask(service(), 'deleteUser', { externalId }))
    expect(deleted).toMatchObject({
      type: 'delete_directory_user',
      operation: 'delete',
      description: { en: 'Ada Admin deleted the user Zoë Meier (p/17 ü) in the directory Corporate.' },
      subject: { name: 'Zoë Meier', email: 'meier@example.org', id: created!.subject!.id },
    })
  })

  test.each([
    ['only an external id', { external_id: 'bare' }, 'bare', 'the user bare'],
    [
      'no external id',
      { name: 'Nameless Id', email: 'n@example.org' },
      'Nameless Id',
      'the user Nameless Id',
    ],
    ['only an e-mail', { email: 'only@example.org' }, 'only@example.org', 'the user only@example.org'],
  ])('a user with %s has a name in its event', async (_name, user, name, label) => {
    const [created] = await eventsBy(() => create([user]))
    expect(created!.subject).toMatchObject({ name, email: 'email' in user ? user.email : '' })
    expect(created!.description.en).toContain(label)
    expect(created!.subject!['@id']).toMatch(/^http:.*\/api\/v2\/organizations\/1\/.*\w$/)
  })

  test('a group that is created, changed and deleted leaves events without an e-mail', async () => {
    const externalId = 'staff'
    const group = { external_id: externalId, name: 'Staff', external_member_ids: ['a', 'b'] }
    const change = (json: object) => () => ask(service(), 'updateGroup', { externalId, json })
    const [created] = await eventsBy(() => ask(service(), 'createGroups', { json: { groups: [group] } }))
    expect(created).toMatchObject({
      type: 'create_directory_group',
      description: { en: 'Ada Admin created the group Staff (staff) in the directory Corporate.' },
      subject: {
        type: 'directory_group',
        name: 'Staff',
        email: '',
        '@id': `${service().baseUrl}/api/v2/organizations/1/admin/directories/7/groups/staff`,
      },
    })
    const said = async (json: object) => (await eventsBy(change(json))).map((event) => event.description.en)
    const updated = 'Ada Admin updated the group'
    expect(await said({ name: 'Staff' })).toEqual([])
    expect(await said({ name: 'Staff', external_member_ids: ['b', 'a', 'a'] })).toEqual([])
    expect(await said({ name: 'Staff', external_member_ids: ['a'] })).toEqual([
      `${updated} Staff (staff) in the directory Corporate: members.`,
    ])
    expect(await said({ name: 'All', external_member_ids: ['a', 'c'] })).toEqual([
      `${updated} All (staff) in the directory Corporate: name (before: Staff), members.`,
    ])
    expect(await said({ name: 'All', external_member_ids: [] })).toEqual([
      `${updated} All (staff) in the directory Corporate: members.`,
    ])
    const [deleted] = await eventsBy(() => ask(service(), 'deleteGroup', { externalId }))
    expect(deleted).toMatchObject({
      type: 'delete_directory_group',
      subject: { name: 'All', id: created!.subject!.id },
    })
  })

  test('what is refused or changes nothing leaves no event', async () => {
    const externalId = randomUUID()
    const user = { external_id: externalId, name: 'Same', email: 'same@example.org' }
    await create([user])
    const events = await eventsBy(async () => {
      expect(await create([{ external_id: randomUUID() }, user])).toMatchObject(problem(409))
      expect(await create([{ email: 'x@elsewhere.example' }])).toMatchObject(problem(422))
      for (const json of [{}, { name: 'Same' }, { name: 'Same', email: 'same@example.org' }]) {
        expect((await ask(service(), 'updateUser', { externalId, json })).status).toBe(200)
      }
      expect(await ask(service(), 'updateUser', { json: { name: 'x' } })).toMatchObject(problem(404))
      expect(await ask(service(), 'deleteUser')).toMatchObject(problem(404))
      expect(await ask(service(), 'deleteGroup')).toMatchObject(problem(404))
      expect(await ask(service(), 'listUsers', { directoryId: 8 })).toMatchObject(problem(404))
    })
    expect(events).toEqual([])
  })

  test.each(['create_directory_user', 'update_directory_user', 'delete_directory_user'])(
    'a change whose event %s cannot be written does not happen',
    async (type) => {
      const externalId = randomUUID()
      await create([{ external_id: externalId, name: 'Before' }])
      const { pool } = service()
      const count = await total()
      await pool.query(
        `alter table access_management.events add constraint refused check (type <> '${type}') not valid`,
      )
      try {
        const attempts: Record<string, () => Promise<ApiAnswer>> = {
          create_directory_user: () => create([{ external_id: `not-${externalId}` }]),
          update_directory_user: () => ask(service(), 'updateUser', { externalId, json: { name: 'After' } }),
          delete_directory_user: () => ask(service(), 'deleteUser', { externalId }),
        }
        expect((await attempts[type]!()).status).toBe(500)
      } finally {
        await pool.query('alter table access_management.events drop constraint refused')
      }
      expect(await ask(service(), 'getUser', { externalId: `not-${externalId}` })).toMatchObject(problem(404))
      expect((await ask(service(), 'getUser', { externalId })).body).toMatchObject({ name: 'Before' })
      expect(await total()).toBe(count)
    },
  )

  test('writers at once lose no event and leave a right total', async () => {
    const ids = Array.from({ length: 30 }, () => randomUUID())
    const events = await eventsBy(() => Promise.all(ids.map((id) => create([{ external_id: id }]))))
    expect(events.map((event) => event.subject!.name).toSorted()).toEqual(ids.toSorted())
    const { rows } = await service().pool.query(
      'select count(*)::integer as many from access_management.events where organization_id = 1',
    )
    expect(rows).toEqual([{ many: await total() }])
  })

  test('the other organization sees nothing of it', async () => {
    const { headers } = await ask(service(), 'listEvents', { organizationId: 2, token: FIXTURE.otherToken })
    expect(headers.get('total')).toBe('1')
  })
})

describeService('behind a proxy', { trustedProxies: ['127.0.0.1'] }, (service) => {
  test.each([
    ['192.0.2.33', '192.0.2.33'],
    ['fe80::33%eth0', 'fe80::33'],
    ['[2001:db8::36]:4711', '2001:db8::36'],
    ['unknown', '127.0.0.1'],
    ["'; drop table events", '127.0.0.1'],
  ])('a request from "%s" is an event from %s', async (forwarded, ip) => {
    const externalId = randomUUID()
    const json = { users: [{ external_id: externalId }] }
    const headers = { 'x-forwarded-for': forwarded }
    expect((await ask(service(), 'createUsers', { json, headers })).status).toBe(201)
    expect((await ask(service(), 'deleteUser', { externalId, headers })).status).toBe(204)
    const { rows } = await service().pool.query(
      'select host(ip) as ip from access_management.events order by id desc limit 2',
    )
    expect(rows).toEqual([{ ip }, { ip }])
  })
})

describeService('the retention of events', {}, (service) => {
  test('deletes what is older, in every organization, and the totals follow', async () => {
    const { pool } = service()
    const many = `insert into access_management.events
        (organization_id, created_at, type, operation, description, actor, actor_id)
      select o, now() - n * interval '1 minute', 't', 'update', '{"en":"E."}', '{}', 1
      from generate_series(1, 2) o, generate_series(1, 1500) n`
    await pool.query('delete from access_management.events')
    await pool.query(many)
    await pool.query('update access_management.organizations set event_count = 1500')
    expect(await deleteOldEvents(pool, new Date(Date.now() - 100.5 * 60_000))).toBe(2800)
    const { rows } = await pool.query(
      `select o.event_count, count(e.id)::int as events, min(e.created_at) > now() - interval '101 minutes' as young
       from access_management.organizations o join access_management.events e on e.organization_id = o.id group by o.id`,
    )
    expect(rows).toEqual([1, 2].map(() => ({ event_count: 100, events: 100, young: true })))
    expect(await deleteOldEvents(pool, new Date(Date.now() - 100.5 * 60_000))).toBe(0)
    expect((await ask(service(), 'listEvents')).headers.get('total')).toBe('100')
  })
})
