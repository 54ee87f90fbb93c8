import type { ParseError } from '@marcbachmann/cel-js'

/** The parser's names of tokens, and how messages show them. */
const TOKENS: ReadonlyMap<string, string> = new Map([
  ['LPAREN', '"("'],
  ['RPAREN', '")"'],
  ['LBRACKET', '"["'],
  ['RBRACKET', '"]"'],
  ['LBRACE', '"{"'],
  ['RBRACE', '"}"'],
  ['COMMA', '","'],
  ['COLON', '":"'],
  ['QUESTION', '"?"'],
  ['DOT', '"."'],
  ['IDENTIFIER', 'a name'],
  ['STRING', 'a text in quotes'],
  ['NUMBER', 'a number'],
  ['EOF', 'the end'],
])

/** In terms of this language, not of the parser. */
export function parseProblem({ code, summary }: ParseError): string {
  if (code === 'reserved_identifier') return `${summary}; write an attribute of this name as attr("…")`
  if (code === 'invalid_escape_sequence') return `${summary}; write regular expressions as r"…"`
  if (code === 'unterminated_string') return 'the quote that ends this text is missing'
  const [, expected, got] = /^Expected (\w+), got (\w+)$/.exec(summary) ?? []
  if (expected !== undefined && got !== undefined)
    return `${nameOf(expected)} is missing before ${nameOf(got)}`
  const [, token] = /^Unexpected token: (\w+)$/.exec(summary) ?? []
  if (token === 'EOF') return 'something is missing at the end'
  if (token !== undefined) return `${nameOf(token)} does not belong here`
  if (/^Unexpected character: '.'$/su.test(summary)) return 'an operator or a comma is missing before this'
  const [, character] = /^Unexpected character: (.)$/su.exec(summary) ?? []
  if (character === '=') return '"=" does not belong here; "==" is equality'
  if (character !== undefined) return `${JSON.stringify(character)} does not belong here`
  return summary
}

function nameOf(token: string): string {
  return TOKENS.get(token) ?? 'an operator'
}
