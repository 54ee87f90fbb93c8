import { expect, test } from 'vitest'
import { withoutDates } from '../../../../../src/source/ldap/discover/dated.ts'

const found = (...texts: readonly string[]) =>
  withoutDates(texts.map((text, at) => ({ text, entries: at + 1 }))).map(
    ({ text, entries, example }) => `${text}${example === undefined ? '' : `…, ${example}`} ${entries}`,
  )

test('values that differ in a date count as one, by what is before it', () => {
  const texts = ['ausgetreten', 'Ausgetreten 12/2019', 'ausgetreten zum 31.03.2021', 'Lager']
  expect(found(...texts)).toEqual(['ausgetreten 1', 'Lager 4', 'Ausgetreten…, Ausgetreten 12/2019 5'])
  expect(found('left: 2021-03-31', 'left (2020)', 'gone 2019')).toEqual([
    'left…, left: 2021-03-31 3',
    'gone…, gone 2019 3',
  ])
})

test('what has no year, or one before it, stays as it is', () => {
  const texts = [
    'Tarif 1',
    'Tarif 2',
    '2019 left',
    'left 12/2019',
    'leftover',
    'left: sabbatical',
    'left 1.2.21',
  ]
  expect(found(...texts)).toEqual([
    'Tarif 1 1',
    'Tarif 2 2',
    '2019 left 3',
    'leftover 5',
    'left: sabbatical 6',
    'left 1.2.21 7',
    'left…, left 12/2019 4',
  ])
})

test('all that the filter finds is counted', () => {
  expect(found('left 12/2019', 'Leftover of 2003')).toEqual(['left…, left 12/2019 3'])
})
