import { hang, wrap } from './wrap.ts'

/** Fewer columns are unreadable. */
const NARROWEST = 24

/** Of an option, an argument or a command; all descriptions begin at the same column. */
export function itemLines(
  term: string,
  description: string,
  { termWidth, columns }: { readonly termWidth: number; readonly columns: number },
): string[] {
  return beside(`  ${term.padEnd(termWidth)}  `, description, columns)
}

/**
 * Paragraphs and indented lines. An indented line is a command to copy, which is never broken, or a term and its
 * meaning, separated by two blanks or more.
 */
export function textLines(text: string, columns: number): string[] {
  const lines = text.replaceAll(/^(\S.*)\n(?=\S)/gm, '$1 ').split('\n')
  return lines.flatMap((line) => {
    const [, what, meaning] = /^( +\S+(?: \S+)* {2,})(\S.*)$/.exec(line) ?? []
    if (what !== undefined && meaning !== undefined) return beside(what, meaning, columns)
    return line.startsWith(' ') ? [line] : wrap(line, columns)
  })
}

/** The meaning is below where there is no room beside. */
function beside(what: string, meaning: string, columns: number): string[] {
  const longest = Math.max(...meaning.split(' ').map((word) => word.length))
  if (columns - what.length >= Math.max(longest, NARROWEST)) return hang(what, meaning, columns)
  return [what.trimEnd(), ...hang('      ', meaning, columns)]
}
