export const PART = 1000

export interface After {
  /** The number of the last row before. */
  readonly after?: number
}

export async function* parts<T extends { readonly number: number }>(
  read: (place: After) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[], void> {
  for (let rows = await read({}); rows.length > 0; rows = await read({ after: rows.at(-1)!.number })) {
    yield rows
    if (rows.length < PART) return undefined
  }
}
