import type { TestedService } from '../../src/api/conformance/conformance.ts'
import { FIXTURE } from '../support/fixture.ts'
import { MARKER } from './wide-fixture.ts'

/**
 * A service with the wide fixture as the conformance suite tests it, with all that the suite can be given but for
 * `expendable`.
 */
export function wholeTarget(baseUrl: string): TestedService {
  return {
    baseUrl,
    organizationId: FIXTURE.organizationId,
    directoryId: FIXTURE.directoryId,
    token: FIXTURE.token,
    deviceId: 'contract-suite',
    writes: true,
    resetSubscriptionId: FIXTURE.samlSubscriptionId,
    emailDomain: 'example.org',
    tokens: {
      expired: FIXTURE.expiredToken,
      without: {
        ORG_READ: FIXTURE.writeOnlyToken,
        ORG: FIXTURE.readOnlyToken,
        USER_READ: FIXTURE.userWriteToken,
        USER: FIXTURE.userReadToken,
      },
    },
    foreign: {
      organization_id: String(FIXTURE.otherOrganizationId),
      directory_id: String(FIXTURE.otherDirectoryId),
      external_id: `theirs ${MARKER}`,
      subscription_id: String(FIXTURE.otherSubscriptionId),
      group_id: String(FIXTURE.otherGroupId),
    },
  }
}
