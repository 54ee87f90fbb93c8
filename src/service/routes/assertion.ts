import { MAX_RELAY_STATE } from '../../api/contract/endpoints.ts'
import { fieldProblem, notFound, Problem } from '../http/problem.ts'
import { metadataOf } from '../saml/metadata.ts'
import { createResponse, type ServiceProvider } from '../saml/response.ts'
import { isClean } from '../saml/xml.ts'
import { recordEvents } from '../store/events.ts'
import { currentSigningKey, listSigningKeys } from '../store/signing-keys.ts'
import { findLaunch, type Launch, recordLogin } from '../store/launches.ts'
import { timestamp } from '../timestamp.ts'
import { splitPersonName } from '../values.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'

/** Signs the response before the transaction, and sends it only after its event is committed. */
export async function createAssertion(
  { db, vault }: HandlerDeps,
  call: Call<'createAssertion'>,
): Promise<ResponseOf<'createAssertion'>> {
  const { grant, origin, organizationId, subscriptionId, form } = call
  checkRelayState(form.RelayState)
  const launch = await findLaunch(db, grant.contactId, subscriptionId)
  if (launch === undefined) throw notFound()
  const to = serviceProviderOf(launch)
  const nameId = nameIdOf(to, grant.contactEmail, launch.login)
  const key = await currentSigningKey(db, vault, organizationId, origin.at)
  const certificates = (await listSigningKeys(db, organizationId)).map(({ certificate }) => certificate)
  const attributes = attributesOf(grant.contactEmail, grant.contactName)
  const { xml, expiresAt } = createResponse(launch.entityId, key, to, { nameId, attributes }, origin.at)
  await db.transaction().execute(async (trx) => {
    if (!(await recordLogin(trx, grant.contactId, subscriptionId, origin.at))) throw notFound()
    await recordEvents(trx, origin, [
      {
        type: 'create_assertion',
        operation: 'create',
        description: `${grant.contactName} created a SAML assertion for ${launch.name}.`,
        subject: { type: 'subscription', id: subscriptionId, name: launch.name, email: '' },
      },
    ])
  })
  return {
    saml_response: Buffer.from(xml).toString('base64'),
    acs_url: to.acsUrl,
    ...(form.RelayState === undefined ? {} : { relay_state: form.RelayState }),
    issuer: launch.entityId,
    metadata: metadataOf({ entityId: launch.entityId, certificates }, call.baseUrl),
    certificate: key.certificate,
    expires_at: timestamp(expiresAt),
  }
}

function checkRelayState(relayState: string | undefined): void {
  if (relayState === undefined) return
  const message = relayStateError(relayState)
  if (message !== undefined) throw fieldProblem('value-not-allowed', [{ field: 'RelayState', message }])
}

function relayStateError(relayState: string): string | undefined {
  if (!relayState.isWellFormed()) return 'must be well-formed Unicode'
  if (Buffer.byteLength(relayState) > MAX_RELAY_STATE)
    return `must not be longer than ${MAX_RELAY_STATE} bytes`
  return undefined
}

function serviceProviderOf(launch: Launch): ServiceProvider {
  const { kind, configuration, capabilities, serviceProvider } = launch
  if (kind !== 'app') throw unsupported('A vault item has no application to sign in to.')
  if (!capabilities.has_saml) throw unsupported('The provider of the installation does not support SAML.')
  if (!configuration.saml) throw unsupported('The installation is not set up for SAML.')
  if (serviceProvider === null || !isClean(serviceProvider.entityId) || !isClean(serviceProvider.acsUrl)) {
    throw unsupported('The installation has no usable SAML service provider.')
  }
  return serviceProvider
}

/** Refuses an unclean name id and does not change it: without a character it may name another account. */
function nameIdOf({ nameId }: ServiceProvider, email: string, login: string): string {
  const value = nameId === 'email' ? email : login
  if (value !== value.trim() || value === '' || !isClean(value)) {
    const what = nameId === 'email' ? 'e-mail of the contact' : 'login of the subscription'
    throw unsupported(`The ${what} is empty or has characters that a SAML name id cannot carry.`)
  }
  return value
}

function attributesOf(email: string, name: string): Record<string, string | null> {
  const { first, last } = splitPersonName(name)
  return { email, first_name: first, last_name: last, name }
}

function unsupported(detail: string): Problem {
  return new Problem('not-supported', detail)
}
