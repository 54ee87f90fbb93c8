import { describe, expect, test } from 'vitest'
import { createActivityRecorder } from '../../src/service/http/activity.ts'
import { openDatabase } from '../../src/service/store/database.ts'
import { FIXTURE } from '../support/fixture.ts'
import { loadYaml, type RunningService } from '../support/service.ts'
import { type ApiAnswer, type ApiRequest, ask, problem } from './api.ts'
import { describeService } from './with-service.ts'

const { userToken: token, samlSubscriptionId, lockedSubscriptionId, vaultItemId } = FIXTURE

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/

interface Shown {
  readonly id: number
  readonly name: string
  readonly favorite: boolean
  readonly position: number
  readonly password_strength: { readonly score: number }
}

function listOf(answer: ApiAnswer): Shown[] {
  expect(answer.status).toBe(200)
  return answer.body as Shown[]
}

const start = Date.now()

/** Milliseconds since the service was started, as its clock has it. */
let elapsed = 0

const options = { now: () => new Date(start + elapsed) }

/** A time long after every other one here. */
function later(seconds: number): Date {
  return new Date(start + 86_400_000 + seconds * 1000)
}

async function load(service: RunningService, id: number, contact: string): Promise<void> {
  const yaml = `
providers:
  - { id: 9, name: P, slug: p, icons: { small: "https://i.example/s", large: "https://i.example/l", color_code: "#000000", first_letter: P } }
organizations:
  - id: ${id}
    name: Organization ${id}
    allowedDomains: [example.net]
    installations: [{ id: ${id}, provider: 9, name: I, slug: i, configuration: { url: "https://i.example" } }]
    contacts: [${contact}]
`
  await loadYaml(service.pool, yaml)
}

describeService('listing subscriptions', {}, (service) => {
  const list = (query = '', more: ApiRequest = {}) =>
    ask(service(), 'listSubscriptions', { token, query, ...more })

  test('shows those of the contact, ordered by id, and none of anybody else', async () => {
    const answer = await list()
    expect(listOf(answer).map(({ id }) => id)).toEqual([
      samlSubscriptionId,
      lockedSubscriptionId,
      vaultItemId,
    ])
    expect(answer.headers.get('total')).toBe('3')
    expect(answer.headers.get('per-page')).toBe('20')
    expect(answer.headers.has('link')).toBe(false)
    const bens = await list('', { token: FIXTURE.benToken })
    expect(listOf(bens).map(({ id }) => id)).toEqual([FIXTURE.bensSubscriptionId])
  })

  test('shows every value', async () => {
    const [saml, locked, vaultItem] = listOf(await list())
    expect(saml).toStrictEqual({
      id: samlSubscriptionId,
      name: 'Atlas',
      status: 'pending',
      created_at: '2025-03-02T09:30:00.000+00:00',
      favorite: true,
      position: 1,
      last_login: expect.stringMatching(TIME) as unknown,
      launch_url: 'https://atlas.example',
      requires_mfa_code: false,
      login: 'ada@example.org',
      bookmarks: [],
      password_strength: {
        grade: expect.any(String) as unknown,
        score: expect.any(Number) as unknown,
        crack_time: expect.any(Number) as unknown,
      },
      permissions: { can_view_password: true, can_reset_password: true },
      installation: {
        id: 31,
        name: 'Atlas of Example',
        slug: 'atlas-example',
        status: 'active',
        created_at: '2025-03-01T06:00:00.123+00:00',
        labels: ['sales'],
        requires_mfa_code: false,
        icons: { small: 'https://icons.example/own-32.png', large: 'https://icons.example/own-128.png' },
        provider: {
          id: 1,
          name: 'Atlas',
          slug: 'atlas',
          login_method: 'form',
          launch_timeout: 30,
          icons: {
            small: 'https://icons.example/a.png',
            large: 'https://icons.example/al.png',
            color_code: '#0a5fb4',
            first_letter: 'A',
          },
          capabilities: {
            has_sync: false,
            has_saml: true,
            has_provision: false,
            has_password_reset: true,
            has_import: false,
            unsupported_browsers: ['ie'],
          },
        },
        configuration: {
          url: 'https://atlas.example',
          saml: true,
          namespace: ['example'],
          authentication_type: 'saml',
          install_type: 'manual',
          extra: null,
          login: null,
        },
      },
    })
    expect(locked).toMatchObject({
      last_login: null,
      permissions: { can_view_password: false, can_reset_password: false },
      installation: { id: 32, requires_mfa_code: true, provider: { login_method: 'basic' } },
    })
    expect(vaultItem).toMatchObject({
      name: 'Front door',
      login: '',
      password_strength: { grade: 'very weak', score: 0, crack_time: null },
    })
  })

  test('is paged', async () => {
    const second = await list('?all=false&page=2&per_page=2')
    expect(listOf(second).map(({ id }) => id)).toEqual([vaultItemId])
    expect(second.headers.get('total')).toBe('3')
  })

  test.each(['?all=TRUE', '?per_page=1&page=3&all=true', '?all=false&all=true'])(
    '%s is everything on one page',
    async (query) => {
      const answer = await list(query)
      expect(listOf(answer)).toHaveLength(3)
      expect(answer.headers.get('total')).toBe('3')
      expect(answer.headers.get('per-page')).toBe('3')
      expect(answer.headers.has('link')).toBe(false)
    },
  )

  test('all=true of more than a page of 100 is everything', async () => {
    const subscriptions = Array.from(
      { length: 130 },
      (_, index) =>
        `{ id: ${4000 + index}, installation: 400, name: S${index}, credentials: { login: l, password: p } }`,
    )
    await load(
      service(),
      400,
      `{ id: 401, name: Many, email: many@example.net, tokens: [{ token: token-of-user-many, scopes: [USER_READ], expires: 1h }], subscriptions: [${subscriptions.join()}] }`,
    )
    const request = { token: 'token-of-user-many', organizationId: 400 }
    const all = await list('?all=true', request)
    expect(listOf(all).map(({ name }) => name)).toEqual(
      Array.from({ length: 130 }, (_, index) => `S${index}`),
    )
    expect(all.headers.get('per-page')).toBe('130')
    const last = await list('?page=2&per_page=100', request)
    expect(listOf(last).map(({ name }) => name)).toEqual(
      Array.from({ length: 30 }, (_, index) => `S${index + 100}`),
    )
  })

  test.each(['?all=maybe', '?all=', '?all[]=true'])('%s is 400', async (query) => {
    expect(await list(query)).toMatchObject(problem(400, ['all']))
  })

  test('no answer holds a secret', async () => {
    const texts = await Promise.all(
      [list(), ask(service(), 'getSubscription', { token })].map(async (each) =>
        JSON.stringify((await each).body),
      ),
    )
    for (const secret of FIXTURE.secrets) expect(texts.join()).not.toContain(secret)
  })
})

describeService('reading a subscription', options, (service) => {
  const get = (request: ApiRequest = {}) => ask(service(), 'getSubscription', { token, ...request })
  const subscriberOf = async (request: ApiRequest = {}) => {
    const answer = await get(request)
    expect(answer.status).toBe(200)
    return (answer.body as { subscriber: Record<string, unknown> }).subscriber
  }
  const storedActivity = async (contactId: number) => {
    const query = 'select last_activity from access_management.contacts where id = $1'
    const { rows } = await service().pool.query<{ last_activity: Date | null }>(query, [contactId])
    return rows[0]?.last_activity ?? null
  }

  test('shows who it belongs to', async () => {
    expect(await subscriberOf()).toStrictEqual({
      id: FIXTURE.contactId,
      status: 'active',
      first_name: 'Ada',
      last_name: 'Admin',
      name: 'Ada Admin',
      email: 'ada@example.org',
      created_at: expect.stringMatching(TIME) as unknown,
      last_activity: expect.stringMatching(TIME) as unknown,
      last_activity_in_seconds: expect.any(Number) as unknown,
      average_password_score: { grade: expect.any(String) as unknown, score: expect.any(Number) as unknown },
    })
  })

  test('averages the scores of the apps alone, on two decimals', async () => {
    const passwords = ['a', 'correct horse battery staple 42', 'a', 'a']
    const apps = passwords.slice(0, 3).map((password, index) => {
      return `{ id: ${4200 + index}, installation: 420, name: App, credentials: { login: l, password: ${password} } }`
    })
    const item = `{ id: 4203, installation: 420, kind: vault-item, name: Item, credentials: { password: a } }`
    await load(
      service(),
      420,
      `{ id: 421, name: Average, email: a@example.net, tokens: [{ token: token-of-user-average, scopes: [USER_READ], expires: 1h }], subscriptions: [${[...apps, item].join()}] }`,
    )
    const subscriber = await subscriberOf({
      token: 'token-of-user-average',
      organizationId: 420,
      subscriptionId: 4203,
    })
    expect(subscriber).toMatchObject({
      first_name: '',
      last_name: 'Average',
      average_password_score: { grade: 'weak', score: 1.33 },
    })
  })

  test('a contact is active when its token is used, which is noted once a minute', async () => {
    elapsed += 600_000
    const noted = start + elapsed
    expect(await subscriberOf()).toMatchObject({ last_activity_in_seconds: 0 })
    elapsed += 42_900
    expect(await subscriberOf()).toMatchObject({
      last_activity: new Date(noted).toISOString().replace('Z', '+00:00'),
      last_activity_in_seconds: 42,
    })
    elapsed = noted - start + 60_000
    await ask(service(), 'listSubscriptions', { token })
    expect(await storedActivity(FIXTURE.contactId)).toEqual(new Date(noted + 60_000))
  })

  test('a contact whose token was refused was not active', async () => {
    const before = await storedActivity(FIXTURE.contactId)
    elapsed += 600_000
    expect((await get({ token: FIXTURE.expiredToken })).status).toBe(401)
    expect((await get({ token: FIXTURE.writeOnlyToken })).status).toBe(403)
    expect((await get({ organizationId: FIXTURE.otherOrganizationId })).status).toBe(404)
    expect(await storedActivity(FIXTURE.contactId)).toEqual(before)
  })

  test('several processes together write the activity once a minute', async () => {
    const db = openDatabase(service().pool)
    const [one, other] = [createActivityRecorder(db), createActivityRecorder(db)]
    await Promise.all([one(FIXTURE.benId, later(0)), other(FIXTURE.benId, later(0))])
    await other(FIXTURE.benId, later(59))
    await createActivityRecorder(db)(FIXTURE.benId, later(59))
    expect(await storedActivity(FIXTURE.benId)).toEqual(later(0))
    await other(FIXTURE.benId, later(60))
    await one(FIXTURE.benId, later(61))
    expect(await storedActivity(FIXTURE.benId)).toEqual(later(60))
  })

  test('reads cost no write within a minute', async () => {
    const query = 'select xmin::text as version from access_management.contacts where id = $1'
    const version = () => service().pool.query<{ version: string }>(query, [FIXTURE.contactId])
    await get()
    const { rows: before } = await version()
    await Promise.all(Array.from({ length: 10 }, () => get()))
    expect((await version()).rows).toEqual(before)
  })

  describe.each(['getSubscription', 'updateSubscription'] as const)('%s', (operation) => {
    test.each([
      ["somebody else's of the same organization", FIXTURE.bensSubscriptionId],
      ['one of another organization', FIXTURE.otherSubscriptionId],
      ['one whose id is more than the store takes', '2147483648'],
    ])('%s is 404', async (_name, subscriptionId) => {
      const form = operation === 'updateSubscription' ? { form: 'name=Mine' } : {}
      expect(await ask(service(), operation, { token, subscriptionId, ...form })).toMatchObject(problem(404))
    })
  })
})

interface EventRow {
  readonly organization_id: number
  readonly operation: string
  readonly description: { readonly en: string }
  readonly actor_id: number
  readonly subject: unknown
}

describeService('changing a subscription', {}, (service) => {
  const update = (form: ApiRequest['form'], subscriptionId: number = samlSubscriptionId) =>
    ask(service(), 'updateSubscription', { token, subscriptionId, ...(form === undefined ? {} : { form }) })
  const read = async (subscriptionId: number = samlSubscriptionId) => {
    const { body } = await ask(service(), 'getSubscription', { token, subscriptionId })
    const { subscriber: _subscriber, ...subscription } = body as Record<string, unknown>
    return subscription
  }
  const events = async () => {
    const query = `select * from access_management.events where type = 'update_subscription' order by id`
    return (await service().pool.query<EventRow>(query)).rows
  }

  test('sets name, position and favorite, and answers without a subscriber', async () => {
    const before = await read()
    const answer = await update([
      ['name', 'Größter Atlas'],
      ['position', '7'],
      ['favorite', 'false'],
    ])
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toStrictEqual({ ...before, name: 'Größter Atlas', position: 7, favorite: false })
    expect(await read()).toStrictEqual(answer.body)
    await update('name=Atlas&position=1&favorite=true')
    expect(await read()).toStrictEqual(before)
  })

  test.each([
    ['a position with a sign', 'position=%2B5', { position: 5 }],
    ['favorite as 1', 'favorite=1', { favorite: true }],
    ['a name of 2,048 bytes', `name=${'x'.repeat(2048)}`, { name: 'x'.repeat(2048) }],
    ['a name with blanks around it', 'name=+Door+', { name: ' Door ' }],
  ])('takes %s', async (_name, form, expected) => {
    expect(await update(form, vaultItemId)).toMatchObject({ status: 200, body: expected })
    expect(await read(vaultItemId)).toMatchObject(expected)
  })

  test('takes JSON with real types', async () => {
    const json = { name: 'Ledger "2"', position: 4, favorite: true }
    const answer = await ask(service(), 'updateSubscription', {
      token,
      subscriptionId: lockedSubscriptionId,
      json,
    })
    expect(answer).toMatchObject({ status: 200, body: json })
  })

  test.each([
    ['an empty name', 'name=', 422, 'name'],
    ['a position of 2147483648', 'position=2147483648', 422, 'position'],
    ['a position in words', 'position=first', 400, 'position'],
    ['a favorite that is neither', 'favorite=maybe', 400, 'favorite'],
    ['a list of names', 'name[]=x', 400, 'name'],
  ])('refuses %s and changes nothing', async (_name, form, status, field) => {
    const before = await read()
    const count = (await events()).length
    const rest = field === 'position' ? 'name=Other' : 'position=99'
    expect(await update(`${rest}&${form}`)).toMatchObject(problem(status, [field]))
    expect(await read()).toEqual(before)
    expect(await events()).toHaveLength(count)
  })

  test.each([
    ['an empty form', ''],
    ['no body', undefined],
    ['other names', 'login=eve&id=5&status=active&last_login=1'],
  ])('with %s is 200 with the unchanged subscription, and no event', async (_name, form) => {
    const before = await read()
    const count = (await events()).length
    expect(await update(form)).toMatchObject({ status: 200, body: before })
    expect(await events()).toHaveLength(count)
  })

  test('is an event that says what changed, and by whom', async () => {
    await update('name=Atlas&position=1&favorite=true')
    await update('name=Atlas&position=5&favorite=false')
    await update('name=New+Atlas&favorite=true')
    const [first, second] = (await events()).slice(-2)
    expect(first).toMatchObject({
      organization_id: FIXTURE.organizationId,
      operation: 'update',
      actor_id: FIXTURE.contactId,
      description: {
        en: 'Ada Admin changed the subscription Atlas: no longer a favorite, moved to position 5.',
      },
      subject: { type: 'subscription', id: samlSubscriptionId, name: 'Atlas' },
    })
    expect(second?.description.en).toBe(
      'Ada Admin changed the subscription Atlas: renamed to New Atlas, now a favorite.',
    )
  })

  test('is not done without its event', async () => {
    const { pool } = service()
    const before = await read()
    await pool.query(
      `alter table access_management.events add constraint none check (type <> 'update_subscription') not valid`,
    )
    try {
      expect(await update('name=Unheard')).toMatchObject(problem(500))
    } finally {
      await pool.query('alter table access_management.events drop constraint none')
    }
    expect(await read()).toEqual(before)
  })
})
