import type { ProbeLine } from '../source.ts'
import type { CsvFileFacts, CsvInput } from './input.ts'
import { patternsOf } from './files.ts'
import { readCsv } from './read-csv.ts'
import { amount } from '../../base/wording.ts'

/** Reads the files of each input to their ends. */
export async function probe(
  inputs: readonly CsvInput[],
  settleMs: number,
  signal: AbortSignal,
): Promise<ProbeLine[]> {
  const lines: ProbeLine[] = []
  for (const input of inputs) lines.push(...(await probeInput(input, signal)))
  if (settleMs === 0) return lines
  const detail = `a run reads the files when none has changed for ${settleMs / 1000} s; a check does not wait for that`
  return [...lines, { label: 'settle', detail, level: 'info' }]
}

async function probeInput(input: CsvInput, signal: AbortSignal): Promise<ProbeLine[]> {
  const label = input.key
  const files: CsvFileFacts[] = []
  const doubts: ProbeLine[] = []
  const empty = new Set(input.columns)
  const { rows, columns } = await readCsv(input, signal, {
    onRow: ({ cells }) => {
      for (const column of empty) if (cells(column).some(isFilled)) empty.delete(column)
    },
    onUnreadable: () => undefined,
    onDoubt: ({ from, fault }) => doubts.push({ label, detail: `${from}: ${fault}`, level: 'warn' }),
    onFile: (file) => files.push(file),
  })
  const several = files.length > 1 ? ` in ${files.length} files` : ''
  const what = `${amount(rows, 'row')}${several} with the columns ${columns.join(', ')}`
  return [
    { label, detail: `${patternsOf(input).join(', ')}: ${what}`, level: 'ok' },
    ...files.map((file) => fileLine(file, files.length > 1)),
    ...doubts,
    ...(rows === 0 || empty.size === 0 ? [] : [emptyLine(label, [...empty])]),
  ]
}

const OLD_MS = 30 * 86_400_000

/** An export that is a month old has probably stopped. */
function fileLine({ path, encoding, zipped, writtenMs }: CsvFileFacts, named: boolean): ProbeLine {
  const ageMs = Date.now() - writtenMs
  const written = `written ${new Date(writtenMs).toISOString().slice(0, 19).replace('T', ' ')}Z, ${age(ageMs)}`
  const detail = `${named ? `${path}: ` : ''}${encoding}${zipped ? ', gzip' : ''}, ${written}`
  if (ageMs < OLD_MS) return { label: 'encoding', detail, level: 'info' }
  return { label: 'encoding', detail: `${detail}; does the export still run?`, level: 'warn' }
}

function age(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 120) return `${minutes} min ago`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`
}

function emptyLine(label: string, columns: readonly string[]): ProbeLine {
  return { label, detail: `mapped and empty in every row: ${columns.join(', ')}`, level: 'warn' }
}

function isFilled(value: string): boolean {
  return value.trim() !== ''
}
