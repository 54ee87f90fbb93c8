import { z } from 'zod'
import { field, fileOnly, type Resource } from './resource.ts'
import { count, id, name, timeOrDuration, text, url } from './values.ts'

const createdAt = fileOnly(timeOrDuration.default('0s'))

const domain = text
  .regex(/^[^\s@.]+(\.[^\s@.]+)*$/, { error: 'must be a domain such as example.org, without @' })
  .transform((value) => value.normalize('NFC').toLowerCase())

export const organization = {
  name: 'organization',
  withArticle: 'an organization',
  purpose: 'Organizations of the service.',
  schema: z.strictObject({
    id,
    name: field(name, 'Its name.'),
    allowedDomains: field(
      z.array(domain).min(1, { error: 'must name a domain' }),
      'A domain that e-mail addresses of its directories may have.',
      { flag: 'domain' },
    ),
    entityId: field(
      z
        .string()
        .regex(/^[A-Za-z][A-Za-z0-9+.-]*:[^\s\0]{1,1000}$/, {
          error: 'must be a URL or URN of at most 1,000 characters',
        })
        .optional(),
      'Its SAML entity id, such as an https URL (default: a new urn:uuid).',
    ),
  }),
  listed: ['name', 'allowedDomains'],
  example: '--name "Northgate Instruments" --domain northgate.example',
} as const satisfies Resource

export const contact = {
  name: 'contact',
  withArticle: 'a contact',
  purpose: 'Contacts of the organizations: who may have tokens and subscriptions.',
  owner: 'organization',
  schema: z.strictObject({
    id,
    name: field(name, 'Its name.'),
    email: field(z.email({ error: 'must be an e-mail address' }), 'Its e-mail address.'),
    status: field(text.default('active'), '"blocked" refuses its tokens (default: active).', {
      choices: ['active', 'blocked'],
    }),
    created_at: createdAt,
    last_activity: fileOnly(timeOrDuration.optional()),
  }),
  listed: ['name', 'email', 'status'],
  example: '--organization 1 --name "Directory Sync" --email sync@northgate.example',
} as const satisfies Resource

export const directory = {
  name: 'directory',
  withArticle: 'a directory',
  purpose: 'Directories of the organizations.',
  owner: 'organization',
  schema: z.strictObject({
    id,
    name: field(name, 'Its name.'),
    doppler: fileOnly(z.boolean().default(false)),
    target_type: field(text.default('ldap'), 'What it is filled from (default: ldap).'),
  }),
  listed: ['name', 'target_type', 'users', 'groups'],
  example: '--organization 1 --name "Northgate people"',
} as const satisfies Resource

const icons = z.strictObject({
  small: field(url, 'URL of a small picture.', { flag: 'icon-small' }),
  large: field(url, 'URL of a large picture.', { flag: 'icon-large' }),
})

const no = z.boolean().default(false)

export const provider = {
  name: 'provider',
  withArticle: 'a provider',
  purpose: 'Applications that can be installed: one catalogue for all organizations.',
  schema: z.strictObject({
    id,
    name: field(name, 'Its name.'),
    slug: field(text, 'Its name in addresses.'),
    login_method: field(text.default('form'), 'How people log in (default: form).'),
    launch_timeout: field(count.default(30), 'Seconds that a launch may take (default: 30).'),
    icons: icons.extend({
      color_code: field(
        z.string().regex(/^#[0-9a-f]{6}$/i, { error: 'must be a colour such as "#0a5fb4"' }),
        'The colour behind its first letter, such as "#0a5fb4".',
        { flag: 'color' },
      ),
      first_letter: field(text, 'The letter that stands for it.', { flag: 'letter' }),
    }),
    capabilities: z
      .strictObject({
        has_sync: field(no, 'It has a synchronization.'),
        has_saml: field(no, 'It takes SAML assertions.'),
        has_provision: field(no, 'Accounts can be made in it.'),
        has_password_reset: field(no, 'Passwords can be reset in it.'),
        has_import: field(no, 'Accounts can be imported from it.'),
        unsupported_browsers: field(z.array(text).default([]), 'A browser that it does not work in.', {
          flag: 'unsupported-browser',
        }),
      })
      .prefault({}),
  }),
  listed: ['name', 'slug', 'login_method'],
  example:
    '--name Meridian --slug meridian --has-saml --color "#0a5fb4" --letter M\n' +
    '    --icon-small https://icons.example/m-32.png --icon-large https://icons.example/m-128.png',
} as const satisfies Resource

const serviceProvider = z.strictObject({
  entityId: field(text, 'The SAML entity id of the application, which gets the assertions.', {
    flag: 'sp-entity-id',
  }),
  acsUrl: field(url, 'Its assertion consumer service (HTTP-POST).'),
  nameId: field(
    z.enum(['email', 'login'], { error: 'must be email or login' }).default('email'),
    'Who the subject is: email of the contact, or login of the subscription (default: email).',
  ),
})

export const installation = {
  name: 'installation',
  withArticle: 'an installation',
  purpose: 'Applications as an organization uses them.',
  owner: 'organization',
  schema: z
    .strictObject({
      id,
      provider: field(id, 'The provider of the application.'),
      name: field(name, 'Its name.'),
      slug: field(text, 'Its name in addresses.'),
      status: field(text.default('active'), 'Its status (default: active).'),
      created_at: createdAt,
      labels: field(z.array(text).default([]), 'A label.', { flag: 'label' }),
      requires_mfa_code: field(no, 'A launch needs a second factor.'),
      icons: icons.optional(),
      configuration: z.strictObject({
        url: field(url, 'Its address.'),
        saml: field(no, 'People log in with SAML.'),
        namespace: field(z.array(text).default([]), 'A namespace.'),
        authentication_type: field(text.default('password'), 'How people log in (default: password).'),
        install_type: field(text.default('manual'), 'How it was installed (default: manual).'),
        extra: fileOnly(z.json().default(null)),
        login: fileOnly(z.json().default(null)),
      }),
      serviceProvider: serviceProvider.optional(),
    })
    .refine((value) => !value.configuration.saml || value.serviceProvider !== undefined, {
      error: 'must have a "serviceProvider" because its configuration says saml: true',
      path: ['serviceProvider'],
    }),
  listed: ['name', 'provider', 'status'],
  example:
    '--organization 1 --provider 1 --name Meridian --slug meridian --url https://meridian.example --saml\n' +
    '    --sp-entity-id https://meridian.example/saml/metadata --acs-url https://meridian.example/saml/acs',
} as const satisfies Resource

const credentials = z.record(text, z.string({ error: 'must be text; put it into quotes' }))
const appCredentials = z.strictObject({ login: text, password: text })
const yes = z.boolean().default(true)

export const subscription = {
  name: 'subscription',
  withArticle: 'a subscription',
  purpose: 'What a contact may open.',
  owner: 'contact',
  schema: z
    .strictObject({
      id,
      installation: field(id, 'The installation that it opens.'),
      kind: field(
        z.enum(['app', 'vault-item'], { error: 'must be app or vault-item' }).default('app'),
        'app or vault-item (default: app).',
      ),
      name: field(name, 'Its name.'),
      status: field(text.default('active'), 'Its status (default: active).'),
      created_at: createdAt,
      favorite: field(no, 'The contact has marked it.'),
      position: field(count.default(0), "Its position in the contact's own order (default: 0)."),
      last_login: fileOnly(timeOrDuration.optional()),
      launch_url: field(url.optional(), 'Where it is opened (default: the address of the installation).'),
      requires_mfa_code: field(no, 'Opening it needs a second factor.'),
      bookmarks: fileOnly(z.array(z.json()).default([])),
      permissions: z
        .strictObject({
          can_view_password: field(yes, 'The contact may read the credentials (default).'),
          can_reset_password: field(yes, 'The contact may reset the password (default).'),
        })
        .prefault({}),
      credentials: field(
        credentials,
        'YAML or JSON file with the secrets by name: login and password for an app, any names for a vault item; - reads standard input.',
      ),
    })
    .refine((value) => value.kind === 'vault-item' || appCredentials.safeParse(value.credentials).success, {
      error: 'must be "login" and "password" for an app',
      path: ['credentials'],
    }),
  listed: ['name', 'installation', 'kind', 'status'],
  example: '--contact 1 --installation 1 --name Meridian --credentials ada.yaml',
} as const satisfies Resource

export const group = {
  name: 'group',
  withArticle: 'a group',
  purpose: 'Groups of the organizations: contacts and installations.',
  owner: 'organization',
  schema: z.strictObject({
    id,
    name: field(name, 'Its name.'),
    created_at: createdAt,
    contacts: field(z.array(id).default([]), 'A contact that is in it.', { flag: 'contact' }),
    installations: field(z.array(id).default([]), 'An installation that it may open.', {
      flag: 'installation',
    }),
  }),
  listed: ['name', 'contacts', 'installations'],
  example: '--organization 1 --name Sales --contact 1 --installation 1',
} as const satisfies Resource

/** In the order in which one may refer to another. */
export const resources = {
  organization,
  contact,
  directory,
  provider,
  installation,
  subscription,
  group,
} as const

export type ResourceName = keyof typeof resources
export type ResourceValue<Name extends ResourceName> = z.output<(typeof resources)[Name]['schema']>
