import { parseYaml } from '../../src/service/fixture/read.ts'
import { checkFixture, checkReferences, type Fixture } from '../../src/service/fixture/schema.ts'

/**
 * The ids and tokens of the default fixture. Contact Ada (11) has two apps and a vault item, Ben (12) has one app.
 * Tokens without another name belong to Ada. Organization 2 is foreign and has one of each resource.
 */
export const FIXTURE = {
  organizationId: 1,
  directoryId: 7,
  token: 'full-token-of-organization-1',
  readOnlyToken: 'read-token-of-organization-1',
  writeOnlyToken: 'write-token-of-organization-1',
  expiredToken: 'expired-token-of-organization-1',
  /** USER_READ and USER. */
  userToken: 'user-token-of-ada',
  userReadToken: 'user-read-token-of-ada',
  userWriteToken: 'user-write-token-of-ada',
  benToken: 'user-token-of-ben',
  contactId: 11,
  benId: 12,
  otherOrganizationId: 2,
  otherDirectoryId: 8,
  otherToken: 'full-token-of-organization-2',
  /** An app with SAML, whose password may be viewed and reset. */
  samlSubscriptionId: 101,
  /** An app without SAML, whose password may be neither viewed nor reset. */
  lockedSubscriptionId: 102,
  vaultItemId: 103,
  bensSubscriptionId: 104,
  otherSubscriptionId: 201,
  groupId: 51,
  otherGroupId: 61,
  /** No log, page, dump or answer may contain these secrets, except the answer of #17 (docs/api.md). */
  secrets: [
    'planted-password-101',
    'planted-password-102',
    'planted-door-code-103',
    'planted-password-104',
    'planted-password-201',
  ],
} as const

const icons = (name: string): string =>
  `{ small: "https://icons.example/${name}-32.png", large: "https://icons.example/${name}-128.png" }`

export const FIXTURE_YAML = `
providers:
  - id: 1
    name: Atlas
    slug: atlas
    icons: { small: "https://icons.example/a.png", large: "https://icons.example/al.png", color_code: "#0a5fb4", first_letter: A }
    capabilities: { has_saml: true, has_password_reset: true, unsupported_browsers: [ie] }
  - id: 2
    name: Ledger
    slug: ledger
    login_method: basic
    icons: { small: "https://icons.example/l.png", large: "https://icons.example/ll.png", color_code: "#b40a5f", first_letter: L }
organizations:
  - id: ${FIXTURE.organizationId}
    name: Example
    allowedDomains: [example.org]
    entityId: urn:access-management:organization:${FIXTURE.organizationId}
    installations:
      - id: 31
        provider: 1
        name: Atlas of Example
        slug: atlas-example
        created_at: "2025-03-01T08:00:00.123+02:00"
        labels: [sales]
        icons: ${icons('own')}
        configuration: { url: "https://atlas.example", saml: true, namespace: [example], authentication_type: saml }
        serviceProvider: { entityId: "https://atlas.example/saml", acsUrl: "https://atlas.example/saml/acs" }
      - id: 32
        provider: 2
        name: Ledger
        slug: ledger
        requires_mfa_code: true
        configuration: { url: "https://ledger.example" }
    contacts:
      - id: ${FIXTURE.contactId}
        name: Ada Admin
        email: ada@example.org
        tokens:
          - { token: ${FIXTURE.token}, scopes: [ORG, ORG_READ, USER, USER_READ], expires: 30d }
          - { token: ${FIXTURE.readOnlyToken}, scopes: [ORG_READ], expires: 30d }
          - { token: ${FIXTURE.writeOnlyToken}, scopes: [ORG], expires: 30d }
          - { token: ${FIXTURE.expiredToken}, scopes: [ORG, ORG_READ, USER, USER_READ], expires: "2020-01-01T00:00:00Z" }
          - { token: ${FIXTURE.userToken}, scopes: [USER, USER_READ], expires: 30d }
          - { token: ${FIXTURE.userReadToken}, scopes: [USER_READ], expires: 30d }
          - { token: ${FIXTURE.userWriteToken}, scopes: [USER], expires: 30d }
        subscriptions:
          - id: ${FIXTURE.samlSubscriptionId}
            installation: 31
            name: Atlas
            status: pending
            position: 1
            favorite: true
            created_at: "2025-03-02T09:30:00Z"
            last_login: 3h
            credentials: { login: ada@example.org, password: ${FIXTURE.secrets[0]} }
          - id: ${FIXTURE.lockedSubscriptionId}
            installation: 32
            name: Ledger
            position: 2
            permissions: { can_view_password: false, can_reset_password: false }
            credentials: { login: ada, password: ${FIXTURE.secrets[1]} }
          - id: ${FIXTURE.vaultItemId}
            installation: 32
            kind: vault-item
            name: Front door
            position: 3
            credentials: { "Door code": ${FIXTURE.secrets[2]}, Note: "two turns" }
      - id: ${FIXTURE.benId}
        name: Ben Miller
        email: ben@example.org
        tokens:
          - { token: ${FIXTURE.benToken}, scopes: [USER, USER_READ], expires: 30d }
        subscriptions:
          - id: ${FIXTURE.bensSubscriptionId}
            installation: 31
            name: Atlas
            credentials: { login: ben@example.org, password: ${FIXTURE.secrets[3]} }
    groups:
      - { id: ${FIXTURE.groupId}, name: Größere Teams, contacts: [11, 12], installations: [31] }
      - { id: 52, name: Sales, contacts: [12] }
    events:
      - type: enable_contact_admin
        operation: enable
        at: "2026-01-10T08:00:00Z"
        description: { en: Ada Admin made Ben Miller an administrator. }
        actor: 11
        subject: { contact: 12 }
        ip: 192.0.2.10
      - type: update_policy
        operation: update
        at: "2026-01-11T08:00:00Z"
        description: { en: Ben Miller changed the password policy., de: Ben Miller änderte die Passwortregel. }
        actor: 12
        ip: "2001:db8::12"
    directories:
      - { id: ${FIXTURE.directoryId}, name: Corporate }
  - id: ${FIXTURE.otherOrganizationId}
    name: Other
    allowedDomains: [other.example]
    installations:
      - { id: 41, provider: 2, name: Their Ledger, slug: their-ledger, configuration: { url: "https://ledger.example/theirs" } }
    contacts:
      - id: 21
        name: Otto Other
        email: otto@other.example
        tokens:
          - { token: ${FIXTURE.otherToken}, scopes: [ORG, ORG_READ, USER, USER_READ], expires: 30d }
        subscriptions:
          - id: ${FIXTURE.otherSubscriptionId}
            installation: 41
            name: Their Ledger
            credentials: { login: otto, password: ${FIXTURE.secrets[4]} }
    groups:
      - { id: ${FIXTURE.otherGroupId}, name: Their Team, contacts: [21], installations: [41] }
    events:
      - { type: update_policy, operation: update, at: 1d, description: { en: Otto Other changed a policy. }, actor: 21 }
    directories:
      - id: ${FIXTURE.otherDirectoryId}
        name: Theirs
        users: [{ external_id: theirs, email: theirs@other.example, name: Their User }]
        groups: [{ external_id: theirs, name: Their Group }]
`

/** A fixture of this many empty directories, whose ids go up from `first`. See `directoriesFixture`. */
export function emptyDirectoriesFixture(first: number, count: number): string {
  return directoriesFixture(
    Array.from({ length: count }, (_, n) => `{ id: ${first + n}, name: Directory ${first + n} }`),
  )
}

/**
 * YAML of a fixture with one organization and these directories (each in flow YAML). `FIXTURE.token` may read and write
 * them, `FIXTURE.readOnlyToken` may read them.
 */
export function directoriesFixture(directories: readonly string[]): string {
  return `
organizations:
  - id: ${FIXTURE.organizationId}
    name: Example
    allowedDomains: [example.org]
    contacts:
      - id: ${FIXTURE.contactId}
        name: Ada Admin
        email: ada@example.org
        tokens:
          - { token: ${FIXTURE.token}, scopes: [ORG, ORG_READ], expires: 30d }
          - { token: ${FIXTURE.readOnlyToken}, scopes: [ORG_READ], expires: 30d }
    directories: [${directories.join(', ')}]
`
}

/** Checks the text of a fixture, as for an empty store. */
export function parseFixture(yaml: string, path: string): Fixture {
  const fixture = checkFixture(parseYaml(yaml, path), path)
  checkReferences(fixture, path, new Set())
  return fixture
}
