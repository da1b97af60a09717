import { styleText } from 'node:util'

/** Colours a text, or leaves it as it is. */
export type Paint = (style: 'bold' | 'dim' | 'green' | 'yellow', text: string) => string

/** For the standard output: colours on a terminal only, and none where `NO_COLOR` is set. */
export const colours: Paint = (style, text) => styleText(style, text, { stream: process.stdout })

/** Prints lines. The process ends once they are written, see `exit` in commands.ts. */
export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}
