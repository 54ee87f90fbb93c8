import { randomInt } from 'node:crypto'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import type { PasswordStrength } from '../api/contract/subscription.ts'

/** For each score of the estimator, from 0 to 4. */
const GRADES = ['very weak', 'weak', 'fair', 'good', 'strong'] as const

/** The estimator's work grows with the square of the length, so it ignores all further characters. */
const MAX_ESTIMATED_LENGTH = 64

/**
 * `score` is 0 to 4, `grade` its word, and `crack_time` the seconds to guess the password from a stolen slow hash.
 * `known` is what an attacker tries first, such as the login and the subscription's name.
 */
export type Estimator = (password: string, known?: readonly string[]) => PasswordStrength

/** Loading the dictionaries takes some 30 ms and 20 MB. */
export function createEstimator(): Estimator {
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: MAX_ESTIMATED_LENGTH })
  return (password, known = []) => {
    const { score, crackTimes } = zxcvbn.check(password, known.flatMap(guesses))
    const { seconds } = crackTimes.offlineSlowHashingXPerSecond
    return { score, grade: gradeOf(score), crack_time: Math.round(seconds) }
  }
}

export function gradeOf(score: number): string {
  return GRADES[Math.min(Math.max(Math.round(score), 0), 4)]!
}

/** A text and its words: of `ada@example.org` also `ada`, `example` and `org`. */
function guesses(text: string): string[] {
  return [text, ...text.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= 3)]
}

/** Without characters that look alike, and those with a meaning in shells, URLs and forms. */
const CLASSES = ['ABCDEFGHJKLMNPQRSTUVWXYZ', 'abcdefghijkmnpqrstuvwxyz', '23456789', '-_.:,@'] as const
const ALL = CLASSES.join('')
const LENGTH = 20

/**
 * 20 characters, some 118 bits, with at least one of each class. It begins with a letter or a digit, so that no command
 * takes it for an option and no spreadsheet for a formula.
 */
export function generatePassword(): string {
  for (;;) {
    const characters = Array.from({ length: LENGTH }, () => ALL[randomInt(ALL.length)]!)
    const complete = CLASSES.every((group) => characters.some((one) => group.includes(one)))
    if (complete && /[A-Za-z0-9]/.test(characters[0]!)) return characters.join('')
  }
}
