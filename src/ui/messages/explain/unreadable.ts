import type { Story } from '../../../operations/story.ts'
import { type Case, titleOf, withoutStop } from './case.ts'

export function sourceDown({ sync }: Story, error: string): Case {
  return {
    code: 'source-unreadable',
    why: `The source cannot be read now, so only what earlier runs saw is known: ${withoutStop(error)}`,
    next: 'While the source cannot be read, a run changes nothing',
    todo: `dirsyncd check ${sync} shows whether the source can be read again`,
  }
}

/** @param known what the source says, as a clause */
export function directoryDown(facts: Story, error: string, known = inSource(facts)): Case {
  return {
    code: 'directory-unreadable',
    why: `${known}, and what the directory has cannot be asked now: ${withoutStop(error)}`,
    next: 'While the directory cannot be read, a run changes nothing',
    todo: `dirsyncd check ${facts.sync} shows whether the directory can be read again`,
  }
}

function inSource(facts: Story): string {
  return `The source ${facts.source.entries.length === 0 ? 'does not have' : 'has'} ${titleOf(facts)}`
}
