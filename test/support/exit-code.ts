import type { Kysely } from 'kysely'
import { openQuestionsOf } from '../../src/operations/open-questions.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import type { Tables } from '../../src/store/tables.ts'
import { runExitCode } from '../../src/ui/cli/exit-code.ts'

/** What a command that waited for this run would exit with now. */
export async function exitCodeOf(
  db: Kysely<Tables>,
  record: RunRecord | Promise<RunRecord>,
): Promise<number> {
  const { run, blocks, ...rest } = await record
  const questions = (await openQuestionsOf(db, [run])).get(run) ?? 0
  return runExitCode({ ...rest, blocks: blocks ?? [], questions })
}
