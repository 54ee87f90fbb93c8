import { fold } from '../../base/terminal/wrap.ts'
import type { Session } from './context.ts'

/** Prints any number of lines, folded to the terminal's width. */
export function printLines({ print, columns }: Session, lines: readonly string[]): void {
  for (const line of fold(lines, columns)) print(line)
}
