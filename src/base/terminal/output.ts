/** A stream that a command prints to. */
export interface Output {
  write(text: string): void
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

export const CLEAR_LINE = '\r\u001B[2K'

/** What removes a progress line from a terminal, before something else is written there. */
export function clearLine(output: Output): string {
  return output.isTTY === true ? CLEAR_LINE : ''
}
