import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Encoding } from '../../../../src/source/csv/options.ts'
import { namesOf, read, refusal, usersOf, write } from '../../../support/csv-company.ts'
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

async function readAs(encoding: Encoding, content: Buffer | string) {
  await write(dir.path, { 'users.csv': content })
  return read(usersOf(dir.path, { encoding }))
}

test.each<[string, Buffer, readonly Encoding[], readonly string[]]>([
  ['UTF-8', Buffer.from(TEXT), ['utf8', 'auto'], NAMES],
  ['UTF-8 with BOM', Buffer.from(`\ufeff${TEXT}`), ['utf8', 'auto'], NAMES],
  ['UTF-16 LE', Buffer.from(TEXT, 'utf16le'), ['utf16le', 'auto'], NAMES],
  ['UTF-16 LE with BOM', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), ['utf16le', 'auto'], NAMES],
  ['UTF-16 BE', utf16be(TEXT), ['utf16be', 'auto'], NAMES],
  ['UTF-16 BE with BOM', utf16be(`\ufeff${TEXT}`), ['utf16be', 'auto'], NAMES],
  ['Latin-1', Buffer.from(WESTERN, 'latin1'), ['latin1', 'windows-1252', 'auto'], ['Zoë Müßig']],
  [
    'Windows-1252',
    windows1252('id,mail,name\n1,a@x,Šime € Müller\n'),
    ['windows-1252', 'auto'],
    ['Šime € Müller'],
  ],
  ['ASCII', Buffer.from('id,mail,name\n1,a@x,Bo\n'), ['utf8', 'latin1', 'windows-1252', 'auto'], ['Bo']],
])('%s is read, set or found', async (_, content, encodings, names) => {
  for (const encoding of encodings) {
    const snapshot = await readAs(encoding, content)
    expect([encoding, namesOf(snapshot)]).toEqual([encoding, names])
    expect(snapshot.notices).toEqual([])
  }
})

test('characters that lie across the chunks of a file are whole', async () => {
  const rows = Array.from({ length: 12_000 }, (_, n) => `${n},p${n}@x,${'x'.repeat(n % 7)}ß👩‍🚀\n`)
  const text = `id,mail,name\n${rows.join('')}`
  for (const [encoding, content] of [
    ['utf8', Buffer.from(text)],
    ['utf16le', Buffer.from(text, 'utf16le')],
    ['utf16be', utf16be(text)],
  ] as const) {
    for (const as of [encoding, 'auto'] as const) {
      const names = namesOf(await readAs(as, content))
      expect(new Set(names).size).toBe(7)
      expect(names.every((name) => name?.endsWith('ß👩‍🚀'))).toBe(true)
    }
  }
})

test.each<[string, Encoding, Buffer, string]>([
  [
    'Latin-1 read as UTF-8',
    'utf8',
    Buffer.from(WESTERN, 'latin1'),
    'users.csv, line 2, character 9: this is not UTF-8 (byte 0xEB); export the file as UTF-8, or set its encoding',
  ],
  [
    'one damaged letter of UTF-8, which is no reason to take all the others for Windows-1252',
    'auto',
    Buffer.concat([Buffer.from(TEXT), Buffer.from('3,c@x,Zo\xeb\n', 'latin1')]),
    'users.csv, line 4, character 9: this is not UTF-8 (byte 0xEB)',
  ],
  [
    'UTF-16 read as UTF-8',
    'utf8',
    Buffer.from(TEXT, 'utf16le'),
    'it looks like UTF-16 LE; set encoding: utf16le, or auto',
  ],
  ['UTF-16 read as Latin-1', 'latin1', utf16be(TEXT), 'it looks like UTF-16 BE'],
  [
    'UTF-16 read in the wrong order',
    'utf16be',
    Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
    'it looks like UTF-16 LE',
  ],
  ['UTF-8 read as UTF-16', 'utf16le', Buffer.from(TEXT), 'this is not UTF-16 LE, it has no zero bytes'],
  [
    'UTF-8 with BOM read as Windows-1252',
    'windows-1252',
    Buffer.from(`\ufeff${TEXT}`),
    'it looks like UTF-8',
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
    'users.csv, line 2, character 8: this is not UTF-16 LE (half of a pair)',
  ],
])('%s is incomplete', async (_, encoding, content, message) => {
  const { code, message: said } = await refusal(readAs(encoding, content))
  expect(code).toBe('source-incomplete')
  expect(said).toContain(message)
})

test.each<[string, Encoding, Buffer, string]>([
  [
    'UTF-8 read as Windows-1252',
    'windows-1252',
    Buffer.from(WESTERN),
    'users.csv, line 2, character 9: "Ã«" looks like one letter of UTF-8 that was read as two of something else; it was ' +
      'read as Windows-1252: is that its encoding?',
  ],
  [
    'UTF-8 read as Latin-1',
    'latin1',
    Buffer.from('id,mail,name\n1,a@x,Čedomir Ćuk\n'),
    'the control character U+00',
  ],
  [
    'Windows-1252 read as Latin-1',
    'latin1',
    windows1252('id,mail,name\n1,a@x,Šime\n'),
    'the control character U+008A',
  ],
  [
    'UTF-8 that an exporter made of UTF-8',
    'utf8',
    Buffer.from('id,mail,name\n1,a@x,JÃ¼rgen\n'),
    '"Ã¼" looks like',
  ],
  [
    'letters that got lost',
    'utf8',
    Buffer.from('id,mail,name\n1,a@x,J\ufffdrgen\n'),
    'a character that got lost',
  ],
])('%s is read, and a notice doubts it', async (_, encoding, content, detail) => {
  const { notices, users, unreadable } = await readAs(encoding, content)
  const doubts = notices.filter(({ code }) => code === 'doubtful-text')
  expect(doubts.map((doubt) => doubt.detail).join()).toContain(detail)
  expect([users.size, unreadable]).toEqual([1, 0])
})

test('each sort of damage of a file is told once', async () => {
  // More than one chunk of 64 KB, so that each of them is looked at.
  const rows = Array.from({ length: 10_000 }, (_, n) => `${n},p${n}@x,JÃ¼rgen\n`)
  const { notices } = await readAs('utf8', `id,mail,name\n${rows.join('')}`)
  expect(notices).toHaveLength(1)
})

test('letters of Western Europe are no damage', async () => {
  const names = 'ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŠšŽžĆćČčĐđ São João ÃO'
  expect((await readAs('utf8', `id,mail,name\n1,a@x,${names}\n`)).notices).toEqual([])
})
