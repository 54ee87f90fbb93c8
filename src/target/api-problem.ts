import { type ApiError, type ApiErrorKind, isApiError } from '../api/client/api-error.ts'
import { WEB_PAGE } from '../api/client/failure.ts'
import { DirsyncdError, type ErrorCode } from '../base/errors.ts'

/** Turns `ApiError` into `DirsyncdError`, and an abort into `interrupted`. Returns any other error unchanged. */
export function apiProblem(error: unknown): unknown {
  if (!isApiError(error)) return error
  if (isPageOfAnother(error)) {
    return new DirsyncdError('directory-unexpected', notTheService(error), { cause: error })
  }
  const [code, first] = remedyOf(error)
  const isOfProxy = error.isWebPage && isApiError(error, 'unauthorized', 'forbidden')
  const remedy = isOfProxy
    ? `${CHECK_PROXY} If they are right: ${first.charAt(0).toLowerCase()}${first.slice(1)}`
    : first
  return new DirsyncdError(code, remedy === '' ? error.message : `${error.message} ${remedy}`, {
    cause: error,
  })
}

const CHECK_BASE_URL = 'Check that baseUrl is the address of the access-management service.'
export const CHECK_PROXY = 'Check directory.baseUrl and directory.proxy.'
const LOOK_BETWEEN =
  'The next run reads again; if this goes on, look at what stands between dirsyncd and the service (a proxy, a cache).'

/** Failures that the service, or a proxy before it, may report with a web page. */
const MAY_COME_AS_PAGE: ReadonlySet<ApiErrorKind> = new Set([
  'server-error',
  'rate-limited',
  'unauthorized',
  'forbidden',
  'aborted',
])

/** The redirect itself tells more than its HTML page. */
function isPageOfAnother({ isWebPage, kind, status = 200 }: ApiError): boolean {
  return isWebPage && !MAY_COME_AS_PAGE.has(kind) && Math.floor(status / 100) !== 3
}

function notTheService({ destination: { method, path, baseUrl }, status }: ApiError): string {
  return (
    `What answered ${method} ${path} at ${baseUrl} with ${status} is not the access-management service: ` +
    `it sent ${WEB_PAGE}. ${CHECK_PROXY}`
  )
}

function remedyOf(error: ApiError): readonly [code: ErrorCode, remedy: string] {
  switch (error.kind) {
    case 'unreachable':
      return ['directory-unreachable', remedyOfNetwork(error.failure.place)]
    case 'server-error':
      return ['directory-unreachable', 'The service has a problem of its own; try again later.']
    case 'rate-limited':
      return ['directory-unreachable', 'Lower rateLimit, or try again later.']
    case 'unauthorized':
      return ['token-refused', 'Check that the token is the right one for this service and has not expired.']
    case 'forbidden':
      return ['scope-missing', `The token needs the scope ${error.destination.scope} for this endpoint.`]
    case 'not-found':
      return ['directory-unknown', 'Check directoryId and organizationId.']
    case 'conflict':
    case 'refused':
      return ['directory-unexpected', CHECK_BASE_URL]
    case 'unexpected-answer':
      return ['directory-unexpected', error.failure.foreign === undefined ? LOOK_BETWEEN : CHECK_BASE_URL]
    case 'aborted':
    case 'closed':
      return ['interrupted', '']
  }
}

function remedyOfNetwork(place: ApiError['failure']['place']): string {
  switch (place) {
    case 'certificate':
      return 'Name the CA of the service in directory.ca.'
    case 'proxy':
      return 'Check directory.proxy; NO_PROXY names hosts that are reached without it.'
    case 'answer':
      return 'Check baseUrl, what stands between dirsyncd and the service (a proxy, a load balancer), and whether the service is up.'
    case undefined:
      return 'Check baseUrl and whether the service is up.'
  }
}
