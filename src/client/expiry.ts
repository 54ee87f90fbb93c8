const WARN_BELOW_SECONDS = 86_400

/** The token's remaining life as the service last reported it, read as seconds. Only used for warnings. */
export interface Expiry {
  secondsLeft: number | undefined
  observe(header: string | string[] | undefined): void
}

/** Calls `warn` once each time the remaining life falls below a day. */
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
