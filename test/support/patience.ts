/** Ends a test that hangs, and none that is slow: a busy machine takes a minute for what takes a second elsewhere. */
export const PATIENCE = { timeout: 120_000, interval: 20 } as const
