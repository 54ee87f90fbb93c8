export interface Output {
  write(text: string): void
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

export const CLEAR_LINE = '\r\u001B[2K'

export function clearLine(output: Output): string {
  return output.isTTY === true ? CLEAR_LINE : ''
}
