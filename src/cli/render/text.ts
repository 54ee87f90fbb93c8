const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  let width = 0
  for (const character of text) {
    if (ZERO_WIDTH.test(character)) continue
    width += WIDE.test(character) ? 2 : 1
  }
  return width
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min` */
export function timeTaken(milliseconds: number): string {
  // The clock was set back meanwhile.
  if (milliseconds < 0) return '?'
  const seconds = milliseconds / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
