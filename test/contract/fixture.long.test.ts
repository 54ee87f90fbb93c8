import { expect, test } from 'vitest'
import { loadYaml, startForTest } from '../support/service.ts'
import { ask } from './api.ts'

function many(count: number, row: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => row(index)).join()
}

test('an import brings thousands of subscriptions, members and events', async () => {
  const subscriptions = many(1500, (index) => {
    return `{ id: ${130_000 + index}, installation: 130, kind: vault-item, name: S, credentials: { a: b } }`
  })
  const contacts = many(2500, (index) => `{ id: ${131_000 + index}, name: C, email: c@example.org }`)
  const events = many(8000, (index) => {
    return `{ type: t, operation: update, at: ${index}s, description: { en: E. }, actor: 130 }`
  })
  const service = await startForTest()
  await loadYaml(
    service.pool,
    `
organizations:
  - id: 130
    name: Large
    allowedDomains: [example.org]
    installations: [{ id: 130, provider: 1, name: App, slug: app, configuration: { url: "https://app.example" } }]
    contacts:
      - id: 130
        name: Ada
        email: ada@example.org
        tokens: [{ token: token-of-the-large-organization, scopes: [ORG_READ, USER_READ], expires: 1h }]
        subscriptions: [${subscriptions}]
      - ${contacts.replaceAll('},{', '}\n      - {')}
    groups: [{ id: 130, name: All, contacts: [${many(2500, (index) => `${131_000 + index}`)}] }]
    events: [${events}]
`,
  )
  const request = { token: 'token-of-the-large-organization', organizationId: 130 }
  expect((await ask(service, 'listSubscriptions', request)).headers.get('total')).toBe('1500')
  expect((await ask(service, 'listOrganizationGroups', request)).body).toMatchObject([
    { contacts_count: 2500 },
  ])
  const query = 'select event_count from access_management.organizations where id = 130'
  expect((await service.pool.query(query)).rows).toEqual([{ event_count: 8000 }])
})
