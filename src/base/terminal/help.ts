import { hang, wrap } from './wrap.ts'

/** Fewer columns would make a tower of words. */
const NARROWEST = 24

/** An option, an argument or a command of a help, whose description begins at the same column in each. */
export function itemLines(
  term: string,
  description: string,
  { termWidth, columns }: { readonly termWidth: number; readonly columns: number },
): string[] {
  return beside(`  ${term.padEnd(termWidth)}  `, description, columns)
}

/**
 * The text below the options: paragraphs, and indented lines. An indented line is a command to be pasted, which is never
 * broken, or something with its meaning, which stands two blanks or more behind it.
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
