import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { passwordStrength } from '../../../src/api/contract/subscription.ts'
import { createEstimator, generatePassword, gradeOf } from '../../../src/service/password.ts'

const estimate = createEstimator()

describe('the estimator', () => {
  test.each([
    ['nothing', '', 'very weak'],
    ['the most common password', 'password1', 'very weak'],
    ['one character many times', '4'.repeat(1000), 'very weak'],
    ['a date', '31.01.1980', 'weak'],
    ['a short random text', 'xk7Qp2', 'weak'],
    ['four words', 'correct horse battery staple', 'strong'],
    ['a long random text', 'kT4_wq9:ZrN2@fBx8,Lm', 'strong'],
  ])('says of %s that it is %3$s', (_, password, grade) => {
    expect(estimate(password).grade).toBe(grade)
  })

  test('knows what an attacker knows: the login, its parts, and the name', () => {
    const known = ['xandria.quell@northgate.example', 'Zephyrine Ledger']
    expect(estimate('xandria.quell@northgate.example').score).toBe(4)
    const passwords = ['xandria.quell@northgate.example', 'Northgate1', 'zephyrine', 'quell']
    expect(passwords.filter((password) => estimate(password, known).score > 1)).toEqual([])
  })

  test('gives what the contract says for any password and any known texts, and in bounded time', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5000 }),
      fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'),
    )
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 3 }), (password, known) => {
        const strength = passwordStrength.parse(estimate(password, known))
        expect(strength.score).toBeOneOf([0, 1, 2, 3, 4])
        expect(Number.isFinite(strength.crack_time)).toBe(true)
        expect(strength.grade).toBe(gradeOf(strength.score))
      }),
      { numRuns: 50 },
    )
  })

  test('the grade of an average is that of the nearest score', () => {
    expect([-1, 0, 0.4, 0.5, 2.2, 3.5, 4, 9].map(gradeOf)).toEqual([
      'very weak',
      'very weak',
      'very weak',
      'weak',
      'fair',
      'strong',
      'strong',
      'strong',
    ])
  })
})

describe('a generated password', () => {
  const passwords = Array.from({ length: 2000 }, () => generatePassword())

  test('has 20 characters of each class, none that looks like another, and begins with a letter or a digit', () => {
    for (const password of passwords) {
      expect(password).toMatch(/^[A-Za-z2-9][A-Za-z2-9_.:,@-]{19}$/)
      expect(password).not.toMatch(/[IOlo01]/)
      for (const group of [/[A-Z]/, /[a-z]/, /[2-9]/, /[-_.:,@]/]) expect(password).toMatch(group)
    }
  })

  test('is never the same twice, and uses every character about as often as the others', () => {
    expect(new Set(passwords).size).toBe(passwords.length)
    const counts = new Map<string, number>()
    for (const character of passwords.join('')) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(24 + 24 + 8 + 6)
    // 645 on average; the small classes are a little more frequent, because one of each is required.
    expect([...counts].filter(([, count]) => count < 450 || count > 950)).toEqual([])
  })

  test('is strong, also to those who know the login', () => {
    for (const password of passwords.slice(0, 50)) {
      expect(estimate(password, ['ada@example.org', 'Atlas'])).toMatchObject({ score: 4, grade: 'strong' })
    }
  })
})
