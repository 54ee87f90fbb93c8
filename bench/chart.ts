/** Pictures of measured figures as SVG text, without a library: both axes are logarithmic. */

export interface Line {
  readonly label: string
  readonly color: Color
  readonly isDashed: boolean
  /** x and y, in the order of x. */
  readonly points: readonly (readonly [number, number])[]
}

export type Color = 'one' | 'two'

export interface Panel {
  readonly title: string
  /** A value of the y axis in words, such as `10 s`. */
  readonly inWords: (value: number) => string
  readonly lines: readonly Line[]
}

const WIDTH = 760
const PANEL = { top: 40, height: 250, left: 70, right: 215, bottom: 50 }
const PANEL_HEIGHT = PANEL.top + PANEL.height + PANEL.bottom
/** Between the middles of two labels at the ends of lines. */
const LABEL_HEIGHT = 17

/** The style follows the reader's choice of light or dark; the background is drawn, so that it never differs from it. */
const STYLE = `
  .background { fill: #ffffff } .grid { stroke: #d8dee4 } text { fill: #24292f; font: 13px sans-serif }
  .title { font-weight: bold } .one { stroke: #0969da } .two { stroke: #bc4c00 }
  text.one { fill: #0969da; stroke: none } text.two { fill: #bc4c00; stroke: none }
  circle.one { fill: #0969da } circle.two { fill: #bc4c00 }
  path { fill: none; stroke-width: 2 } .dashed { stroke-dasharray: 6 4 }
  @media (prefers-color-scheme: dark) {
    .background { fill: #0d1117 } .grid { stroke: #30363d } text { fill: #e6edf3 }
    .one { stroke: #58a6ff } .two { stroke: #f0883e }
    text.one { fill: #58a6ff } text.two { fill: #f0883e }
    circle.one { fill: #58a6ff } circle.two { fill: #f0883e }
  }`

/** One panel above the other. `xTitle` says what the x axis is. */
export function chartOf(panels: readonly Panel[], xTitle: string): string {
  const height = panels.length * PANEL_HEIGHT
  const title = panels.map((panel) => panel.title).join('; ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="background" width="${WIDTH}" height="${height}"/>`,
    ...panels.flatMap((panel, index) => [
      `<g transform="translate(0 ${index * PANEL_HEIGHT})">`,
      ...panelOf(panel, xTitle),
      '</g>',
    ]),
    '</svg>',
    '',
  ].join('\n')
}

function panelOf({ title, inWords, lines }: Panel, xTitle: string): string[] {
  const points = lines.flatMap((line) => line.points)
  const bottom = PANEL.top + PANEL.height
  const sizes = [...new Set(points.map(([value]) => value))]
  const ends = [Math.min(...sizes), Math.max(...sizes)] as const
  const x = scaleOf({ ends, ticks: sizes }, [PANEL.left, WIDTH - PANEL.right])
  const y = scaleOf(roundAxis(points.map(([, value]) => value)), [bottom, PANEL.top])
  const end = WIDTH - PANEL.right
  return [
    `<text class="title" x="${PANEL.left}" y="22">${title}</text>`,
    ...y.ticks.flatMap((value) => [
      `<line class="grid" x1="${PANEL.left}" x2="${end}" y1="${y.at(value)}" y2="${y.at(value)}"/>`,
      `<text x="${PANEL.left - 8}" y="${y.at(value) + 4}" text-anchor="end">${inWords(value)}</text>`,
    ]),
    ...x.ticks.flatMap((value) => [
      `<line class="grid" x1="${x.at(value)}" x2="${x.at(value)}" y1="${PANEL.top}" y2="${bottom}"/>`,
      `<text x="${x.at(value)}" y="${bottom + 18}" text-anchor="middle">${value.toLocaleString('en')}</text>`,
    ]),
    `<text x="${(PANEL.left + end) / 2}" y="${bottom + 36}" text-anchor="middle">${xTitle}</text>`,
    ...lines.flatMap((line) => drawn(line, x, y)),
    ...labelsOf(lines, inWords, y),
  ]
}

function drawn({ color, isDashed, points }: Line, x: Scale, y: Scale): string[] {
  const places = points.map(([a, b]) => [x.at(a), y.at(b)] as const)
  const path = places.map(([left, top], index) => `${index === 0 ? 'M' : 'L'}${left} ${top}`).join(' ')
  return [
    `<path class="${color}${isDashed ? ' dashed' : ''}" d="${path}"/>`,
    ...places.map(([left, top]) => `<circle class="${color}" cx="${left}" cy="${top}" r="3"/>`),
  ]
}

/** At the ends of the lines, moved apart where they would touch. */
function labelsOf(lines: readonly Line[], inWords: Panel['inWords'], y: Scale): string[] {
  const labels = lines
    .map(({ label, color, points }) => {
      const last = points.at(-1)?.[1] ?? 1
      return { text: `${label}: ${inWords(last)}`, color, top: y.at(last) }
    })
    .toSorted((a, b) => b.top - a.top)
  let free = PANEL.top + PANEL.height
  return labels.map(({ text, color, top }) => {
    const middle = Math.min(top, free)
    free = middle - LABEL_HEIGHT
    return `<text class="${color}" x="${WIDTH - PANEL.right + 10}" y="${middle + 4}">${text}</text>`
  })
}

interface Scale {
  /** The place of a value, in the units of the picture. */
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

function scaleOf(axis: Axis, [from, to]: readonly [number, number]): Scale {
  const [least, most] = axis.ends
  const share = (value: number) => Math.log(value / least) / Math.log(most / least)
  const at = (value: number) => Math.round((from + share(value) * (to - from)) * 10) / 10
  return { at, ticks: axis.ticks }
}

interface Axis {
  readonly ends: readonly [number, number]
  /** Marked values. */
  readonly ticks: readonly number[]
}

/** Begins and ends at 1, 2 or 5 times a power of ten; marks all of these, or only the powers where there are many. */
function roundAxis(values: readonly number[]): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const steps: number[] = []
  for (let power = Math.floor(Math.log10(least)); 10 ** power < 10 * most; power += 1)
    steps.push(...[1, 2, 5].map((step) => step * 10 ** power))
  const first = steps.findLastIndex((step) => step <= least)
  const last = steps.findIndex((step) => step >= most)
  const within = steps.slice(first, last + 1)
  const ticks = most / least < 100 ? within : within.filter((step) => Number.isInteger(Math.log10(step)))
  return { ends: [within[0]!, within.at(-1)!], ticks }
}
