import { styleText } from 'node:util'

/** Colours a text, or leaves it as it is. */
export type Paint = (style: 'bold' | 'dim' | 'green' | 'yellow', text: string) => string

/** For the standard output: colours on a terminal only, and none where `NO_COLOR` is set. */
export const colours: Paint = (style, text) => styleText(style, text, { stream: process.stdout })

/** Prints lines that others have a word in: what they say is shown, never acted on by the terminal. */
export function say(lines: readonly string[]): void {
  print(lines.map(printable))
}

/** A text as one line, without the characters that a terminal would act on. */
export function printable(text: string): string {
  return text.replace(NOT_PRINTABLE, ' ')
}

/** Prints lines as they are. The process ends once they are written, see `exit` in commands.ts. */
export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

// Control characters, ends of lines, and what turns the direction of writing around.
const NOT_PRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu
