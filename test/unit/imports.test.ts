import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The tower of dirsyncd, from its roof down. Imports go down only. */
const TOWER = [
  'main',
  'compose',
  'ui',
  'operations',
  'sync',
  'queue',
  'store',
  'target',
  'source',
  'config',
  'core',
]

/** The other tower is the access-management service. No import goes from one tower to the other. */
const SERVICE = 'service'

/** What both towers stand on: `api` on `base`. */
const GROUND = ['api', 'base']

/** Arrows up, until the issue that removes them. Each line that is no longer needed fails, so the list only shrinks. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // The issue of the operator: commands get what they need as one table of operations.
  'The operator’s evening': [
    'ui/cli/context.ts compose/compose.ts',
    'ui/cli/notify.ts compose/test-notifications.ts',
    'ui/cli/open-control.ts compose/control.ts',
    'ui/cli/run.ts compose/compose.ts',
    'operations/check.ts compose/readiness.ts',
    'operations/check.ts compose/site.ts',
    'operations/init/directories.ts compose/site.ts',
    'operations/init/init.ts compose/site.ts',
  ],
  // The issue of the sources: one schema is the configuration, and its types are those of the options.
  'The house of the sources': [
    'config/config.ts source/command/options.ts',
    'config/config.ts source/csv/options.ts',
    'config/config.ts source/ldap/options.ts',
    'config/resolve.ts source/command/options.ts',
    'config/resolve.ts source/csv/options.ts',
    'config/resolve.ts source/ldap/options.ts',
    'config/config.ts ui/notify/channels/email.ts',
    'config/config.ts ui/notify/channels/slack.ts',
    'config/config.ts ui/notify/channels/webhook.ts',
    'config/config.ts ui/notify/notification.ts',
    'config/notifications-schema.ts ui/notify/notification.ts',
  ],
}

const EXCEPTED = Object.values(EXCEPTIONS).flat()

/** As many as there are; never more. */
const MOST_EXCEPTIONS = 19

/** Parts of one room that know nothing of each other, although the room's other files may be shared. */
const APART: readonly (readonly [string, string])[] = [
  ['source/ldap/', 'source/csv/'],
  ['source/ldap/', 'source/command/'],
  ['source/csv/', 'source/command/'],
  ['api/client/', 'api/conformance/'],
  // The client is a package of its own, too.
  ...['database', 'process', 'secrets', 'socket', 'terminal', 'yaml'].map((folder): [string, string] => [
    'api/',
    `base/${folder}/`,
  ]),
]

/** Rooms whose files import only types of these others: adapters come from `compose`. */
const TYPES_ONLY: readonly (readonly [from: RegExp, to: RegExp])[] = [
  // Those two look at sources themselves.
  [/^operations\/(?!init\/|check\.ts)/, /^source\//],
  [/^sync\//, /^source\//],
  [/^sync\//, /^target\//],
  [/^ui\//, /^(source|target|store|queue|sync)\//],
]

/** Made of data and functions alone: no package, and nothing of Node but hashing. */
const PURE = 'core'

/** Which file may use what, and nobody else. */
const ONLY_IN: readonly { readonly what: string; readonly pattern: RegExp; readonly files: string[] }[] = [
  { what: 'process.env', pattern: /\bprocess\.env\b/, files: ['base/yaml/load.ts'] },
  { what: 'process.argv', pattern: /\bprocess\.argv\b/, files: ['base/process/start-program.ts'] },
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

function roomOf(file: string): string {
  return file.replace(/\.ts$|\/.*/, '')
}

/** Whether an import goes down, or stays in its room. */
function goesDown(from: string, to: string): boolean {
  if (from === to) return true
  if (GROUND.includes(to)) return !GROUND.includes(from) || from === 'api'
  return TOWER.includes(from) && TOWER.indexOf(from) < TOWER.indexOf(to)
}

/** Why an import is not allowed, or `undefined`. */
function whyNot({ from, to, typeOnly }: Import): string | undefined {
  if (EXCEPTED.includes(`${from} ${to}`)) return undefined
  if (!typeOnly && TYPES_ONLY.some(([a, b]) => a.test(from) && b.test(to)))
    return `${roomOf(from)} may import only types from ${roomOf(to)}: write import type`
  if (goesDown(roomOf(from), roomOf(to))) return undefined
  return `${roomOf(from)} is not above ${roomOf(to)}`
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

  test('are those of thirteen rooms and the entry of dirsyncd', () => {
    const rooms = new Set([...FILES.keys()].map(roomOf))
    expect([...rooms].toSorted()).toEqual([...TOWER, SERVICE, ...GROUND].toSorted())
  })

  test('go in the allowed directions only', () => {
    const wrong = IMPORTS.filter(({ own }) => own).flatMap((each) => {
      const why = whyNot(each)
      return why === undefined ? [] : [`${describeImport(each)}; ${why}`]
    })
    expect(wrong).toEqual([])
  })

  test('need each exception', () => {
    const made = new Set(IMPORTS.map(({ from, to }) => `${from} ${to}`))
    expect(EXCEPTED.filter((each) => !made.has(each))).toEqual([])
    expect(EXCEPTED).toHaveLength(MOST_EXCEPTIONS)
  })

  test('keep the implementations of a port apart', () => {
    const crossing = IMPORTS.filter(({ from, to }) =>
      APART.some(
        ([a, b]) => (from.startsWith(a) && to.startsWith(b)) || (from.startsWith(b) && to.startsWith(a)),
      ),
    )
    expect(crossing.map(describeImport)).toEqual([])
  })

  test('leave the core pure', () => {
    const impure = IMPORTS.filter(
      ({ from, own, to }) => roomOf(from) === PURE && !own && to !== 'node:crypto',
    )
    expect(impure.map(describeImport)).toEqual([])
    const clocks = [...FILES].filter(
      ([file, text]) =>
        roomOf(file) === PURE && /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\./.test(text),
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
    ['a value', `import { a } from '../core/plan/plan.ts'`, ['1 core/plan/plan.ts']],
    ['a type', `import type { A } from '../core/plan/plan.ts'`, ['1 type core/plan/plan.ts']],
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
    ['the client from the service', { from: 'service/app.ts', to: 'api/client/client.ts' }, undefined],
    [
      'one tower from the other',
      { from: 'service/app.ts', to: 'core/plan/plan.ts', typeOnly: true },
      'service is not above core',
    ],
    ['an arrow up', { from: 'core/plan/plan.ts', to: 'store/open.ts' }, 'core is not above store'],
    ['an arrow up from the ground', { from: 'base/log.ts', to: 'api/client/a.ts' }, 'base is not above api'],
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
    ['the table of errors from anywhere', { from: 'api/contract/a.ts', to: 'base/errors.ts' }, undefined],
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
