/** Below this many seconds a token counts as about to expire. */
const WARN_BELOW_SECONDS = 86_400

/** What the service last said about the token's life. The unit is taken to be seconds; nothing ever stops for it. */
export interface Expiry {
  secondsLeft: number | undefined
  observe(header: string | string[] | undefined): void
}

/** Calls `warn` once each time that the number falls below a day. */
export function watchExpiry(warn: (secondsLeft: number) => void): Expiry {
  let warned = false
  return {
    secondsLeft: undefined,
    observe(header) {
      if (typeof header !== 'string' || !/^-?\d{1,12}(\.\d+)?$/.test(header.trim())) return
      this.secondsLeft = Number(header)
      const low = this.secondsLeft < WARN_BELOW_SECONDS
      if (low && !warned) warn(this.secondsLeft)
      warned = low
    },
  }
}
