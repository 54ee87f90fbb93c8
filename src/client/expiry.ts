const WARN_BELOW_SECONDS = 86_400

/** The token's remaining life as the service last reported it, read as seconds. Only used for warnings. */
export interface Expiry {
  secondsLeft: number | undefined
  observe(header: string | string[] | undefined, token: string): void
}

/**
 * Calls `warn` once each time the remaining life falls below a day. With `onTokenLife` it leaves this to the caller and
 * tells it the token and the life that each answer reports.
 */
export function watchExpiry(
  warn: (secondsLeft: number) => void,
  onTokenLife: ((token: string, secondsLeft: number) => void) | undefined,
): Expiry {
  let warned = false
  return {
    secondsLeft: undefined,
    observe(header, token) {
      if (typeof header !== 'string' || !/^-?\d{1,12}(\.\d+)?$/.test(header.trim())) return
      this.secondsLeft = Number(header)
      if (onTokenLife !== undefined) {
        onTokenLife(token, this.secondsLeft)
        return
      }
      const low = this.secondsLeft < WARN_BELOW_SECONDS
      if (low && !warned) warn(this.secondsLeft)
      warned = low
    },
  }
}
