import { expect, test } from 'vitest'
import { withoutDates } from '../../../../../src/source/ldap/discover/dated.ts'

const found = (...texts: readonly string[]) =>
  withoutDates(texts.map((text, at) => ({ text, entries: at + 1 }))).map(
    ({ text, entries, isBeginning }) => `${text}${isBeginning === true ? '…' : ''} ${entries}`,
  )

test('values that differ in a date count as one, by what is before it', () => {
  expect(found('ausgetreten', 'Ausgetreten 12/2019', 'ausgetreten zum 31.03.2021', 'Lager')).toEqual([
    'Lager 4',
    'Ausgetreten… 6',
  ])
  expect(found('left: 2021-03-31', 'gone (1.2.19)')).toEqual(['left… 1', 'gone… 2'])
})

test('what is no date, stands behind one or is a longer word stays as it is', () => {
  const texts = [
    'Tarif 1',
    'Tarif 2',
    '2019 left',
    'left 12/2019',
    'leftover',
    'Elternzeit - nicht left',
    'AB 2019',
  ]
  expect(found(...texts)).toEqual([
    'Tarif 1 1',
    'Tarif 2 2',
    '2019 left 3',
    'leftover 5',
    'Elternzeit - nicht left 6',
    'AB 2019 7',
    'left… 4',
  ])
})
