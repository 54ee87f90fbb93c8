/** `undefined` when no known word is near. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const farthest = Math.max(2, Math.floor(written.length / 2))
  let best: { readonly word: string; readonly distance: number } | undefined
  for (const word of known) {
    const distance = editDistance(written.toLowerCase(), word.toLowerCase())
    if (distance <= farthest && (best === undefined || distance < best.distance)) best = { word, distance }
  }
  return best?.word
}

/** Insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let least = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, (beforePrevious[column - 2] ?? 0) + 1)
      }
      current.push(least)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? 0
}
