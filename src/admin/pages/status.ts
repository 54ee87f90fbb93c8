import { pauseText, type RunSummary, type SyncPause, waitText } from '../../control/control.ts'

/** The page that an administrator looks at first: what each sync did last, and what waits for a person. */
export function statusPage(runs: readonly RunSummary[], paused: readonly SyncPause[]): string {
  const holds = runs.filter((run) => run.hold === 'open')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="10">
<title>dirsyncd</title>
<style>${STYLE}</style>
</head>
<body>
<h1>dirsyncd</h1>
${paused.map(pauseBox).join('\n')}
${holds.map(holdBox).join('\n')}
${runs.length === 0 ? '<p>No sync has run yet.</p>' : runTable(runs)}
</body>
</html>
`
}

function pauseBox(pause: SyncPause): string {
  return `<section class="hold"><p>${escape(pauseText(pause))}.</p></section>`
}

function holdBox(run: RunSummary): string {
  const reasons = run.breaches
    .map(({ guard, detail, decided }) => {
      const decision = decided === undefined ? '' : `: ${decided}`
      return `<li>${escape(detail)} (${escape(guard)}${decision})</li>`
    })
    .join('')
  return `<section class="hold">
<h2>Run ${run.run} of ${escape(run.sync)} waits for a person</h2>
<ul>${reasons}</ul>
<p><code>dirsyncd runs ${run.run}</code> shows the changes; <code>dirsyncd approve ${run.run}</code> or
<code>dirsyncd reject ${run.run}</code> decides, and <code>--only NAME</code> about one of them alone.</p>
</section>`
}

function runTable(runs: readonly RunSummary[]): string {
  return `<table>
<thead><tr><th>Run</th><th>Sync</th><th>Began</th><th>Took</th><th>State</th><th>Changes</th><th>Notes</th></tr></thead>
<tbody>
${runs.map(runRow).join('\n')}
</tbody>
</table>`
}

function runRow(run: RunSummary): string {
  const began = run.startedAt ?? run.requestedAt
  return `<tr class="${run.state}"><td>${run.run}</td><td>${escape(run.sync)}</td><td>${began.slice(0, 19).replace('T', ' ')}</td>
<td>${took(run)}</td><td>${run.state}${run.mode === 'plan' ? ' (plan)' : ''}</td><td>${changes(run)}</td>
<td>${escape(run.error ?? notes(run))}</td></tr>`
}

function took(run: RunSummary): string {
  if (run.startedAt === null || run.finishedAt === null) return ''
  return `${((Date.parse(run.finishedAt) - Date.parse(run.startedAt)) / 1000).toFixed(1)} s`
}

function changes(run: RunSummary): string {
  if (run.counts === null) return ''
  const planned = Object.entries(run.counts.planned)
  if (planned.length === 0) return 'none'
  return planned.map(([op, count]) => `${count} ${op}`).join(', ')
}

function notes(run: RunSummary): string {
  if (run.waitsUntil !== null) return waitText(run.waitsUntil)
  const { outcomes = {}, notices = {} } = run.counts ?? {}
  const bad = (['quarantined', 'failed'] as const).filter((state) => (outcomes[state] ?? 0) > 0)
  const parts = [
    ...bad.map((state) => `${outcomes[state]} ${state}`),
    ...Object.entries(notices).map(([code, count]) => `${count} ${code}`),
  ]
  return parts.join(', ')
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Its style sheet, which the content policy allows by its digest. */
export const STYLE = `
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; }
h2 { font-size: 1rem; margin: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
td:first-child, td:nth-child(4) { font-variant-numeric: tabular-nums; }
tr.failed td:nth-child(5), tr.held td:nth-child(5) { color: #c33; font-weight: 600; }
.hold { border: 1px solid #c93; border-left-width: .4rem; padding: .8rem 1rem; margin: 1rem 0; border-radius: .3rem; }
code { background: #8882; padding: .1rem .3rem; border-radius: .2rem; }
`
