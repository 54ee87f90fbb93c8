/** RFC 4511 names its result codes; these are the ones that a reader can meet, with what they mean for a person. */
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

/** Results of a server that is not able to answer now, whoever asks; another server may well be. */
export function isOutage(code: number): boolean {
  return code === BUSY || code === UNAVAILABLE || code === OTHER
}

/** What can be done about a read that ended with this result; `undefined` where the words say it, or nobody knows. */
export function remedyFor(code: number): string | undefined {
  if (isOutage(code)) return 'the next run reads again from the beginning'
  const isLimit = [TIME_LIMIT_EXCEEDED, SIZE_LIMIT_EXCEEDED, ADMIN_LIMIT_EXCEEDED].includes(code)
  return isLimit ? 'have this limit raised for the bind user' : undefined
}

/** The code in words, with what the server itself says about it. */
export function resultInWords(code: number, diagnostic: string): string {
  const words = `${RESULTS.get(code) ?? 'an unknown result'} (result ${code})`
  return diagnostic === '' ? words : `${words}; the server says "${diagnostic}"`
}

/** Its name in RFC 4511; `other` also where that has none. */
export function resultName(code: number): string {
  if (code === SUCCESS) return 'success'
  return code === OTHER ? 'other' : (RESULTS.get(code)?.split(':')[0] ?? 'other')
}
