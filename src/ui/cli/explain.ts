import { type Command, Option } from 'commander'
import type { Kind } from '../../core/entries/entry.ts'
import { digits } from '../../base/wording.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { Runner, Session } from './context.ts'
import { openControl, syncNames } from './open-control.ts'
import { EXIT } from './exit-code.ts'
import { judgementOf } from '../messages/explain/verdict.ts'
import { renderExplanation } from './render/explain.ts'

const HELP = `
WHO is an id, an e-mail, a name or a DN. The answer begins with the reason in one sentence, and ends with what the next run
does and what you can do. In between: what the source has and how its values were made, what the directory has, and what
earlier runs said and did. Changes nothing. Looks also outside of the sync's base and filter.

Exit codes: 0 one entry was explained   1 several fit, nobody is known, or a side could not be read

Examples:
  dirsyncd explain corp ana@example.org
  dirsyncd explain corp "Ana Šimić"
  dirsyncd explain corp uid=ana,ou=people,dc=example,dc=org
  dirsyncd explain corp 7b1c6d0a-52f4-103e-9a53-2f7c0e4d8c11 --kind user
  dirsyncd explain corp ana@example.org --json | jq .verdict`

export function addExplain(program: Command, run: Runner): void {
  program
    .command('explain')
    .description('Tell why a user or group is, or is not, in the directory, and what the next run does.')
    .argument('<sync>', 'The sync.')
    .argument('<who>', 'An id, an e-mail, a name or a DN.')
    .addOption(new Option('--kind <kind>', 'Only a user, or only a group.').choices(['user', 'group']))
    .addHelpText('after', HELP)
    .action((sync: string, who: string, options: { readonly kind?: Kind }) =>
      run((session) => explainEntry(session, sync, who, options.kind)),
    )
}

const LONGEST_WHO = 4000

async function explainEntry(
  session: Session,
  sync: string,
  who: string,
  kind: Kind | undefined,
): Promise<number> {
  if (who.length > LONGEST_WHO)
    throw new DirsyncdError('usage', `WHO may have at most ${digits(LONGEST_WHO)} characters.`)
  await syncNames(session, sync)
  await using control = await openControl(session, { tables: 'keep' })
  const explanation = await control.explain({ sync, who, kind }, session.signal)
  const judgement = explanation.result === 'several' ? undefined : judgementOf(explanation)
  if (session.json) session.printJson({ ...explanation, ...judgement })
  else for (const line of renderExplanation(explanation, session.columns)) session.print(line)
  const isKnown = explanation.result === 'one' && judgement?.verdict.code.endsWith('-unreadable') === false
  return isKnown ? EXIT.done : EXIT.error
}
