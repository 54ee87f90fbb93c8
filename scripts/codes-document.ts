import { BLOCKS } from '../src/ui/messages/blocks.ts'
import { VERDICTS } from '../src/ui/messages/explain/part.ts'
import { NOTICES } from '../src/ui/messages/notices.ts'

const HEAD = `# Codes

<!-- Made from src/ui/messages by \`npm run codes\`. -->

Commands with \`--json\`, pages, metrics, the JSON downloads and the support bundle name what happened by these codes. Their
parameters are in the same object, under \`params\`. A code never changes its meaning. Codes of errors, with their exit
codes, are in [errors.md](errors.md).
`

const BLOCKS_HEAD = `
## Blocks

Why changes are not made now. A rule or an anomaly blocks the changes that it names; a guard stops the whole plan. What an
operator has to decide is a question of the run.
`

const NOTICES_HEAD = `
## Notices

What a run reports about an entry, or about one side, besides the changes.
`

const VERDICTS_HEAD = `
## Verdicts of explain

\`dirsyncd explain\` begins with one of these codes, or with the code of the notice that is the reason. The answer
itself has the remedy.
`

/** The text of \`docs/codes.md\`. */
export function codesDocument(): string {
  return [
    HEAD,
    BLOCKS_HEAD,
    table(Object.entries(BLOCKS)),
    NOTICES_HEAD,
    table(Object.entries(NOTICES)),
    VERDICTS_HEAD,
    `\n| code | meaning |\n| --- | --- |\n`,
    ...Object.entries(VERDICTS).map(([code, meaning]) => `| \`${code}\` | ${meaning} |\n`),
  ].join('')
}

interface Row {
  readonly meaning: string
  readonly remedy: string | undefined
}

function table(messages: readonly (readonly [string, Row])[]): string {
  const rows = messages.map(
    ([code, { meaning, remedy }]) =>
      `| \`${code}\` | ${meaning} | ${remedy ?? 'Nothing has to be done.'} |\n`,
  )
  return `\n| code | meaning | what to do |\n| --- | --- | --- |\n${rows.join('')}`
}
