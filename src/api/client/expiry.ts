const WARN_BELOW_SECONDS = 86_400

/** The token's remaining life as last reported. The client takes it as seconds and only warns. */
export interface Expiry {
  secondsLeft: number | undefined
  observe(header: string | string[] | undefined): void
}

/**
 * Calls `warn` once each time the remaining life falls below a day. With `onTokenLife`, it calls that for each answer
 * that reports a life, and never warns.
 */
export function watchExpiry(
  warn: (secondsLeft: number) => void,
  onTokenLife: ((secondsLeft: number) => void) | undefined,
): Expiry {
  let warned = false
  return {
    secondsLeft: undefined,
    observe(header) {
      if (typeof header !== 'string' || !/^-?\d{1,12}(\.\d+)?$/.test(header.trim())) return
      this.secondsLeft = Number(header)
      if (onTokenLife !== undefined) {
        onTokenLife(this.secondsLeft)
        return
      }
      const low = this.secondsLeft < WARN_BELOW_SECONDS
      if (low && !warned) warn(this.secondsLeft)
      warned = low
    },
  }
}
