import { expect, test } from 'vitest'
import { endpoints } from '../../../../src/api/contract/endpoints.ts'
import { checkForm } from '../../../../src/service/http/check-form.ts'

/** How many parts the check of a group with these members has, and what came of it. */
function checkMembers(members: readonly unknown[]): { parts: number; checked: unknown } {
  const steps = checkForm(endpoints.updateGroup.form, { name: 'G', external_member_ids: members })
  for (let parts = 1; ; parts += 1) {
    try {
      const step = steps.next()
      if (step.done === true) return { parts, checked: step.value }
    } catch (error) {
      return { parts, checked: error }
    }
  }
}

test('a long list is checked in parts, and is whole afterwards', () => {
  const members = Array.from({ length: 10_500 }, (_, index) => `m${index}`)
  expect(checkMembers(members)).toEqual({ parts: 11, checked: { name: 'G', external_member_ids: members } })
})

test('a list with more faults than an answer shows is not looked at to its end', () => {
  const { parts, checked } = checkMembers(Array(100_000).fill(1))
  expect(checked).toMatchObject({ name: 'Problem', code: 'malformed' })
  expect(parts).toBe(1)
})
