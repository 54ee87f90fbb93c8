import type { Outcome } from './run-schedule.ts'
import { faultName, type Schedule, scheduleOf } from './schedule.ts'

/** What came of one schedule, with its violations on lines of their own. */
export function lineOf({ schedule, violations, seconds, dir }: Outcome): string {
  const { seed, backend, source, faults } = schedule
  const kinds = faults.map(faultName).join(' ')
  const line = `${seed} ${backend} ${source}, ${seconds.toFixed(0)} s: ${kinds || 'no faults'}`
  if (violations.length === 0) return `ok   ${line}`
  const details = violations.map(({ check, detail }) => `     ${check}: ${detail}`)
  return [`FAIL ${line}`, ...details, `     logs: ${dir}`].join('\n')
}

/** The command that runs this part of the seed's schedule again. */
export function replayOf(schedule: Schedule, patch: string | undefined): string {
  const whole = scheduleOf(schedule.seed)
  const parts = [`npm run faults -- --seed ${schedule.seed} --schedules 1`]
  if (patch !== undefined) parts.push(`--patch ${patch}`)
  if (schedule.faults.length < whole.faults.length)
    parts.push(`--only-faults ${places(whole.faults, schedule.faults)}`)
  if (schedule.edits.length < whole.edits.length)
    parts.push(`--only-edits ${places(whole.edits, schedule.edits)}`)
  if (schedule.users !== whole.users) parts.push(`--users ${schedule.users} --groups ${schedule.groups}`)
  return parts.join(' ')
}

/** The places of what was kept, as `--only-faults` and `--only-edits` take them. */
function places(all: readonly object[], kept: readonly object[]): string {
  const texts = new Set(kept.map((each) => JSON.stringify(each)))
  return all.flatMap((each, index) => (texts.has(JSON.stringify(each)) ? [index] : [])).join(',') || 'none'
}

/** The last line of the suite: what was tried, and what came of it. */
export function summaryOf(
  outcomes: readonly Outcome[],
  { seed, minutes }: { readonly seed: number; readonly minutes: number },
): string {
  const backends = countBy(outcomes.map(({ schedule }) => schedule.backend))
  const faults = countBy(outcomes.flatMap(({ schedule }) => schedule.faults.map(faultName)))
  const checks = countBy(outcomes.flatMap(({ violations }) => violations.map(({ check }) => check)))
  const end = checks === '' ? 'no violation' : `violations: ${checks}`
  const count = `${outcomes.length} schedules in ${minutes.toFixed(1)} min`
  return `${count} (${backends}; faults: ${faults || 'none'}), seed ${seed}: ${end}`
}

function countBy(names: readonly string[]): string {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length] as const)
  return counts
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
