import type { PagedOperation } from '../../../../src/api/client/methods.ts'

const TIME = '2026-01-31T08:15:00.000+00:00'
const LINK = 'https://x.example/y'
const ICONS = { small: LINK, large: LINK }

/** What a service may answer for an item of each list. */
export const ITEMS: Readonly<Record<PagedOperation, (id: number) => unknown>> = {
  listDirectories: (id) => ({ id, name: 'D', doppler: false, target_type: 'ldap' }),
  listUsers: (id) => ({ id, external_id: null, name: null, email: null }),
  listGroups: (id) => ({ external_id: `g${id}`, name: 'G', external_member_ids: [] }),
  listSubscriptions: subscription,
  listEvents: event,
  listOrganizationGroups: (id) => ({
    id,
    name: 'G',
    contacts_count: 0,
    installations_count: 0,
    created_at: TIME,
  }),
}

function event(id: number): Record<string, unknown> {
  return {
    id,
    type: 'update_policy',
    operation: 'update',
    created_at: TIME,
    description: { en: 'x' },
    actor: { name: 'A', type: 'contact', id: 1, '@context': LINK, '@id': LINK, email: '' },
    subject: null,
  }
}

export function subscription(id: number): Record<string, unknown> {
  return {
    id,
    name: 'S',
    status: 'pending',
    created_at: TIME,
    favorite: false,
    position: 1,
    last_login: null,
    launch_url: LINK,
    requires_mfa_code: false,
    login: 'a',
    bookmarks: [],
    password_strength: { grade: 'good', score: 3, crack_time: null },
    permissions: { can_view_password: true, can_reset_password: true },
    installation: {
      id: 1,
      name: 'I',
      slug: 'i',
      status: 'active',
      created_at: TIME,
      labels: [],
      requires_mfa_code: false,
      provider: PROVIDER,
      configuration: CONFIGURATION,
    },
  }
}

const PROVIDER = {
  id: 1,
  name: 'P',
  slug: 'p',
  login_method: 'saml',
  launch_timeout: 0,
  icons: { ...ICONS, color_code: '#000', first_letter: 'P' },
  capabilities: {
    has_sync: false,
    has_saml: false,
    has_provision: false,
    has_password_reset: false,
    has_import: false,
    unsupported_browsers: [],
  },
}

const CONFIGURATION = {
  url: LINK,
  saml: false,
  namespace: [],
  authentication_type: 'x',
  install_type: 'x',
  extra: null,
  login: null,
}
