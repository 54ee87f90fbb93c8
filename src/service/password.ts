import { randomInt } from 'node:crypto'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import type { PasswordStrength } from '../contract/subscription.ts'

/** The grade for each score of the estimator, from 0 to 4. */
const GRADES = ['very weak', 'weak', 'fair', 'good', 'strong'] as const

/** The estimator's work grows with the square of the length; more characters make no password weaker. */
const ESTIMATED_LENGTH = 64

/**
 * How strong a password is: `score` from 0 to 4, its `grade` in words, and `crack_time`, the seconds that guessing it
 * from a stolen slow hash takes.
 */
export type Estimator = (password: string) => PasswordStrength

/** Loads the dictionaries, which takes some 30 ms and 20 MB. */
export function createEstimator(): Estimator {
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
  return (password) => {
    const { score, crackTimes } = zxcvbn.check(password.slice(0, ESTIMATED_LENGTH))
    const { seconds } = crackTimes.offlineSlowHashingXPerSecond
    return { score, grade: gradeOf(score), crack_time: Math.round(seconds) }
  }
}

/** The grade of a score or of an average of scores. */
export function gradeOf(score: number): string {
  return GRADES[Math.min(Math.max(Math.round(score), 0), 4)]!
}

/** Without characters that look alike, and without those that shells and forms stumble over. */
const CLASSES = ['ABCDEFGHJKLMNPQRSTUVWXYZ', 'abcdefghijkmnpqrstuvwxyz', '23456789', '!#%*+-=?@_'] as const
const LENGTH = 20

/** A random password of 20 characters with at least one of each class; some 120 bits. */
export function generatePassword(): string {
  const all = CLASSES.join('')
  for (;;) {
    const password = Array.from({ length: LENGTH }, () => all[randomInt(all.length)]!).join('')
    const characters = password.split('')
    if (CLASSES.every((group) => characters.some((one) => group.includes(one)))) return password
  }
}
