/** A number as people read it: 12,345. */
export function digits(number: number): string {
  return number.toLocaleString('en-US')
}

/** A number and its noun: `1 user`, `12,345 users`. */
export function amount(number: number, noun: string): string {
  return `${digits(number)} ${noun}${number === 1 ? '' : 's'}`
}
