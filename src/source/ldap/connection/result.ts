/** The result codes of RFC 4511 that a read can meet, in words. */
const RESULTS = new Map<number, string>([
  [1, 'operationsError'],
  [2, 'protocolError'],
  [3, 'timeLimitExceeded: the server gave up after its time limit'],
  [4, 'sizeLimitExceeded: the server gave up after its limit of entries'],
  [7, 'authMethodNotSupported'],
  [8, 'strongerAuthRequired: the server wants TLS, so use ldaps:// or startTls'],
  [10, 'referral: the entries are on another server'],
  [11, 'adminLimitExceeded: the server gave up after a limit set by its administrator'],
  [12, 'unavailableCriticalExtension'],
  [13, 'confidentialityRequired: the server wants TLS, so use ldaps:// or startTls'],
  [14, 'saslBindInProgress'],
  [18, 'inappropriateMatching'],
  [21, 'invalidAttributeSyntax'],
  [32, 'noSuchObject'],
  [33, 'aliasProblem'],
  [34, 'invalidDNSyntax'],
  [36, 'aliasDereferencingProblem'],
  [48, 'inappropriateAuthentication'],
  [49, 'invalidCredentials'],
  [50, 'insufficientAccessRights'],
  [51, 'busy: the server has too much to do'],
  [52, 'unavailable: the server cannot answer now'],
  [53, 'unwillingToPerform'],
  [54, 'loopDetect'],
  [71, 'affectsMultipleDSAs'],
  [80, 'an error of its own'],
])

export const SUCCESS = 0
const TIME_LIMIT_EXCEEDED = 3
export const SIZE_LIMIT_EXCEEDED = 4
export const REFERRAL = 10
export const ADMIN_LIMIT_EXCEEDED = 11
export const NO_SUCH_OBJECT = 32
export const INVALID_DN = 34
export const INVALID_CREDENTIALS = 49
export const INSUFFICIENT_ACCESS = 50
const BUSY = 51
const UNAVAILABLE = 52
const OTHER = 80

/** The server cannot answer now; another one may. */
export function isOutage(code: number): boolean {
  return code === BUSY || code === UNAVAILABLE || code === OTHER
}

/** `undefined` where the words suffice, or no remedy is known. */
export function remedyFor(code: number): string | undefined {
  if (isOutage(code)) return 'the next run reads again from the beginning'
  const isLimit = [TIME_LIMIT_EXCEEDED, SIZE_LIMIT_EXCEEDED, ADMIN_LIMIT_EXCEEDED].includes(code)
  return isLimit ? 'have this limit raised for the bind user' : undefined
}

export function resultInWords(code: number, diagnostic: string): string {
  const words = `${RESULTS.get(code) ?? 'an unknown result'} (result ${code})`
  return diagnostic === '' ? words : `${words}; the server says "${diagnostic}"`
}

/** Its name in RFC 4511; `other` where it has none. */
export function resultName(code: number): string {
  if (code === SUCCESS) return 'success'
  return code === OTHER ? 'other' : (RESULTS.get(code)?.split(':')[0] ?? 'other')
}
