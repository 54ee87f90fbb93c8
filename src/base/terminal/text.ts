const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u

export function textWidth(text: string): number {
  let width = 0
  for (const character of text) {
    if (ZERO_WIDTH.test(character)) continue
    width += WIDE.test(character) ? 2 : 1
  }
  return width
}
