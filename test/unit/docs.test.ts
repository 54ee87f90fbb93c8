import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { CommanderError } from 'commander'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createProgram as createService } from '../../src/service/cli/program.ts'
import { serviceSchema } from '../../src/service/config/schema.ts'
import { createProgram } from '../../src/ui/cli/program.ts'
import { configSchema } from '../../src/config/schema.ts'
import { readProtections } from '../protections/table.ts'

const ROOT = new URL('../../', import.meta.url).pathname

const PAGES = ['README.md', 'CONTRIBUTING.md', 'bench/README.md', 'packages/client/README.md', 'docs/*.md']
  .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
  .toSorted()

const TEXTS: ReadonlyMap<string, string> = new Map(
  PAGES.map((page) => [page, readFileSync(join(ROOT, page), 'utf8')]),
)

const PROTECTIONS = readProtections().map(({ name }) => name)

/** What a sentence says of a command may leave out what it needs; a block is there to be copied. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'commander.help',
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
])

interface Command {
  /** As it stands in the page. */
  readonly text: string
  readonly program: ProgramName
  readonly argv: readonly string[]
  readonly isInline: boolean
}

type ProgramName = 'dirsyncd' | 'access-service'

const program = (name: ProgramName) => {
  const nowhere = { write: () => undefined }
  const create = name === 'dirsyncd' ? createProgram : createService
  return create({ argv: [], stdout: nowhere, stderr: nowhere }, async () => undefined)
}

const namesOf = (name: ProgramName) => program(name).commands.map((command) => command.name())

/** Of dirsyncd: a page may leave the program's name out. */
const COMMAND_NAMES: ReadonlySet<string> = new Set(namesOf('dirsyncd'))

/** Of any command, and those of other programs and scripts that the pages name alone. */
const OPTIONS: ReadonlySet<string> = new Set([
  ...optionsOf(program('dirsyncd')),
  ...optionsOf(program('access-service')),
  '--format',
  '--liftoff-only',
  '--max-semi-space-size',
  '--no-liftoff',
  '--only',
  '--people',
  '--wasm-tiering-budget',
  // `--add-…` and `--remove-…` stand for several.
  '--add-',
  '--remove-',
])

function optionsOf(command: ReturnType<typeof program>): readonly string[] {
  const own = command.options.flatMap(({ long }) => long ?? [])
  return ['--help', ...own, ...command.commands.flatMap(optionsOf)]
}

function commandsOf(text: string): readonly Command[] {
  const blocks = [...text.matchAll(/^ *```(?:sh|console)\n([\s\S]*?)^ *```$/gm)].map(
    ([, block = '']) => block,
  )
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
  const inBlocks = lines.flatMap((line) => commandsIn(line, false))
  return [...inBlocks, ...codeOf(text).flatMap((span) => commandsIn(span, true))]
}

/** The code in sentences and tables. */
function codeOf(text: string): readonly string[] {
  const sentences = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
  return [...sentences.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '))
}

const isProgram = (word: string) =>
  /^(?:ExecReload=)?(?:\S*\/)?(?:dirsyncd|access-service)$|^dist\/(?:service\/)?main\.js$/.test(word)

const programOf = (word: string): ProgramName => (word.includes('service') ? 'access-service' : 'dirsyncd')

/** Each part of a line of a shell that runs one of the programs, also by `sudo` or `systemd-run`. */
function commandsIn(line: string, isInline: boolean): readonly Command[] {
  const found: Command[] = []
  let words: string[] = []
  const end = () => {
    // The user has the same name.
    const at = words.findIndex((word, index) => isProgram(word) && words[index - 1] !== '-u')
    const isShort = isInline && COMMAND_NAMES.has(words[0] ?? '') && words.length > 1
    const runsIt = at === 0 || /^(?:sudo|systemd-run|node|\$)$/.test(words[0] ?? '')
    if (isShort)
      found.push({ text: words.join(' '), program: 'dirsyncd', argv: words.map(asValue), isInline })
    else if (at >= 0 && runsIt && words.length > at + 1)
      found.push({
        text: words.join(' '),
        program: programOf(words[at] ?? ''),
        argv: words.slice(at + 1).map(asValue),
        isInline,
      })
    words = []
  }
  for (const [token] of line.matchAll(/"[^"]*"|'[^']*'|&&|[|;](?=\s)|>|(?:\\.|[^\s"'])+/g)) {
    if (token.startsWith('#') || token === '>' || token === '…') break
    if (token === '&&' || token === '|' || token === ';') end()
    else words.push(token.replaceAll(/^(["'])(.*)\1$/g, '$2'))
  }
  end()
  return found
}

/** A value for what stands for one. */
function asValue(word: string): string {
  if (/^\[?(?:N|RUN|ID|CONTACT|KEY)\]?$/.test(word)) return '12'
  if (word === 'NAME') return 'organization'
  return word.replace(/^\[(.*)\]$/, '$1').split('|')[0]!
}

/** Why the command line is wrong; `undefined` for one that would run. */
async function whyWrong({ program: name, argv, isInline }: Command): Promise<string | undefined> {
  try {
    await program(name).parseAsync([...argv], { from: 'user' })
    return undefined
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 || (isInline && LEFT_OUT.has(error.code)) ? undefined : error.message
  }
}

describe.each(PAGES)('%s', (page) => {
  const text = TEXTS.get(page)!

  test('has only commands and options of dirsyncd that exist', async () => {
    const wrong = await Promise.all(
      commandsOf(text).map(async (command) => ({ command: command.text, why: await whyWrong(command) })),
    )
    expect(wrong.filter(({ why }) => why !== undefined)).toEqual([])
  })

  test('names only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    const named = [...text.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[\w:-]+)/g)].map(
      ([, name = '']) => name,
    )
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  test('names only protections that exist', () => {
    const named = [...text.matchAll(/\btest:protections -- ([\w-]+)/g)].map(([, start = '']) => start)
    expect(named.filter((start) => !PROTECTIONS.some((name) => name.startsWith(start)))).toEqual([])
  })

  test('names only files and folders that exist', () => {
    const paths = codeOf(text).filter(
      (code) => /^[\w@.-]+(?:\/[\w.*-]+)+\/?$/.test(code) && isOfProject(code),
    )
    expect(paths.filter((path) => !exists(path))).toEqual([])
  })

  test('names only options of commands that exist', () => {
    const options = codeOf(text).flatMap((code) => /^--[a-z][\w-]*/.exec(code) ?? [])
    expect(options.filter((option) => !OPTIONS.has(option))).toEqual([])
  })

  test('shows only configurations that are right', () => {
    const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
    const checked = blocks.filter((block) => !block.includes('scrape_configs')).map(wholeOf)
    expect(checked.flatMap(issuesOf)).toEqual([])
  })

  test('links only to pages and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([])
  })
})

function issuesOf(whole: object) {
  return ('service' in whole ? serviceSchema : configSchema).safeParse(whole).error?.issues ?? []
}

/** What a page shows of a sync, in a sync that is otherwise whole. */
function wholeOf(block: string): object {
  const shown = parse(block) as Readonly<Record<string, unknown>>
  const isPart = ['source', 'map', 'entries'].some((name) => name in shown)
  if (!isPart) return shown
  const { map = { external_id: 'uid' }, ...options } = shown
  const source = { type: 'ldap', url: 'ldaps://x', users: { base: 'dc=x', map } }
  const directory = { baseUrl: 'https://x', organizationId: 1, directoryId: 7, token: { env: 'TOKEN' } }
  return { syncs: [{ name: 'corp', source, directory, ...options }] }
}

/** Those that a user or a script makes. */
const MADE_LATER = /^(?:config\/dirsyncd\.yaml$|deploy\/secrets\/)/

const FOLDERS: ReadonlySet<string> = new Set(
  [...globSync('*/', { cwd: ROOT }), ...globSync('src/*/', { cwd: ROOT })].map(
    (folder) => folder.replace(/\/$/, '').split('/').at(-1) ?? '',
  ),
)

function isOfProject(path: string): boolean {
  const [first = ''] = path.split('/')
  const isBuilt = ['dist', 'var', 'node_modules'].includes(first)
  return FOLDERS.has(first) && !isBuilt && !MADE_LATER.test(path)
}

/** `core/plan/plan.ts` is `src/core/plan/plan.ts`. */
function exists(path: string): boolean {
  return globSync([path, `src/${path}`, `test/${path}`], { cwd: ROOT }).length > 0
}

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', heading] = link.split('#')
  const path = file === '' ? page : normalize(join(dirname(page), file))
  if (!existsSync(join(ROOT, path))) return false
  return heading === undefined || headingsOf(readFileSync(join(ROOT, path), 'utf8')).includes(heading)
}

/** The headings of a page as GitHub names them in addresses. */
function headingsOf(text: string): readonly string[] {
  const titles = [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) => title)
  return titles.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('the README has each command, and its list each page', () => {
  const readme = TEXTS.get('README.md')!
  for (const name of COMMAND_NAMES) expect(readme).toMatch(new RegExp(`^\\|.*\\bdirsyncd ${name}\\b`, 'm'))
  const pages = PAGES.filter((page) => page.startsWith('docs/') || page === 'CONTRIBUTING.md')
  expect(pages.filter((page) => !readme.includes(`](${page})`))).toEqual([])
})

/** Help texts, examples, units and alerts: a command stands at the begin of a line, a comment behind two blanks. */
const OTHER_FILES = [
  'src/{ui,service}/cli/**/*.ts',
  'config/**/*.yaml',
  'deploy/systemd/*.service',
  'docker-compose.yml',
]
  .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
  .toSorted()

test('help texts, examples, units and alerts have only commands and options that exist', async () => {
  const commands = OTHER_FILES.flatMap((file) => {
    const written = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\{\{.*?\}\}/g, 'corp')
    // A line that goes on; its backslash stands twice in code.
    const text = written.replaceAll(/\\\\?\n\s*/g, '')
    const lines = text.matchAll(/^(?:# {2,}|Exec\w+=| {2})(\S*(?:dirsyncd|access-service) (?:[^\s`]+ ?)+)/gm)
    const sentences = file.endsWith('.ts') ? [] : codeOf(text).flatMap((code) => commandsIn(code, true))
    return [...lines].flatMap(([, line = '']) => commandsIn(line, false)).concat(sentences)
  })
  expect(commands.length).toBeGreaterThan(60)
  const wrong = await Promise.all(
    commands.map(async (command) => ({ command: command.text, why: await whyWrong(command) })),
  )
  expect(wrong.filter(({ why }) => why !== undefined)).toEqual([])
})

test('the pages have commands to look at', () => {
  const all = [...TEXTS.values()].flatMap(commandsOf)
  expect(all.length).toBeGreaterThan(150)
  expect(all.map(({ text }) => text)).toContain('dirsyncd explain corp ana@example.org')
})

test.each<[string, boolean]>([
  ['dirsyncd sync corp --user e-1', true],
  ['dirsyncd sync corp --usr e-1', false],
  ['dirsyncd snyc corp', false],
  ['access-service token create --contact 1 --scope ORG --file /run/token', true],
  ['access-service token make', false],
])('%s: would run is %s', async (line, isRight) => {
  const [command] = commandsIn(line, false)
  expect((await whyWrong(command!)) === undefined).toBe(isRight)
})
