import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * Imports go one way. A unit is a folder of src or a file beside the folders, or both of one name. What a unit may
 * import besides itself and what is allowed everywhere: `values` in any form, `types` only with `import type`.
 */
const ALLOWED: Readonly<Record<string, { readonly values: string; readonly types?: string }>> = {
  errors: { values: '' },
  printable: { values: '' },
  certificates: { values: '' },
  duration: { values: '' },
  'issue-sentence': { values: '' },
  'this-machine': { values: '' },
  'within-time': { values: '' },
  log: { values: '' },
  shutdown: { values: '' },
  'service-manager': { values: '' },
  contract: { values: '' },
  directory: { values: '' },
  turns: { values: '', types: 'directory' },
  plan: { values: 'directory' },
  source: { values: 'certificates directory this-machine turns' },
  client: { values: 'contract' },
  service: { values: 'contract duration issue-sentence turns', types: 'directory' },
  conformance: { values: 'contract' },
  target: { values: 'client contract directory plan turns' },
  store: { values: 'directory plan' },
  queue: { values: 'plan store' },
  apply: { values: 'plan store queue' },
  sync: { values: 'directory plan apply store queue turns', types: 'source' },
  control: { values: 'sync store queue plan directory', types: 'source' },
  metrics: { values: '' },
  notify: { values: 'client directory plan this-machine', types: 'store' },
  admin: { values: 'control issue-sentence plan directory this-machine', types: 'store' },
  config: { values: 'certificates duration issue-sentence notify this-machine', types: 'plan source sync' },
  // The only unit that names concrete adapters.
  compose: {
    values:
      'contract conformance directory plan source client service target store queue apply sync control metrics notify admin config shutdown this-machine',
  },
  cli: { values: 'compose control config plan directory duration shutdown service-manager', types: 'store' },
  main: { values: 'cli compose config shutdown' },
}

const ALLOWED_EVERYWHERE = ['errors', 'log', 'printable', 'within-time']

/** Parts of one unit that know nothing of each other, although the unit's other files may be shared. */
const APART: readonly (readonly [string, string])[] = [
  ['source/ldap/', 'source/csv/'],
  ['source/ldap/', 'source/command/'],
  ['source/csv/', 'source/command/'],
]

/** Made of data and functions alone: no package, and nothing of Node but hashing. */
const PURE: ReadonlySet<string> = new Set(['directory', 'plan'])

/** Which file may use what, and nobody else. */
const ONLY_IN: readonly { readonly what: string; readonly pattern: RegExp; readonly files: string[] }[] = [
  { what: 'process.env', pattern: /\bprocess\.env\b/, files: ['config/load.ts'] },
  { what: 'process.argv', pattern: /\bprocess\.argv\b/, files: ['main.ts'] },
  { what: 'a default export', pattern: /^export default\b/m, files: [] },
  { what: 'an enum', pattern: /^(?:export )?(?:declare )?(?:const )?enum\b/m, files: [] },
  { what: 'CommonJS', pattern: /\brequire\(|\bmodule\.exports\b/, files: [] },
]

interface Import {
  /** Relative to src, with slashes. */
  readonly from: string
  /** A file relative to src, or a package. */
  readonly to: string
  readonly own: boolean
  readonly typeOnly: boolean
  readonly line: number
}

const SRC = new URL('../../src/', import.meta.url)

const FILES: ReadonlyMap<string, string> = new Map(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
    .map((file) => [file, withoutComments(readFileSync(new URL(file, SRC), 'utf8'))]),
)

const IMPORTS = [...FILES].flatMap(([file, text]) => importsOf(file, text))

/** Blanks out comments, and keeps the lines where they are. Quotes are respected, so that `https://` is no comment. */
function withoutComments(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g,
    (part) => (/^\/[/*]/.test(part) ? part.replace(/[^\n]/g, ' ') : part),
  )
}

/**
 * Every `import … from`, `export … from`, `import '…'` and `import('…')`. One whose names are each marked with `type`
 * is still a value import: with verbatimModuleSyntax the module is loaded.
 */
function importsOf(from: string, text: string): Import[] {
  const statement =
    /^(?:import|export)\s+(type\s+(?!from\b))?(?:[\w*{][^;'"`()=]*?\s*from\s*)?['"]([^'"\n]+)['"]/gm
  const dynamic = /\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g
  return [
    ...[...text.matchAll(statement)].map((match) =>
      toImport(from, match[2] ?? '', match[1] !== undefined, lineAt(text, match.index)),
    ),
    ...[...text.matchAll(dynamic)].map((match) =>
      toImport(from, match[1] ?? '', false, lineAt(text, match.index)),
    ),
  ]
}

function toImport(from: string, specifier: string, typeOnly: boolean, line: number): Import {
  const own = specifier.startsWith('.')
  const to = own ? normalize(join(dirname(from), specifier)).replaceAll('\\', '/') : specifier
  return { from, to, own, typeOnly, line }
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

function unitOf(file: string): string {
  return file.replace(/\.ts$|\/.*/, '')
}

function words(text: string | undefined): string[] {
  return (text ?? '').split(' ').filter(Boolean)
}

/** Why an import is not allowed, or `undefined`. */
function whyNot({ from, to, typeOnly }: Import): string | undefined {
  const unit = unitOf(from)
  const target = unitOf(to)
  const rule = ALLOWED[unit]
  if (rule === undefined) return `${unit} has no rule; add one to the table of this test`
  if (unit === target || ALLOWED_EVERYWHERE.includes(target)) return undefined
  const values = words(rule.values)
  const types = words(rule.types)
  if (values.includes(target) || (typeOnly && types.includes(target))) return undefined
  if (types.includes(target)) return `${unit} may import only types from ${target}: write import type`
  const all = [...values, ...types.map((name) => `types of ${name}`), ...ALLOWED_EVERYWHERE]
  return `${unit} may import ${all.join(', ')}`
}

function describeImport({ from, to, line, typeOnly }: Import): string {
  return `src/${from}:${line} imports ${typeOnly ? 'types of ' : ''}${to}`
}

/** A shortest cycle through each group of files that import each other, types included. */
function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Map<string, string>()
  for (const start of edges.keys()) {
    const cycle = wayBack(start, edges)
    if (cycle === undefined) continue
    const key = cycle.toSorted().join(' ')
    if (!found.has(key)) found.set(key, [...cycle, start].join(' → '))
  }
  return [...found.values()]
}

/** The files on a shortest way from a file back to itself. */
function wayBack(start: string, edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const before = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const next of edges.get(file) ?? []) {
      if (next === start) return wayTo(file, before)
      if (before.has(next)) continue
      before.set(next, file)
      queue.push(next)
    }
  }
  return undefined
}

function wayTo(file: string, before: ReadonlyMap<string, string>): string[] {
  const way = [file]
  for (let at = before.get(file); at !== undefined; at = before.get(at)) way.unshift(at)
  return way
}

describe('the imports of src', () => {
  test('there are some, and each leads to a file', () => {
    const lost = IMPORTS.filter(({ own, to }) => own && !FILES.has(to))
    expect(IMPORTS.length).toBeGreaterThan(100)
    expect(lost.map(describeImport)).toEqual([])
  })

  test('every folder and file has a rule', () => {
    expect([...new Set([...FILES.keys()].map(unitOf))].filter((unit) => ALLOWED[unit] === undefined)).toEqual(
      [],
    )
  })

  test('go in the allowed directions only', () => {
    const wrong = IMPORTS.filter(({ own }) => own).flatMap((each) => {
      const why = whyNot(each)
      return why === undefined ? [] : [`${describeImport(each)}; ${why}`]
    })
    expect(wrong).toEqual([])
  })

  test('keep the implementations of a port apart', () => {
    const crossing = IMPORTS.filter(({ from, to }) =>
      APART.some(
        ([a, b]) => (from.startsWith(a) && to.startsWith(b)) || (from.startsWith(b) && to.startsWith(a)),
      ),
    )
    expect(crossing.map(describeImport)).toEqual([])
  })

  test('leave the pure folders pure', () => {
    const impure = IMPORTS.filter(
      ({ from, own, to }) => PURE.has(unitOf(from)) && !own && to !== 'node:crypto',
    )
    expect(impure.map(describeImport)).toEqual([])
    const clocks = [...FILES].filter(
      ([file, text]) =>
        PURE.has(unitOf(file)) && /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\./.test(text),
    )
    expect(clocks.map(([file]) => `src/${file} uses a clock, chance or the process`)).toEqual([])
  })

  test('make no circle, types included', () => {
    const edges = new Map(
      [...FILES.keys()].map((file) => [
        file,
        IMPORTS.filter(({ from, own }) => own && from === file).map(({ to }) => to),
      ]),
    )
    expect(findCycles(edges)).toEqual([])
  })
})

test.each(ONLY_IN)('$what stands only where it may', ({ what, pattern, files }) => {
  const wrong = [...FILES].filter(([file, text]) => pattern.test(text) && !files.includes(file))
  expect(
    wrong.map(([file]) => `src/${file} uses ${what}; allowed in: ${files.join(', ') || 'no file'}`),
  ).toEqual([])
})

function reads(text: string): string[] {
  return importsOf('sync/run.ts', withoutComments(text)).map(
    ({ to, typeOnly, line }) => `${line} ${typeOnly ? 'type ' : ''}${to}`,
  )
}

describe('this test itself', () => {
  test.each<[string, string, string[]]>([
    ['a value', `import { a } from '../plan/plan.ts'`, ['1 plan/plan.ts']],
    ['a type', `import type { A } from '../plan/plan.ts'`, ['1 type plan/plan.ts']],
    ['marked names load the module', `import { type A } from './a.ts'`, ['1 sync/a.ts']],
    ['a value that is called type', `import type from './a.ts'`, ['1 sync/a.ts']],
    ['everything', `import * as a from './a.ts'`, ['1 sync/a.ts']],
    ['for its effect', `import './a.ts'`, ['1 sync/a.ts']],
    [
      'several lines',
      `\nimport {\n  a,\n  b,\n} from './a.ts'\nimport type { C } from './c.ts'`,
      ['2 sync/a.ts', '6 type sync/c.ts'],
    ],
    [
      'passed on',
      `export { a } from './a.ts'\nexport type { B } from './b.ts'\nexport * from './c.ts'`,
      ['1 sync/a.ts', '2 type sync/b.ts', '3 sync/c.ts'],
    ],
    ['on demand', `const a = await import('./a.ts')`, ['1 sync/a.ts']],
    ['a package', `import { z } from 'zod'`, ['1 zod']],
    ['a comment', `// import { a } from './a.ts'\n/* import './b.ts' */`, []],
    [
      'an export of its own',
      `export const from = 'x'\nexport function a() {\n  return 'from "./b.ts"'\n}`,
      [],
    ],
  ])('reads %s', (_what, text, imports) => {
    expect(reads(text)).toEqual(imports)
  })

  test.each<[string, Partial<Import>, string | undefined]>([
    [
      'the client from the service',
      { from: 'service/app.ts', to: 'client/client.ts' },
      'service may import contract, duration, issue-sentence, turns, types of directory, errors, log, printable, within-time',
    ],
    [
      'a value where only types are allowed',
      { from: 'sync/run.ts', to: 'source/source.ts' },
      'sync may import only types from source: write import type',
    ],
    [
      'a type where types are allowed',
      { from: 'sync/run.ts', to: 'source/source.ts', typeOnly: true },
      undefined,
    ],
    ['the table of errors from anywhere', { from: 'contract/a.ts', to: 'errors.ts' }, undefined],
  ])('judges %s', (_what, each, why) => {
    expect(whyNot({ own: true, typeOnly: false, line: 1, from: '', to: '', ...each })).toBe(why)
  })

  test('finds a circle once', () => {
    const edges = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['a']],
      ['d', []],
    ])
    expect(findCycles(edges)).toEqual(['a → b → c → a'])
  })
})
