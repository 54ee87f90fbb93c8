import { z } from 'zod'
import { icons, link, timestamp } from './values.ts'

/**
 * What a contact may open, with its installation and provider. Where the description gives no type, such as for the
 * elements of some lists, the schema accepts anything.
 */

const capabilities = z.looseObject({
  has_sync: z.boolean(),
  has_saml: z.boolean(),
  has_provision: z.boolean(),
  has_password_reset: z.boolean(),
  has_import: z.boolean(),
  unsupported_browsers: z.array(z.unknown()),
})

export const provider = z.looseObject({
  id: z.int(),
  name: z.string(),
  slug: z.string(),
  login_method: z.string(),
  launch_timeout: z.int(),
  icons: z.looseObject({ ...icons.shape, color_code: z.string(), first_letter: z.string() }),
  capabilities,
})

export const configuration = z.looseObject({
  url: link,
  saml: z.boolean(),
  namespace: z.array(z.string()),
  authentication_type: z.string(),
  install_type: z.string(),
  extra: z.unknown().nullable(),
  login: z.unknown().nullable(),
})

export const installation = z.looseObject({
  id: z.int(),
  name: z.string(),
  slug: z.string(),
  status: z.string(),
  created_at: timestamp,
  labels: z.array(z.unknown()),
  requires_mfa_code: z.boolean(),
  icons: icons
    .optional()
    .describe(
      'Present only if the installation has its own icons; otherwise show the icons of the provider.',
    ),
  provider,
  configuration,
})

export const passwordStrength = z.looseObject({
  grade: z.string(),
  score: z.number().describe('From 0, very weak, to 4, strong.'),
  crack_time: z
    .unknown()
    .nullable()
    .describe('The seconds needed to guess the password from a stolen slow hash.'),
})

export const subscription = z.looseObject({
  id: z.int(),
  name: z.string(),
  status: z.string(),
  created_at: timestamp,
  favorite: z.boolean(),
  position: z.int().describe("The position in the contact's own order; the list is not sorted by it."),
  last_login: timestamp.nullable(),
  launch_url: link,
  requires_mfa_code: z.boolean(),
  login: z.string().describe('The login of an app; empty for a vault item.'),
  bookmarks: z.array(z.unknown()),
  password_strength: passwordStrength,
  permissions: z.looseObject({ can_view_password: z.boolean(), can_reset_password: z.boolean() }),
  installation,
})

export const subscriber = z.looseObject({
  id: z.int(),
  status: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  name: z.string(),
  email: z.string(),
  created_at: timestamp,
  last_activity: timestamp,
  last_activity_in_seconds: z.number().describe('How many seconds ago the last activity was.'),
  average_password_score: z.looseObject({ grade: z.string(), score: z.number() }),
})

/** The answer for a single subscription; the list has no `subscriber`. */
export const subscriptionWithSubscriber = z.looseObject({ ...subscription.shape, subscriber })

/** For an app `login` and `password`; for a vault item, its own property names. */
export const credentials = z.record(z.string(), z.unknown())

/** For a SAML sign-in to an installation. The description shows no body, so this service chose the names. */
export const assertion = z.looseObject({
  saml_response: z
    .base64()
    .describe('The signed response, in base64: the field `SAMLResponse` of a form of the HTTP-POST binding.'),
  acs_url: link.describe(
    "The absolute URL to post the form to: the service provider's assertion consumer service.",
  ),
  relay_state: z
    .string()
    .optional()
    .describe('The field `RelayState` of the form; present only if it was sent.'),
  issuer: z.string().describe("The identity provider's entity id."),
  metadata: z
    .string()
    .describe(
      "The identity provider's metadata, XML. Every login starts with this request; authentication requests of service providers are not answered. The metadata lists a single sign-on service only because its schema requires one.",
    ),
  certificate: z.string().describe('The certificate that verifies the signature, PEM.'),
  expires_at: timestamp.describe('After this time the response is refused.'),
})

export type Provider = z.infer<typeof provider>
export type Configuration = z.infer<typeof configuration>
export type Installation = z.infer<typeof installation>
export type PasswordStrength = z.infer<typeof passwordStrength>
export type Subscription = z.infer<typeof subscription>
export type Subscriber = z.infer<typeof subscriber>
export type SubscriptionWithSubscriber = z.infer<typeof subscriptionWithSubscriber>
export type Credentials = z.infer<typeof credentials>
export type Assertion = z.infer<typeof assertion>
