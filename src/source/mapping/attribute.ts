import { DirsyncdError } from '../../base/errors.ts'

/** Returns why this source cannot have an attribute of this name; `undefined` when it can. */
export type NameCheck = (attribute: string) => string | undefined

/** Trimmed. Throws `config-invalid` with a sentence that begins with the key, such as `users.map.external_id: …`. */
export function compileAttribute(attribute: string, key: string, check: NameCheck): string {
  const name = attribute.trim()
  if (name === '') throw invalid(key, 'the name of an attribute is missing')
  const syntax = syntaxOf(name)
  if (syntax !== undefined)
    throw invalid(key, `"${name}" is ${syntax}, and only one plain attribute can be used here`)
  const problem = check(name)
  if (problem !== undefined) throw invalid(key, problem)
  return name
}

function syntaxOf(text: string): string | undefined {
  if (text.startsWith('=')) return 'an expression'
  return /[{}]/.test(text) ? 'a template' : undefined
}

export function invalid(key: string, problem: string): DirsyncdError {
  return new DirsyncdError('config-invalid', `${key}: ${problem}`)
}
