import type { RawConfiguration } from '../../../operations/init/yaml.ts'
import { fold } from '../../../base/terminal/wrap.ts'

interface Situation {
  readonly file: string
  readonly isUsual: boolean
  readonly mayWrite: boolean
  readonly left: readonly string[]
}

/** Commands and paths, which must not be wrapped. */
const TO_COPY = /^ {2}(dirsyncd |\/)/

export function renderEnd(
  { admin: { listen }, syncs: [{ name, schedule }] }: RawConfiguration,
  { file, isUsual, mayWrite, left }: Situation,
  written: readonly string[],
  columns: number | undefined,
): string[] {
  const config = isUsual ? '' : ` --config ${shellWord(file)}`
  const pages = `http://${listen} (admin.listen)`
  const daemon =
    schedule === undefined
      ? `the daemon, with admin pages at ${pages}`
      : `does the same at once, and then on schedule (${schedule}), with admin pages at ${pages}`
  const lines = [
    'Written:',
    ...written.map((path) => `  ${path}`),
    '',
    'What comes next:',
    ...left.map((each) => `  ${each}`),
    ...(left.length === 0
      ? []
      : ['      as long as it is there, the first sync waits for dirsyncd approve RUN']),
    `  dirsyncd plan ${name}${config}`,
    '      shows every change that a sync would make',
    ...(mayWrite
      ? []
      : [
          `  dirsyncd check ${name} --writes${config}`,
          '      after the token was given the scope that it lacks: without it every sync stops at its first change',
        ]),
    `  dirsyncd sync ${name}${config}`,
    '      makes the directory equal to the source, without asking; only what a guard holds waits for dirsyncd approve RUN',
    `  dirsyncd start${config}`,
    `      ${daemon}`,
  ]
  return lines.flatMap((line) => (TO_COPY.test(line) ? [line] : fold([line], columns)))
}

function shellWord(text: string): string {
  return /^[\w/.:,@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
