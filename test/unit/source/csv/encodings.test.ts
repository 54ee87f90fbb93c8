import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decode } from '../../../../src/source/csv/decode.ts'
import { namesOf, read, refusal, usersOf, write } from '../../../support/csv-source.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'

let dir: TempDir

beforeEach(async () => {
  dir = await tempDir()
})

afterEach(() => dir[Symbol.asyncDispose]())

const TEXT = 'id,mail,name\n1,a@x,Zoë Müßig-Šarić\n2,b@x,"Łukasz 👩‍🚀, Dr."\n'
const NAMES = ['Zoë Müßig-Šarić', 'Łukasz 👩‍🚀, Dr.']
const WESTERN = 'id,mail,name\n1,a@x,Zoë Müßig\n'

function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

/** Windows-1252 of a text with no more than Latin-1 and the euro sign. */
function windows1252(text: string): Buffer {
  return Buffer.from(text.replaceAll('€', '\x80').replaceAll('Š', '\x8a'), 'latin1')
}

/** A user whose name has these bytes. */
function oneByte(name: string): Buffer {
  return Buffer.from(`id,mail,name\n1,a@x,${name}\n`, 'latin1')
}

const CROATIAN = oneByte('Ana \xc8a\xe8i\xe6')

async function readAs(encoding: string, content: Buffer | string) {
  await write(dir.path, { 'users.csv': content })
  return read(usersOf(dir.path, { encoding }))
}

test.each<[string, Buffer, readonly string[], readonly string[]]>([
  ['UTF-8', Buffer.from(TEXT), ['utf8', 'auto'], NAMES],
  ['UTF-8 with BOM', Buffer.from(`\ufeff${TEXT}`), ['utf8', 'auto'], NAMES],
  ['UTF-16 LE', Buffer.from(TEXT, 'utf16le'), ['utf16le', 'auto'], NAMES],
  ['UTF-16 BE', utf16be(TEXT), ['utf16be', 'utf-16be', 'auto'], NAMES],
  ['Latin-1', Buffer.from(WESTERN, 'latin1'), ['latin1', 'ISO-8859-1', 'windows-1252'], ['Zoë Müßig']],
  [
    'Windows-1252',
    windows1252('id,mail,name\n1,a@x,Šime € Müller\n'),
    ['windows-1252', 'latin1'],
    ['Šime € Müller'],
  ],
  ['Windows-1250', CROATIAN, ['windows-1250', 'cp1250', 'iso-8859-2'], ['Ana Čačić']],
  ['Shift JIS', oneByte('\x93\xfa\x96\x7b'), ['shift_jis', 'sjis'], ['日本']],
  [
    'ASCII',
    Buffer.from('id,mail,name\n1,a@x,Bo\n'),
    ['utf8', 'UTF-8', 'latin1', 'windows-1252', 'auto'],
    ['Bo'],
  ],
])('%s is read, set or found', async (_, content, encodings, names) => {
  for (const encoding of encodings) {
    const snapshot = await readAs(encoding, content)
    expect([encoding, namesOf(snapshot)]).toEqual([encoding, names])
    expect(snapshot.notices).toEqual([])
  }
})

/** The text of a file in chunks of these lengths. */
async function decoded(encoding: string, bytes: Buffer, lengths: readonly number[]): Promise<string> {
  async function* chunks() {
    let start = 0
    for (const length of lengths) yield bytes.subarray(start, (start += length))
    yield bytes.subarray(start)
  }
  const file = { name: 'users.csv', encoding, chunks }
  return (await Array.fromAsync(decode(file, chunks(), () => undefined))).join('')
}

test('any text comes back the same, with a byte order mark or without, in whichever chunks', async () => {
  const text = fc.string({ unit: 'binary' }).filter((each) => !each.startsWith('\ufeff'))
  const lengths = fc.array(fc.nat({ max: 5 }), { maxLength: 40 })
  const encoding = fc.constantFrom('utf-8', 'utf-16le', 'utf-16be')
  await fc.assert(
    fc.asyncProperty(text, lengths, encoding, fc.boolean(), async (written, cuts, as, isMarked) => {
      const whole = `${isMarked ? '\ufeff' : ''}${written}`
      const little = Buffer.from(whole, as === 'utf-8' ? 'utf8' : 'utf16le')
      const bytes = as === 'utf-16be' ? little.swap16() : little
      expect(await decoded(as, bytes, cuts)).toBe(written)
    }),
  )
})

test('a cut within the last character is refused, in whichever chunks', async () => {
  const letter = fc.constantFrom('ß', '€', '👩')
  await fc.assert(
    fc.asyncProperty(letter, fc.nat({ max: 6 }), async (last, first) => {
      const bytes = Buffer.from(`1,a@x,${last}`)
      await expect(decoded('utf-8', bytes.subarray(0, -1), [first])).rejects.toThrow(
        'users.csv, line 1, character 7: the file ends within a character of utf-8',
      )
    }),
  )
})

test.each<[string, string, Buffer, string]>([
  [
    'Latin-1 read as UTF-8',
    'utf8',
    Buffer.from(WESTERN, 'latin1'),
    'users.csv, line 2, character 9: this is not utf-8; export the file as UTF-8, or set the encoding in which this ' +
      'line is right: windows-1252 or windows-1250 or iso-8859-2 "1,a@x,Zoë Müßig", windows-1251 "1,a@x,Zoл MьЯig"',
  ],
  [
    'Windows-1250, which nobody can tell from Windows-1252,',
    'auto',
    CROATIAN,
    'users.csv, line 2, character 11: this is not utf-8; export the file as UTF-8, or set the encoding in which this ' +
      'line is right: windows-1252 "1,a@x,Ana Èaèiæ", windows-1250 or iso-8859-2 "1,a@x,Ana Čačić", windows-1251 ' +
      '"1,a@x,Ana Иaиiж"',
  ],
  [
    'UTF-8 with damage far behind its beginning',
    'utf8',
    Buffer.concat([
      Buffer.from(`id,mail,name\n${'1,a@x,Zoë\n'.repeat(20_000)}`),
      Buffer.from([0xe2, 0x82, 0x0a]),
    ]),
    'users.csv, line 20002, character 1: this is not utf-8',
  ],
  [
    'one damaged letter of UTF-8, which is no reason to take all the others for Windows-1252',
    'auto',
    Buffer.concat([Buffer.from(TEXT), Buffer.from('3,c@x,Zo\xeb\n', 'latin1')]),
    'users.csv, line 4, character 9: this is not utf-8',
  ],
  [
    'UTF-16 read as UTF-8',
    'utf8',
    Buffer.from(TEXT, 'utf16le'),
    'it looks like utf-16le; set encoding: utf-16le, or auto',
  ],
  ['UTF-8 read as UTF-16', 'utf16le', Buffer.from(TEXT), 'this is not utf-16le, it has no zero bytes'],
  [
    'UTF-8 throughout, read as Windows-1250',
    'windows-1250',
    Buffer.from(TEXT),
    'users.csv is UTF-8 from beginning to end, not windows-1250; set encoding: utf-8, or auto',
  ],
  [
    'UTF-16 cut within a character',
    'utf16le',
    Buffer.from(TEXT, 'utf16le').subarray(0, -1),
    'within a character',
  ],
  [
    'half of a pair in UTF-16',
    'utf16le',
    Buffer.from('id,mail,name\n1,a@x,A\ud83dB\n', 'utf16le'),
    'users.csv, line 2, character 8: this is not utf-16le',
  ],
])('%s is incomplete', async (_, encoding, content, message) => {
  const { code, message: said } = await refusal(readAs(encoding, content))
  expect(code).toBe('source-incomplete')
  expect(said).toContain(message)
})

test.each<[string, string, Buffer, string]>([
  [
    'UTF-8 read as Windows-1252',
    'windows-1252',
    Buffer.from(WESTERN),
    '"Ã«" looks like one letter of UTF-8 that was decoded as two characters; it was read as windows-1252: is that its ' +
      'encoding?',
  ],
  ['UTF-8 read as Latin-1', 'latin1', Buffer.from('id,mail,name\n1,a@x,Čedomir Ćuk\n'), '"ÄŒ" looks like'],
  [
    'UTF-8 that an exporter made of UTF-8',
    'utf8',
    Buffer.from('id,mail,name\n1,a@x,JÃ¼rgen\n'),
    '"Ã¼" looks like',
  ],
  ['letters that got lost', 'utf8', Buffer.from('id,mail,name\n1,a@x,J\ufffdrgen\n'), 'a character was lost'],
])('%s is read, and a notice doubts it', async (_, encoding, content, fault) => {
  const { notices, users, unreadable } = await readAs(encoding, content)
  const doubt = notices.find(({ code }) => code === 'doubtful-text')
  expect(doubt?.params).toEqual({
    from: expect.stringMatching(/^users\.csv, line 2, character \d+$/),
    fault: expect.stringContaining(fault),
  })
  expect([users.size, unreadable]).toEqual([1, 0])
})

test('a few letters that could also be UTF-8 are no reason to refuse another encoding', async () => {
  const { users } = await readAs('windows-1252', oneByte('\xc3\xbc'))
  expect(users.get('1')?.name).toBe('Ã¼')
})

test('each sort of damage of a file is told once', async () => {
  // More than one chunk of 64 KB, so that each of them is looked at.
  const rows = Array.from({ length: 10_000 }, (_, n) => `${n},p${n}@x,JÃ¼rgen\n`)
  const { notices } = await readAs('utf8', `id,mail,name\n${rows.join('')}`)
  expect(notices).toHaveLength(1)
})

test('letters of Europe are no damage', async () => {
  const names =
    'ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŠšŽžĆćČčĐđ São João ÃO VĂŞCAN DĹŽKA Âşık Вікторія'
  expect((await readAs('utf8', `id,mail,name\n1,a@x,${names}\n`)).notices).toEqual([])
})
