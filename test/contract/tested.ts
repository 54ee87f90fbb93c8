import type { TestedService } from '../../src/api/conformance/conformance.ts'
import { FIXTURE } from '../support/fixture.ts'

/** A service with the wide fixture, as the conformance suite tests it with all its options. */
export function testedService(baseUrl: string): TestedService {
  return {
    baseUrl,
    organizationId: FIXTURE.organizationId,
    directoryId: FIXTURE.directoryId,
    token: FIXTURE.token,
    deviceId: 'contract-suite',
    writes: true,
    resetSubscriptionId: FIXTURE.samlSubscriptionId,
    emailDomain: 'example.org',
  }
}
