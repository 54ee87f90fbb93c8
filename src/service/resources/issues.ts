import type { z } from 'zod'
import { flagsOf } from './flags.ts'
import type { Resource } from './resource.ts'

/**
 * `The email must be an e-mail address.`; with a resource, a field is named like its option: `--domain must be …`.
 * `prefix` precedes the name of the option.
 */
export function describeIssues(
  { issues }: Pick<z.ZodError, 'issues'>,
  resource?: Resource,
  prefix: string = '',
): string {
  const flags = resource === undefined ? [] : flagsOf(resource)
  const sentences = issues.map((issue) => {
    const path = issue.path.map(String)
    const flag = flags.find((each) => each.path.every((part, index) => path[index] === part))
    const subject = flag === undefined ? `The ${wordsOf(issue.path)}` : `--${prefix}${flag.name}`
    if (issue.code === 'invalid_type' && issue.input === undefined) return `${subject} is missing.`
    const inFile = flag?.kind === 'file' ? path.slice(flag.path.length).join('.') : ''
    return `${subject}${inFile === '' ? '' : `: ${inFile}`} ${issue.message}.`
  })
  return [...new Set(sentences)].join(' ')
}

/** `allowedDomains[1]` as `allowed domain`: a command has no indexes. */
function wordsOf(path: readonly PropertyKey[]): string {
  const inList = path.some((part) => typeof part === 'number')
  const words = String(path[0] ?? 'input').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return inList ? words.replace(/s$/, '') : words
}
